"""Draw Figure 3: self-bias by judge and family-bias by family, with intervals."""

from collections.abc import Mapping

from recuse.base.log import logged
from recuse.plot.intervals import SIDES, absences, left_out, self_family_bias, sentence, with_simultaneous
from recuse.plot.style import Subject, interval_text, read, save


def fig03_self_family_bias(
    *,
    estimates: str,
    not_estimable: str,
    multiplicity: str,
    spec: str,
    simultaneous: Mapping | None,
    subject: Subject,
    confidence: float,
    covariance: str,
    outputs: list[str],
) -> None:
    found, reasons = read(estimates), read(not_estimable)
    missing = {f"the spec {spec}": reason for reason in left_out(spec, found, reasons).values()}
    note = " ".join(filter(None, [absences(SIDES, {spec: found}, reasons), sentence(missing)]))
    table, legend = with_simultaneous(found, read(multiplicity), simultaneous, confidence=confidence)
    interval = interval_text(confidence, covariance)
    figure = self_family_bias(table, subject, interval=interval, simultaneous=legend, note=note)
    save(figure, outputs, title=f"Self-bias by judge and family-bias by family: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        inputs = "estimates", "not_estimable", "multiplicity"
        params = "spec", "simultaneous", "confidence", "covariance"
        settings = {key: snakemake.input[key] for key in inputs} | {key: snakemake.params[key] for key in params}
        subject = Subject.from_config(**snakemake.params.subject)
        fig03_self_family_bias(**settings, subject=subject, outputs=list(snakemake.output))
