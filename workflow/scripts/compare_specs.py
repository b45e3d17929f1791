"""Draw self- and family-bias by several specs on one axis: Figures 7, 9 and 10, the GAM, estimands, users' own ablations."""

from collections.abc import Mapping, Sequence

from recuse.base.log import logged
from recuse.plot.compare_specs import beside_the_first, compare, with_placebo
from recuse.plot.style import Subject, read, save


def compare_specs(
    *,
    estimates: Sequence[str],
    variants: Sequence[Mapping],
    not_estimable: str,
    placebo: Sequence[str],
    subject: Subject,
    confidence: float,
    title: str,
    outputs: list[str],
) -> None:
    tables, reasons = [read(path) for path in estimates], read(not_estimable)
    for path in placebo:
        tables, reasons = with_placebo(tables, reasons, read(path), spec=variants[0]["spec"])
    drawn, note = beside_the_first(variants, tables, reasons, subject.palette, confidence=confidence)
    save(compare(drawn, subject, note=note), outputs, title=f"{title}: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        inputs = "estimates", "not_estimable", "placebo"
        params = "variants", "confidence", "title"
        settings = {key: snakemake.input[key] for key in inputs} | {key: snakemake.params[key] for key in params}
        subject = Subject.from_config(**snakemake.params.subject)
        compare_specs(**settings, subject=subject, outputs=list(snakemake.output))
