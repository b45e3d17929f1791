"""The captions of the figures, which stand in workflow/report, as HTML."""

import re
from collections.abc import Mapping

# Of reStructuredText, addresses included; an underscore only where a word ends with it.
MARKUP = re.compile(r"[\\*`|<>:@]|_(?!\w)")
SETTINGS = {
    "_disable_config": True,  # a file of the user's would make another page
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "doctitle_xform": False,
}


def rendered_caption(template: str, told: Mapping) -> str:
    """Render a caption, a Jinja template of reStructuredText, to paragraphs of HTML.

    `told` is what the template reads as `snakemake`: the params, wildcards and config of the figure's rule. Names in it are
    texts, whatever markup they look like; blanks around them would be markup, too, and go, but for one that stands alone.
    """
    from docutils.core import publish_parts
    from jinja2 import Environment, StrictUndefined

    environment = Environment(finalize=_escaped, undefined=StrictUndefined)
    source = environment.from_string(template).render(snakemake=told)
    return publish_parts(source, writer="html5", settings_overrides=SETTINGS)["fragment"].strip()


def _escaped(value: object) -> object:
    if not isinstance(value, str):
        return value
    return MARKUP.sub(r"\\\g<0>", " ".join(value.split()) or " " * bool(value))
