"""Judge a study against the paper: claims, scorecard, and the page that shows both."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from recuse.base.log import logged
from recuse.base.tables import CLAIMS, SCORECARD, write_table
from recuse.published.claims import claims
from recuse.published.results import Results
from recuse.published.scorecard import scorecard
from recuse.published.values import read_published
from recuse.report.scorecard import page

TABLES = ("estimates", "mean_scores", "correlations", "agreement")  # of the study; the last may be missing


def judge(
    *, study: str, kind: str, label: str, tables: Mapping, helm: Sequence[str], published: str, template: str, outputs: Mapping
) -> None:
    paper, ours = read_published(Path(published).parent), Results.read(**tables)
    of_helm = Results.read(estimates=helm[:1], mean_scores=helm[1]) if helm else None
    judged = list(claims(study, ours, Results.from_tables(**vars(paper)), kind=kind, helm=of_helm))
    rows = list(scorecard(paper, ours, judged, study=study, kind=kind))
    write_table(outputs["claims"], CLAIMS, judged)
    write_table(outputs["scorecard"], SCORECARD, rows)
    html = page(rows, judged, label=label, kind=kind, template=template)
    Path(outputs["page"]).write_text(html, encoding="utf-8")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        judge(
            study=snakemake.wildcards.study,
            tables={key: snakemake.input.get(key) for key in TABLES},
            helm=list(snakemake.input.helm),
            published=snakemake.input.published[0],
            template=snakemake.input.template,
            outputs=dict(snakemake.output.items()),
            **{key: snakemake.params[key] for key in ("kind", "label")},
        )
