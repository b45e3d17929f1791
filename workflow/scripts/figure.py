"""Draw a figure of the catalogue: read its tables, call the function that draws it, save the result."""

from collections.abc import Mapping

from recuse.base.runner import run
from recuse.plot.style import drawn, save


def figure(*, inputs: Mapping, outputs: Mapping, draw: str, title: str, subject: Mapping, settings: Mapping) -> None:
    save(drawn(draw, inputs, subject=subject, settings=settings), outputs.values(), title=title)


if __name__ == "__main__":
    run(figure, snakemake)
