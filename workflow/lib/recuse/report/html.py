"""Parts of a page as HTML: Jinja templates, figures from SVG files, and their captions from workflow/report."""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

from recuse.base.words import number, visible

# A letter written from right to left, a word with one, and several of these; and what of a page is no such text.
RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
IN_WORD = r"[^\s<>&,;:(){}\[\]\"'“”‘’·]"
WORD = rf"(?<!{IN_WORD}){IN_WORD}*{RIGHT_TO_LEFT}(?:{IN_WORD}*\w)?"
ISOLATED = re.compile(rf"(?s)<(svg|title|style|script)\b.*?</\1>|<[^>]*>|(?P<words>{WORD}(?: {WORD})*)")


def rendered(template: str | Path, **values) -> str:
    """Render a Jinja template, which may extend or include others in its folder; `values` are escaped.

    What is written from right to left is isolated (`<bdi>`), so that a name leaves the numbers beside it in their order, and
    invisible characters are shown. The filter `digest` is for a policy that allows one style and one script.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(template).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": number, "digest": digest}
    page = visible(environment.get_template(Path(template).name).render(**values), but="\n")
    return ISOLATED.sub(_isolated, page) if re.search(RIGHT_TO_LEFT, page) else page


def _isolated(match: re.Match) -> str:
    return f"<bdi>{match[0]}</bdi>" if match["words"] else match[0]


def digest(text: str) -> str:
    """The source of a Content-Security-Policy that allows `text` as a style or script within the page."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


DROPPED = re.compile(r"(?s)<(metadata|style)\b.*?</\1>|<!--.*?-->")  # matplotlib's style would apply to the whole page
REFERENCE = re.compile(r'(url\(#|href="#)([^")]+)')
STYLE = re.compile(r' style="([^"]*)"')


def inlined(svg: str, name: str) -> str:
    """Return the figure in the text `svg` as an element of an HTML page on which `name` is unique.

    An id that the figure refers to is prefixed by `name`, since figures share ids; others are removed. Styles become
    attributes, which the policy of the page need not allow. Screen readers see an image with the figure's title, described by
    the element `name`-caption.
    """
    box = ElementTree.fromstring(svg.encode()).get("viewBox")
    opening = (
        f'<svg viewBox="{box}" class="picture" role="img" aria-labelledby="{name}-title" aria-describedby="{name}-caption">'
    )
    picture = DROPPED.sub("", svg[svg.index("<svg") :])
    referred = {target for _, target in REFERENCE.findall(picture)}
    picture = re.sub(r' id="([^"]*)"', lambda match: f' id="{name}-{match[1]}"' * (match[1] in referred), picture)
    picture = STYLE.sub(_attributes, REFERENCE.sub(rf"\g<1>{name}-\g<2>", picture))
    picture = picture.replace("<title>", f'<title id="{name}-title">', 1)
    return opening + picture[picture.index(">") + 1 :].strip()


def _attributes(style: re.Match) -> str:
    properties = dict(part.split(":", 1) for part in style[1].split(";") if part.strip())
    return "".join(f' {name.strip()}="{value.strip()}"' for name, value in properties.items())


def facts_of(svg: str, study: str) -> dict[str, str]:
    """Title of an SVG file, without that of the study at its end, its width in points, and its description, "" without one."""
    root = ElementTree.fromstring(svg.encode())
    return {
        "title": root.findtext("{*}title").removesuffix(f": {visible(study)}"),
        "width": root.get("viewBox").split()[2],
        "remark": root.findtext(".//{http://purl.org/dc/elements/1.1/}description", ""),
    }


# Markup of reStructuredText, and what it would take for an address; an underscore only at the end of a word.
MARKUP = re.compile(r"[\\*`|<>:@]|_(?!\w)")
SETTINGS = {
    "_disable_config": True,  # a user's docutils.conf would change the page
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "doctitle_xform": False,
}


def rendered_caption(template: str, context: Mapping) -> str:
    """Render a caption, a Jinja template of reStructuredText, to paragraphs of HTML.

    `context` is what the template reads as `snakemake`: the params, wildcards and config of the figure's rule. Texts in it are
    escaped and stripped, since blanks around them would be markup; a text that is all blank becomes one blank.
    """
    from docutils.core import publish_parts
    from jinja2 import Environment, StrictUndefined

    environment = Environment(finalize=_escaped, undefined=StrictUndefined)
    source = environment.from_string(template).render(snakemake=context)
    return publish_parts(source, writer="html5", settings_overrides=SETTINGS)["fragment"].strip()


def _escaped(value: object) -> object:
    if not isinstance(value, str):
        return value
    return MARKUP.sub(r"\\\g<0>", " ".join(value.split()) or " " * bool(value))
