"""Write the report of a study."""

from collections.abc import Mapping
from pathlib import Path

from recuse.base.log import logged
from recuse.report.page import report

INPUTS = ("figures", "tables", "estimates", "pages", "raw", "template")  # paths of each kind, in a list


def write_report(*, study: str, inputs: Mapping, output: str, **settings: Mapping) -> None:
    html = report(study=study, inputs=inputs, page=output, **settings)
    Path(output).write_text(html, encoding="utf-8")
    print(f"{output}: {len(html.encode()) / 1e6:.1f} MB")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        write_report(
            study=snakemake.wildcards.study,
            inputs={
                key: [paths] if isinstance(paths, str) else list(paths)
                for key, paths in snakemake.input.items()
                if key in INPUTS
            },
            output=snakemake.output.page,
            about=snakemake.params.about,
            figures=snakemake.params.figures,
            told={"wildcards": dict(snakemake.wildcards.items()), "config": snakemake.config},
        )
