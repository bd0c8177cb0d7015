"""What a browser has drawn of what was sent to it, so that nobody who plays gets ahead of it."""

import asyncio

import param


class Seen(param.Parameterized):
    """Asks a browser to answer once it has drawn what came before the question, and waits for that answer.

    A browser takes what is sent to it whenever it gets to it. A slow one that is sent batch after batch has ever more
    of them still to draw: what is pressed there takes effect only after all of these.
    """

    asked = param.Integer(default=0, doc="the number of the last question")

    def __init__(self) -> None:
        super().__init__()
        self._answered = asyncio.Event()
        self._watched = False

    def watch(self) -> None:
        """Have waits wait: there is somebody who answers, wherever the page is on show."""
        self._watched = True

    def ask(self) -> None:
        """Ask anew; what answers an earlier question answers nothing any more."""
        self._answered.clear()
        self.asked += 1

    def answer(self, number: int) -> None:
        """Take the answer to the question of a number, which may be an earlier one or none."""
        if number == self.asked:
            self._answered.set()

    async def wait(self) -> None:
        """Wait until the last question is answered; at once where nobody could answer it."""
        if self._watched:
            await self._answered.wait()
