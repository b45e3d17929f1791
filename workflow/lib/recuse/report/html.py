"""Pieces of a page as HTML: Jinja templates, figures drawn as SVG files, and their captions, which stand in workflow/report."""

import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from recuse.base.words import number


def rendered(template: str | Path, **values) -> str:
    """Render a Jinja template, which finds the frame that it extends in its own folder; `values` are escaped.

    The filter `number` writes a number with so many decimals.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(template).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    return environment.get_template(Path(template).name).render(**values)


TARGET = re.compile(r"url\(#([^)]+)\)")
DROPPED = {"metadata", "style"}  # of a file by itself; matplotlib's style speaks of every element of whatever page holds it


def inlined(svg: str, name: str) -> str:
    """Return the figure of the SVG file `svg` as an element of an HTML page on which `name` is its own.

    What another element of the figure refers to keeps its id, with `name` before it, as figures share theirs; other ids go. It
    is an image to a screen reader, called by its title and described by the element `name`-caption.
    """
    picture = ElementTree.fromstring(svg.encode())
    for element in picture.iter():
        element.tag = _local(element.tag)
        for child in [child for child in element if _local(child.tag) in DROPPED]:
            element.remove(child)
    kept = {f"{name}-{target}" for element in picture.iter() for target in _targets(element)}
    for element in picture.iter():
        attributes = {_local(key): " ".join(value.split()) for key, value in element.attrib.items()}
        attributes = {key: _renamed(key, value, name) for key, value in attributes.items()}
        element.attrib = {key: value for key, value in attributes.items() if key != "id" or value in kept}
        element.text, element.tail = (text if text and text.strip() else None for text in (element.text, element.tail))
    title = picture.find("title")
    title.set("id", f"{name}-title")
    box = picture.get("viewBox")
    picture.attrib = {
        "viewBox": box,
        "class": "picture",
        "role": "img",
        "style": f"--width: {box.split()[2]}pt",
        "aria-labelledby": f"{name}-title",
        "aria-describedby": f"{name}-caption",
    }
    return ElementTree.tostring(picture, encoding="unicode")


def title_of(svg: str, study: str) -> str:
    """The title of an SVG file without the title of the study, which ends it."""
    return ElementTree.fromstring(svg.encode()).findtext("{*}title").removesuffix(f": {study}")


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _targets(element: ElementTree.Element) -> list[str]:
    """The ids that an element refers to."""
    targets = [target for value in element.attrib.values() for target in TARGET.findall(value)]
    links = [value for key, value in element.attrib.items() if _local(key) == "href"]
    return targets + [link[1:] for link in links if link.startswith("#")]


def _renamed(key: str, value: str, name: str) -> str:
    """An attribute's value with `name` before the ids in it."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return TARGET.sub(rf"url(#{name}-\1)", value)


# Of reStructuredText, addresses included; an underscore only where a word ends with it.
MARKUP = re.compile(r"[\\*`|<>:@]|_(?!\w)")
SETTINGS = {
    "_disable_config": True,  # a file of the user's would make another page
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "doctitle_xform": False,
}


def rendered_caption(template: str, context: Mapping) -> str:
    """Render a caption, a Jinja template of reStructuredText, to paragraphs of HTML.

    `context` is what the template reads as `snakemake`: the params, wildcards and config of the figure's rule. Names in it are
    texts, whatever markup they look like; blanks around them would be markup, too, and go, but for one that stands alone.
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
