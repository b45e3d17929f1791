"""Draw what estimand C compares: the cells of each judge, with the band in which ordinary ones would lie."""

from recuse.base.log import logged
from recuse.plot.idiosyncrasy import tastes as draw_tastes
from recuse.plot.style import Subject, read, save


def placebo(*, tastes: str, spec: str, subject: Subject, confidence: float, title: str, outputs: list[str]) -> None:
    table = read(tastes)
    rows = table[(table["spec"] == spec) & table["slice"].isna()]
    save(draw_tastes(rows, subject, confidence=confidence), outputs, title=f"{title}: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        params = "spec", "confidence", "title"
        settings = {key: snakemake.params[key] for key in params}
        subject = Subject.from_config(**snakemake.params.subject)
        placebo(tastes=snakemake.input.tastes, **settings, subject=subject, outputs=list(snakemake.output))
