"""The page's template: what a visitor sees of it before it has come to life, or where it cannot."""

from pathlib import Path

_SCRIPT = Path(__file__).with_name("views").joinpath("unopened.js").read_text("utf-8")
_LOOK = """
.unopened { position: fixed; inset: 0; z-index: 2000; padding: min(10vh, 80px) 20px 0; background: var(--paper); }
.unopened h1 { margin: 0 0 6px; font-size: var(--large); font-weight: 600; } .unopened p { margin: 0; max-width: 60ch; }
"""
#: The variable by which a page adds a style sheet to its markup.
STYLE = "page_style"

#: Without a viewport, a telephone lays the page out 980 pixels wide and shrinks it.
TEMPLATE = f"""
{{% block postamble %}}<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{_LOOK}{{{{ {STYLE} | default("", true) }}}}</style>
<script>{{% raw %}}{_SCRIPT}{{% endraw %}}</script>{{% endblock %}}
{{% block inner_body %}}<noscript><main class="unopened"><h1>This page runs no scripts</h1>
<p>The picture is drawn by them. In a frame, the page around it decides: sandbox="allow-scripts allow-same-origin" in
the iframe lets them run.</p></main></noscript>{{{{ super() }}}}{{% endblock %}}
"""
