"""Draw an ordinal spec, such as Figure 8: self- and family-bias in log-odds, average marginal effects in rating points."""

from recuse.base.log import logged
from recuse.plot.slices import OWN_WHOLE, Band, Block, note_of, slices, whole_of
from recuse.plot.style import Subject, interval_text, read, save


def fig08_ordinal(
    *,
    estimates: str,
    spec: str,
    by: str,
    not_estimable: str,
    subject: Subject,
    confidence: float,
    covariance: str,
    title: str,
    words: str,
    outputs: list[str],
) -> None:
    table = read(estimates)
    bands = [
        Band(side, [Block(f"{side} {by}", spec, table)], whole=whole_of(table, side), whole_is=OWN_WHOLE, effects=True)
        for side in ("Self-bias", "Family-bias")
    ]
    note = " ".join(filter(None, [words, note_of(bands, read(not_estimable))]))
    figure = slices(bands, subject, interval=interval_text(confidence, covariance), note=note)
    save(figure, outputs, title=f"{title}: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        inputs = "estimates", "not_estimable"
        params = "spec", "by", "confidence", "covariance", "title", "words"
        settings = {key: snakemake.input[key] for key in inputs} | {key: snakemake.params[key] for key in params}
        subject = Subject.from_config(**snakemake.params.subject)
        fig08_ordinal(**settings, subject=subject, outputs=list(snakemake.output))
