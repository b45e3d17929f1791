"""Write the pages of this folder that come from the code: `python docs/generate.py`.

settings.md lists the keys that people write, and configuration.md every key, from the declarations;
notebook.ipynb is python.md with what its code returns.
"""

import ast
import base64
import json
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "lib"))

from recuse.audit.settings import Audit  # noqa: E402
from recuse.base.products import register  # noqa: E402
from recuse.collect.settings import Collect  # noqa: E402
from recuse.config.declared.sections import Section, entry_schema, resolved  # noqa: E402
from recuse.config.declared.settings import Settings  # noqa: E402
from recuse.products import PRODUCTS  # noqa: E402
from recuse.validation.settings import MonteCarlo  # noqa: E402

register(PRODUCTS)

# Title on settings.md -> where its keys are -> those that people write
OFTEN_WRITTEN = {
    "A study of ratings": {
        "studies.<name>": (
            "title files import scales families raters trusted task_types verify specs"
            " inference figures simulated shards"
        ),
    },
    "A file in another form": {
        "studies.<name>.import": (
            "files format columns references missing values decimal step round repeats judge gold"
        ),
        "studies.<name>.import.columns": (
            "judge model prompt rating dimension dataset wording human length item model_a model_b"
            " outcome order"
        ),
    },
    "A study of verdicts on two answers": {
        "comparisons.<name>": "title files import families analyses both_orders",
    },
    "For all studies": {
        "": "build formats seed confidence memory_limit",
        "inference": "debias pass_mark replicates",
    },
}
# A mapping with at least so many keys is described once.
LEAST_KEYS = 3
BOUNDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "to {}",
    "exclusiveMaximum": "below {}",
}


