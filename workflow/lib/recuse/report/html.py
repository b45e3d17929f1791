"""Parts of a page as HTML: Jinja templates, figures from SVG files, and their captions from
workflow/report.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

from recuse.base.templates import environment
from recuse.base.words import FROM_RIGHT_TO_LEFT, RIGHT_TO_LEFT, visible

# Parts of a page that keep their texts as they are, tags, and what is written from right to left.
ISOLATED = re.compile(
    rf"(?s)<(svg|title|style|script)\b.*?</\1>|<[^>]*>|(?P<words>{FROM_RIGHT_TO_LEFT})"
)


def rendered(template: str | Path, **values) -> str:
    """Render a Jinja template, which may extend or include others in its folder; `values` are
    escaped.

    What is written from right to left is isolated (`<bdi>`), so that a name leaves the numbers
    beside it in their order, and invisible characters are shown. The filter `digest` is for a
    policy that allows one style and one script; `is_numeric` is true of texts that begin like
    a number.
    """
    path = Path(template)
    templates = environment(path.parent, digest, is_numeric, autoescape=True)
    page = visible(templates.get_template(path.name).render(**values), but="\n")
    return ISOLATED.sub(_isolated, page) if re.search(RIGHT_TO_LEFT, page) else page


def is_numeric(text: str) -> bool:
    """Whether a text begins with a number, a sign or a dash, or is empty.

    >>> [is_numeric(text) for text in ("−0.12 to 0.3", ".5", "", "GPT-4")]
    [True, True, True, False]
    """
    return text[:1] in "0123456789.+−▲▼–"


def _isolated(match: re.Match) -> str:
    return f"<bdi>{match[0]}</bdi>" if match["words"] else match[0]


def digest(text: str) -> str:
    """The source of a Content-Security-Policy that allows `text` as a style or script within the
    page.
    """
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


REFERENCE = re.compile(r"#([^);\s]+)")
DECIMAL = re.compile(r"-?\d+\.\d+")
# Attributes that may be rounded
NUMERIC = ("d", "height", "points", "transform", "width", "x", "y")
# Matplotlib's style would apply to the whole page, whose own style names the font once.
DROPPED = ("metadata", "style")
TEXT = re.compile(r"<text ([^>]*)>(.*?)</text>")
TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)
WIDTH = re.compile(r'viewBox="\S+ \S+ (\S+)')
# Files of matplotlib, by font-weight and font-style.
FONTS = {
    ("400", "normal"): "DejaVuSans",
    ("700", "normal"): "DejaVuSans-Bold",
    ("400", "italic"): "DejaVuSans-Oblique",
    ("700", "italic"): "DejaVuSans-BoldOblique",
}


def inlined(svg: str, name: str) -> str:
    """Return the figure in the text `svg` as an element of an HTML page on which `name` is unique.

    An id that the figure refers to is prefixed by `name`, since figures share ids; others are
    removed. Styles become attributes, which the policy of the page
    need not allow; lengths are rounded to 0.01 points. Screen readers see an image with the
    figure's title, described by the element `name`-caption.
    """
    root = ElementTree.fromstring(svg.encode())
    values = " ".join(value for each in root.iter() for value in each.attrib.values())
    _simplify(root, f"{name}-", {*REFERENCE.findall(values)})
    root.find("title").set("id", f"{name}-title")
    root.attrib = {"viewBox": root.get("viewBox"), "class": "picture", "role": "img"}
    root.attrib |= {"aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-caption"}
    return ElementTree.tostring(root, encoding="unicode")


def _simplify(element: ElementTree.Element, prefix: str, kept: Collection[str]) -> None:
    """Replace ids, styles and names of `element` and all within it; `kept`: the ids that are
    referred to.
    """
    element.tag = _local(element.tag)
    attributes = element.attrib | _properties(element.attrib.pop("style", ""))
    element.attrib = {}
    for key, value in attributes.items():
        if key == "id":
            value = prefix + value if value in kept else ""
        elif key.endswith("href") or value.startswith("url(#"):
            value = value.replace("#", f"#{prefix}")
        elif key in NUMERIC and "scale" not in value:
            value = _rounded(value)
        if value and key != "font-family" and not value.startswith("rotate(0 "):
            element.set(_local(key), value)
    if element.tag not in ("text", "tspan", "title"):
        element.text = None
    children = [child for child in element if _local(child.tag) not in DROPPED]
    for child in children:
        _simplify(child, prefix, kept)
        child.tail = child.tail if child.tag == "tspan" else None
    element[:] = children


@cache
def _local(name: str) -> str:
    """A tag or attribute without its namespace."""
    return name.rpartition("}")[2]


@cache
def _properties(style: str) -> dict[str, str]:
    pairs = (part.split(":", 1) for part in style.split(";") if part.strip())
    return {key.strip(): value.strip() for key, value in pairs}


def _rounded(value: str) -> str:
    """Lengths, rounded to 0.01 points."""
    short = DECIMAL.sub(lambda match: f"{round(float(match[0]), 2):g}", value)
    return " ".join(short.replace("-0 ", "0 ").split())


def font_rules(pictures: Iterable[str]) -> str:
    """Rules of CSS with the font `figures`: the letters of DejaVu Sans that the inlined pictures
    use, and no others.
    """
    letters = {}
    for attributes, text in (match for picture in pictures for match in TEXT.findall(picture)):
        face = (
            "700" if 'weight="700"' in attributes else "400",
            "italic" if 'style="italic"' in attributes else "normal",
        )
        letters.setdefault(face, set()).update(unescape(re.sub("<[^>]*>", "", text)))
    return "\n".join(_face(*face, "".join(letters[face])) for face in FONTS if face in letters)


def _face(weight: str, style: str, letters: str) -> str:
    from fontTools.subset import Options, Subsetter, load_font
    from matplotlib import get_data_path

    options = Options(hinting=False, layout_features=["kern"], name_IDs=[], recalc_timestamp=False)
    options.drop_tables += ["FFTM"]  # of the program that made the font
    with load_font(f"{get_data_path()}/fonts/ttf/{FONTS[weight, style]}.ttf", options) as font:
        subsetter = Subsetter(options)
        subsetter.populate(text=letters)
        subsetter.subset(font)
        font.flavor, file = "woff", BytesIO()
        font.save(file)
    data = b64encode(file.getvalue()).decode()
    source = f'url("data:font/woff;base64,{data}") format("woff")'
    return (
        f'@font-face {{ font-family: "figures"; font-weight: {weight}; font-style: {style}; src:'
        f" {source}; }}"
    )


def picture_facts(svg: str, study: str) -> dict[str, str]:
    """Title of a figure, without that of the study at its end, and its width in points."""
    title = unescape(TITLE.search(svg)[1]).removesuffix(f": {visible(study)}")
    return {"title": title, "width": WIDTH.search(svg)[1]}


# Markup of reStructuredText, and what it would take for an address; an underscore only at the end
# of a word.
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

    `context` is what the template reads as `snakemake`: the params and wildcards of the figure's
    rule. Texts in it are escaped and stripped, since blanks around them would be markup; a
    text that is all blank becomes one blank.
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
