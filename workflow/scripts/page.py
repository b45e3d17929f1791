"""Write the report of a study."""

import json
from collections.abc import Mapping, Sequence

from recuse.base.outputs import write_text
from recuse.papers.points import further_points
from recuse.report.page import report
from recuse.workflow.records import outside_files
from recuse.workflow.runner import run


def write_report(
    *,
    study: str,
    inputs: Mapping,
    about: Mapping,
    about_figures: Mapping,
    formats: Sequence[str],
    outputs: Mapping,
) -> None:
    paths = {key: [value] if isinstance(value, str) else value for key, value in inputs.items()}
    context = {"wildcards": {"study": study}}
    page = outputs["page"]
    whole = {"about": about, "figures": about_figures, "formats": formats}
    whole["further"] = further_points
    files = outside_files(paths["made"])
    html, summary = report(
        study=study, inputs=paths, files=files, context=context, page=page, **whole
    )
    write_text(page, html)
    write_text(
        outputs["summary"],
        json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    )
    print(f"{page}: {len(html.encode()) / 1e6:.1f} MB")


if __name__ == "__main__":
    run(write_report, snakemake)
