"""What ``panel serve app`` runs for each visitor."""

import panel as pn

from app import theme
from app.dashboard import dashboard

pn.extension(raw_css=[theme.PAGE], reconnect=True, respect_explicit_sizing=True)
dashboard().servable(title="gradcloud")
