"""Write the pages of this folder that are made from the code: `python docs/generate.py`.

configuration.md lists every key of the configuration, from its schema; functions.md every formula, from the docstrings of the
library's public functions and classes.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "workflow" / "lib" / "recuse"
BOUNDS = {"minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "to {}", "exclusiveMaximum": "below {}"}


def pages() -> dict[str, str]:
    """The text of each generated page, by its name."""
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text("utf-8"))
    sections = [(key, value, list(keys_of(schema, value, key))) for key, value in schema["properties"].items()]
    folders = sorted(path.parent for path in LIBRARY.glob("*/__init__.py"))
    packages = [(folder.name, [each for each in modules_of(folder) if each[2]]) for folder in folders]
    templates = Environment(
        loader=FileSystemLoader(ROOT / "docs"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.keep_trailing_newline = True
    return {
        "configuration.md": templates.get_template("configuration.md.j2").render(sections=sections),
        "functions.md": templates.get_template("functions.md.j2").render(packages=packages),
    }


def resolved(schema: dict, entry: dict) -> dict:
    """An entry with what it refers to in its place; its own words go first."""
    if "$ref" not in entry:
        return entry
    own = {key: value for key, value in entry.items() if key != "$ref"}
    return resolved(schema, schema["$defs"][entry["$ref"].removeprefix("#/$defs/")]) | own


def keys_of(schema: dict, entry: dict, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, value and description of every key below `path`."""
    entry = resolved(schema, entry)
    required = entry.get("required", [])
    children = [(f"{path}.{key}", child, key in required) for key, child in entry.get("properties", {}).items()]
    if isinstance(entry.get("additionalProperties"), dict):
        children.append((f"{path}.<name>", entry["additionalProperties"], False))
    for place, child, needed in children:
        child = resolved(schema, child)
        if "description" in child or not _is_mapping(child):
            yield place, value_of(schema, child) + ("; required" if needed else ""), child.get("description", "")
        yield from keys_of(schema, child, place)
    for alternative in entry.get("oneOf", []):
        yield from keys_of(schema, alternative, path)
    if "items" in entry:
        yield from keys_of(schema, entry["items"], f"{path}[]")


def _is_mapping(entry: dict) -> bool:
    return entry.get("type") == "object"


def value_of(schema: dict, entry: dict) -> str:
    """What may stand in the place of an entry, in words."""
    entry = resolved(schema, entry)
    if "const" in entry:
        return f"`{entry['const']}`"
    if "enum" in entry:
        return ", ".join(f"`{value}`" for value in entry["enum"])
    if "oneOf" in entry and "type" not in entry:
        return " or ".join(value_of(schema, each) for each in entry["oneOf"])
    kind = entry.get("type", "any")
    if kind == "array":
        return f"list of {value_of(schema, entry.get('items', {}))}"
    bounds = [words.format(entry[key]) for key, words in BOUNDS.items() if key in entry]
    names = {"string": "text", "object": "mapping", "boolean": "`true`, `false`"}
    return " ".join([names.get(kind, kind), *bounds])


def modules_of(folder: Path) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield name, first line and the documented public functions and classes of each module of a package."""
    for path in sorted(folder.glob("[!_]*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        found = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"]
        described = [(node.name, ast.get_docstring(node) or "") for node in found]
        yield path.stem, ast.get_docstring(tree), [each for each in described if " = " in each[1] or "Source:" in each[1]]


if __name__ == "__main__":
    for page, text in pages().items():
        (ROOT / "docs" / page).write_text(text, encoding="utf-8")
