"""Pages to read: one HTML file each that needs nothing else, from a template and the frame that all have."""

from math import isfinite
from pathlib import Path

WORDS_ALONE = "words_alone"  # id of a drawing that has nothing but words to show


def rendered(template: str | Path, **values) -> str:
    """Render a Jinja template, which finds the frame that it extends in its own folder; `values` are escaped.

    Filters: `number`, and `signed`, the same with its sign.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(template).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": number, "signed": signed}
    return environment.get_template(Path(template).name).render(**values)


def number(value: float | None, digits: int = 4) -> str:
    """`value` with so many decimals and a true minus sign; a dash where there is none."""
    if value is None or not isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 3) -> str:
    """The same with a sign in front; what rounds to 0 has none."""
    if value is None or not isfinite(value):
        return number(value)
    rounded = round(value, digits) or 0.0
    return f"+{number(rounded, digits)}" if rounded > 0 else number(rounded, digits)
