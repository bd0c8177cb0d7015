"""The whole command line: what sim/ computes and what app/ shows; nothing that draws is loaded before its turn."""

from app import cli_export, cli_picture, cli_serve
from sim.cli import app, main

__all__ = ["app", "main"]

cli_serve.register(app)
cli_export.register(app)
cli_picture.register(app)

if __name__ == "__main__":
    main()