def pages() -> dict[str, str]:
    """The text of each generated page, by its name."""
    templates = Environment(
        loader=FileSystemLoader(ROOT / "docs"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.keep_trailing_newline = True
    templates.filters["escaped"] = escaped
    sections = list_sections(Settings)
    of_audits = [
        part
        for part in list_sections(Audit)
        if part[0] not in Collect.model_fields.keys() - {"prompts"}
    ]
    files = {
        "config.yaml": sections,
        "montecarlo.yaml": list_sections(MonteCarlo),
        "The plan of an audit": of_audits,
    }
    return {
        "configuration.md": templates.get_template("configuration.md.j2").render(files=files),
        "settings.md": templates.get_template("settings.md.j2").render(
            settings=often_written(sections)
        ),
        "notebook.ipynb": notebook((ROOT / "docs" / "python.md").read_text("utf-8")),
    }


BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def notebook(page: str) -> str:
    """A notebook of a page: its texts, its Python code, and what that prints and returns, for the
    blocks that show this.
    """
    cells, names, count = [], {}, 0
    for kind, source in split_blocks(page):
        cell = {
            "cell_type": "markdown",
            "id": sha256(f"{len(cells)} {source}".encode()).hexdigest()[:8],
            "metadata": {},
        }
        cell["source"] = source.splitlines(keepends=True)
        if kind == "python":
            count += 1
            cell |= {
                "cell_type": "code",
                "execution_count": count,
                "outputs": cell_outputs(source, names, count),
            }
        if kind in ("python", "text"):
            cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def split_blocks(page: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a page: `text`, `python`, or `output`, a block without a language."""
    texts, languages, codes = (BLOCK.split(page)[place::3] for place in range(3))
    for text, language, code in zip(texts, [*languages, ""], [*codes, ""], strict=True):
        if text.strip():
            yield "text", text.strip("\n")
        if code:
            yield language or "output", code.strip("\n")


def cell_outputs(code: str, names: dict, count: int) -> list[dict]:
    """What a cell of a notebook prints and returns, run with these names."""
    printed, value = run(code, names)
    outputs = []
    if printed:
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
        )
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_png_"):
            image, _ = value._repr_png_()
            data |= {"image/png": base64.b64encode(image).decode(), "text/plain": ["<Figure>"]}
        elif hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append(
            {
                "data": data,
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def run(code: str, names: dict) -> tuple[str, object]:
    """Run Python code with these names; what it prints, and the value of its last line, if that is
    an expression.
    """
    tree, value, printed = ast.parse(code), None, StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


def list_sections(
    settings: type[Section],
) -> list[tuple[str, str, str, list[tuple[str, str, str]]]]:
    """Name, value, description and keys of each part of a file of settings."""
    schema, described, keys = settings.model_json_schema(), {}, {}
    # Keys of specs are described with those of all studies, not of one.
    for name in sorted(schema["properties"], key=lambda name: name != "specs"):
        keys[name] = list(list_keys(schema, schema["properties"][name], name, described))
    return [
        (name, value_in_words(schema, entry), entry["description"], keys[name])
        for name, entry in schema["properties"].items()
    ]


def list_keys(
    schema: dict, entry: dict, path: str, described: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield path, value and description of every key below `path`; of a mapping that was described
    elsewhere, only where.

    described: JSON of the keys of each mapping so far -> its path.
    """
    entry = resolved(schema, entry)
    if len(entry.get("properties", {})) >= LEAST_KEYS:
        first = described.setdefault(json.dumps(entry["properties"], sort_keys=True), path)
        if first != path:
            yield f"{path}.…", "", f"The same keys as under `{first}`."
            return
    children = [
        (f"{path}.{key}", child, key in entry.get("required", []))
        for key, child in entry.get("properties", {}).items()
    ]
    if entry_schema(entry):
        children.append((f"{path}.<name>", entry_schema(entry), False))
    for place, child, needed in children:
        value = value_in_words(schema, child)
        if "description" in child or value != "mapping":
            yield place, value + ("; required" if needed else ""), child.get("description", "")
        yield from list_keys(schema, child, place, described)
    for alternative in entry.get("oneOf", []):
        yield from list_keys(schema, alternative, path, described)
    if "items" in entry:
        yield from list_keys(schema, entry["items"], f"{path}[]", described)


def often_written(sections: list) -> dict[str, list[tuple[str, str, str]]]:
    """Path, value and description of the keys of OFTEN_WRITTEN, by title."""
    described = {key: (key, value, words) for key, value, words, _ in sections}
    described |= {row[0]: row for *_, rows in sections for row in rows}
    # config.yaml has what is required of these.
    for path in described.keys() - {path for path in described if "<name>" in path}:
        key, value, words = described[path]
        described[path] = key, value.removesuffix("; required"), words
    return {
        title: [
            described[f"{place}.{name}".lstrip(".")]
            for place, names in places.items()
            for name in names.split()
        ]
        for title, places in OFTEN_WRITTEN.items()
    }


def escaped(text: str) -> str:
    """Text for a cell of a table: a bar or `<` outside code is markup, a line break its end."""
    words = text.replace("|", "\\|").replace("\n", " ").split("`")
    words[::2] = [part.replace("<", "&lt;") for part in words[::2]]
    return "`".join(words)


def value_in_words(schema: dict, entry: dict) -> str:
    """The values that an entry may have, in words."""
    entry = resolved(schema, entry)
    if "const" in entry:
        return f"`{entry['const']}`"
    if "enum" in entry:
        return ", ".join(f"`{value}`" for value in entry["enum"])
    if "oneOf" in entry:
        return " or ".join(value_in_words(schema, kind) for kind in entry["oneOf"])
    if entry["type"] == "array":
        return f"list of {value_in_words(schema, entry['items'])}"
    bounds = [words.format(entry[key]) for key, words in BOUNDS.items() if key in entry]
    names = {"string": "text", "object": "mapping", "boolean": "`true`, `false`"}
    return " ".join([names.get(entry["type"], entry["type"]), *bounds])


if __name__ == "__main__":
    for page, text in pages().items():
        (ROOT / "docs" / page).write_text(text, encoding="utf-8")
