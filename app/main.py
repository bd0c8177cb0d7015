"""What ``panel serve app`` runs for each visitor."""

import panel as pn

from app import theme
from app.dashboard import dashboard

# Panel reads ?theme=dark as well, and would lay a theme of its own over the page's.
pn.extension(raw_css=[theme.PAGE], reconnect=True, respect_explicit_sizing=True, theme="default")
dashboard().servable(title="gradcloud")
