"""Write the pages of this folder that come from the code: `python docs/generate.py`.

configuration.md lists every key of the configuration, from its declaration; functions.md lists formulas and sources, from the
docstrings of the library's public functions and classes.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "workflow" / "lib" / "recuse"
sys.path.insert(0, str(LIBRARY.parent))

from recuse.config.declared.montecarlo import MonteCarlo  # noqa: E402
from recuse.config.declared.sections import Section, of_any_name, resolved  # noqa: E402
from recuse.config.declared.settings import Settings  # noqa: E402

BOUNDS = {"minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "to {}", "exclusiveMaximum": "below {}"}


def pages() -> dict[str, str]:
    """The text of each generated page, by its name."""
    folders = sorted(path.parent for path in LIBRARY.glob("*/__init__.py"))
    packages = [(folder.name, [module for module in modules_of(folder) if module[2]]) for folder in folders]
    templates = Environment(
        loader=FileSystemLoader(ROOT / "docs"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.keep_trailing_newline = True
    return {
        "configuration.md": templates.get_template("configuration.md.j2").render(
            files={"config.yaml": sections_of(Settings), "montecarlo.yaml": sections_of(MonteCarlo)}
        ),
        "functions.md": templates.get_template("functions.md.j2").render(packages=packages),
    }


def sections_of(settings: type[Section]) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Name, description and keys of each part of a file of settings."""
    schema = settings.model_json_schema()
    return [(key, value["description"], list(keys_of(schema, value, key))) for key, value in schema["properties"].items()]


def keys_of(schema: dict, entry: dict, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, value and description of every key below `path`."""
    entry = resolved(schema, entry)
    children = [
        (f"{path}.{key}", child, key in entry.get("required", [])) for key, child in entry.get("properties", {}).items()
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
    """Yield name, first line and the documented public functions and classes of each module of a package."""
    for path in sorted(folder.glob("[!_]*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        nodes = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"]
        docstrings = [(node.name, ast.get_docstring(node) or "") for node in nodes]
        yield (
            path.stem,
            ast.get_docstring(tree),
            [(name, text) for name, text in docstrings if " = " in text or "Source:" in text],
        )


if __name__ == "__main__":
    for page, text in pages().items():
        (ROOT / "docs" / page).write_text(text, encoding="utf-8")
