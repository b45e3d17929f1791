"""Compare a study with the paper: claims, scorecard, and the page with both."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from recuse.base.outputs import write_text
from recuse.base.tables import write_table
from recuse.papers.claims import CLAIMS, judged_claims, read_claims
from recuse.papers.results import Results
from recuse.papers.scorecard import SCORECARD, scorecard
from recuse.papers.scorecard_page import page
from recuse.papers.values import read_published
from recuse.workflow.runner import run


def judge(
    *,
    study: str,
    kind: str,
    label: str,
    estimates: Sequence[str],
    mean_scores: str,
    correlations: str,
    agreement: Sequence[str],
    helm: Sequence[str],
    published: Sequence[str],
    sentences: str,
    template: str,
    outputs: Mapping[str, str],
) -> None:
    paper = read_published(Path(published[0]).parent)
    ours = Results.read(
        estimates=estimates,
        mean_scores=[mean_scores],
        correlations=[correlations],
        agreement=agreement,
    )
    of_helm = Results.read(estimates=helm[:1], mean_scores=helm[1:]) if helm else None
    theirs = Results.from_tables(**paper)
    judged = list(
        judged_claims(read_claims(sentences), study, ours, theirs, kind=kind, helm=of_helm)
    )
    rows = list(scorecard(paper, ours, judged, study=study, kind=kind))
    write_table(outputs["claims"], CLAIMS, judged)
    write_table(outputs["scorecard"], SCORECARD, rows)
    html = page(rows, judged, label=label, kind=kind, template=template)
    write_text(outputs["page"], html)


if __name__ == "__main__":
    run(judge, snakemake)
