"""Draw self-bias slice by slice: Figure 4, by dataset, with one model left out, and users' own ablations."""

from collections.abc import Mapping, Sequence

from recuse.base.log import logged
from recuse.plot.slices import OWN_WHOLE, Band, blocks_of, note_of, slices, whole_of
from recuse.plot.style import Subject, interval_text, read, save

SIDE = "Self-bias"


def slices_of_specs(
    *,
    estimates: Sequence[str],
    blocks: Sequence[Mapping],
    whole: str,
    not_estimable: str,
    multiplicity: str,
    subject: Subject,
    confidence: float,
    covariance: str,
    title: str,
    words: str,
    outputs: list[str],
) -> None:
    drawn = blocks_of(blocks, list(map(read, estimates)), read(multiplicity), confidence=confidence)
    own = whole_of(drawn[0].table, SIDE)  # only a user's spec has one, and is drawn alone
    ticks = (own, OWN_WHOLE) if own else (whole_of(read(whole), SIDE), "Equation 1, all ratings")
    note = " ".join(filter(None, [words, note_of(bands := [Band(SIDE, drawn, *ticks)], read(not_estimable))]))
    interval = interval_text(confidence, covariance)
    save(slices(bands, subject, interval=interval, note=note), outputs, title=f"{title}: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        inputs = "estimates", "whole", "not_estimable", "multiplicity"
        params = "blocks", "confidence", "covariance", "title", "words"
        settings = {key: snakemake.input[key] for key in inputs} | {key: snakemake.params[key] for key in params}
        subject = Subject.from_config(**snakemake.params.subject)
        slices_of_specs(**settings, subject=subject, outputs=list(snakemake.output))
