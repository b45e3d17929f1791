"""Write the pages of this folder that come from the code: `python docs/generate.py`.

configuration.md lists every key of the configuration, from its declaration; functions.md lists
formulas and sources, from the docstrings of the library's public functions and classes;
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
LIBRARY = ROOT / "workflow" / "lib" / "recuse"
sys.path.insert(0, str(LIBRARY.parent))

from recuse.base.products import register  # noqa: E402
from recuse.config.declared.sections import Section, of_any_name, resolved  # noqa: E402
from recuse.config.declared.settings import Settings  # noqa: E402
from recuse.products import PRODUCTS  # noqa: E402
from recuse.validation.settings import MonteCarlo  # noqa: E402

register(PRODUCTS)

BOUNDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "to {}",
    "exclusiveMaximum": "below {}",
}


def pages() -> dict[str, str]:
    """The text of each generated page, by its name."""
    folders = sorted(path.parent for path in LIBRARY.glob("*/__init__.py"))
    packages = [
        (folder.name, [module for module in modules_of(folder) if module[2]]) for folder in folders
    ]
    templates = Environment(
        loader=FileSystemLoader(ROOT / "docs"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.keep_trailing_newline = True
    return {
        "configuration.md": templates.get_template("configuration.md.j2").render(
            files={"config.yaml": sections_of(Settings), "montecarlo.yaml": sections_of(MonteCarlo)}
        ),
        "functions.md": templates.get_template("functions.md.j2").render(packages=packages),
        "notebook.ipynb": notebook((ROOT / "docs" / "python.md").read_text("utf-8")),
    }


BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def notebook(page: str) -> str:
    """A notebook of a page: its texts, its Python code, and what that prints and returns, for the
    blocks that show this.
    """
    cells, names, count = [], {}, 0
    for kind, source in blocks_of(page):
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
                "outputs": outputs_of(source, names, count),
            }
        if kind in ("python", "text"):
            cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def blocks_of(page: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a page: `text`, `python`, or `output`, a block without a language."""
    texts, languages, codes = (BLOCK.split(page)[place::3] for place in range(3))
    for text, language, code in zip(texts, [*languages, ""], [*codes, ""], strict=True):
        if text.strip():
            yield "text", text.strip("\n")
        if code:
            yield language or "output", code.strip("\n")


def outputs_of(code: str, names: dict, count: int) -> list[dict]:
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


def sections_of(settings: type[Section]) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Name, description and keys of each part of a file of settings."""
    schema = settings.model_json_schema()
    return [
        (key, value["description"], list(keys_of(schema, value, key)))
        for key, value in schema["properties"].items()
    ]


def keys_of(schema: dict, entry: dict, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, value and description of every key below `path`."""
    entry = resolved(schema, entry)
    children = [
        (f"{path}.{key}", child, key in entry.get("required", []))
        for key, child in entry.get("properties", {}).items()
    ]
    if of_any_name(entry):
        children.append((f"{path}.<name>", of_any_name(entry), False))
    for place, child, needed in children:
        value = value_of(schema, child)
        if "description" in child or value != "mapping":
            yield place, value + ("; required" if needed else ""), child.get("description", "")
        yield from keys_of(schema, child, place)
    for alternative in entry.get("oneOf", []):
        yield from keys_of(schema, alternative, path)
    if "items" in entry:
        yield from keys_of(schema, entry["items"], f"{path}[]")


def value_of(schema: dict, entry: dict) -> str:
    """The values that an entry may have, in words."""
    entry = resolved(schema, entry)
    if "const" in entry:
        return f"`{entry['const']}`"
    if "enum" in entry:
        return ", ".join(f"`{value}`" for value in entry["enum"])
    if "oneOf" in entry:
        return " or ".join(value_of(schema, kind) for kind in entry["oneOf"])
    if entry["type"] == "array":
        return f"list of {value_of(schema, entry['items'])}"
    bounds = [words.format(entry[key]) for key, words in BOUNDS.items() if key in entry]
    names = {"string": "text", "object": "mapping", "boolean": "`true`, `false`"}
    return " ".join([names.get(entry["type"], entry["type"]), *bounds])


def modules_of(folder: Path) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield name, first line and the documented public functions and classes of each module of a
    package.
    """
    for path in sorted(folder.glob("[!_]*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        nodes = [
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
        ]
        docstrings = [(node.name, ast.get_docstring(node) or "") for node in nodes]
        yield (
            path.stem,
            ast.get_docstring(tree),
            [(name, text) for name, text in docstrings if " = " in text or "Source:" in text],
        )


if __name__ == "__main__":
    for page, text in pages().items():
        (ROOT / "docs" / page).write_text(text, encoding="utf-8")
