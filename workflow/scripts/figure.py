"""Draw figures of the catalogue: read their tables, call the functions that draw them, save the
results.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from recuse.plot.style import drawn, save
from recuse.workflow.runner import run


def draw(*, pictures: Sequence[str], figures: Mapping[str, Mapping]) -> None:
    for name, figure in figures.items():
        paths = [path for path in pictures if Path(path).stem == name]
        print(f"{name}: {', '.join(paths)}")
        about = {key: figure[key] for key in ("subject", "settings")}
        save(drawn(figure["draw"], figure["inputs"], **about), paths, title=figure["title"])


if __name__ == "__main__":
    run(draw, snakemake)
