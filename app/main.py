"""What ``panel serve app`` runs for each visitor."""

import panel as pn

from app import theme
from app.dashboard import dashboard
from app.visitors import let_in

# Bokeh's own way to reconnect fetches the document again and drops its arrays, and after a while the server has
# forgotten it: app/views/keeper.js comes back by a reload instead.
# Panel reads ?theme=dark as well, and would lay a theme of its own over the page's.
pn.extension(raw_css=[theme.PAGE], reconnect=False, respect_explicit_sizing=True, theme="default")
if let_in(pn.state.curdoc, pn.state):
    # Panel's own keeper of the address would bring back that of the start whenever what follows # changes.
    dashboard().servable(title="gradcloud", location=False)
