"""Draw self-bias slice by slice: Figure 4, by dataset, and with one model left out."""

from collections.abc import Mapping, Sequence

from judgebias.logs import logged
from judgebias.slices import Band, Block, note_of, slices
from judgebias.style import Subject, interval_text, read, save


def slices_of_specs(
    *,
    estimates: Sequence[str],
    blocks: Sequence[Mapping],
    whole: str,
    not_estimable: str,
    subject: Subject,
    confidence: float,
    covariance: str,
    title: str,
    outputs: list[str],
) -> None:
    drawn = [Block(block["heading"], block["spec"], read(path)) for path, block in zip(estimates, blocks, strict=True)]
    pooled = read(whole).query("quantity == 'self_bias'").dropna(subset="estimate").set_index("term")["estimate"]
    interval, note = interval_text(confidence, covariance), note_of(drawn, read(not_estimable))
    figure = slices([Band("Self-bias", drawn, whole=pooled.to_dict())], subject, interval=interval, note=note)
    save(figure, outputs, title=f"{title}: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        inputs = "estimates", "whole", "not_estimable"
        params = "blocks", "confidence", "covariance", "title"
        settings = {key: snakemake.input[key] for key in inputs} | {key: snakemake.params[key] for key in params}
        subject = Subject.from_config(**snakemake.params.subject)
        slices_of_specs(**settings, subject=subject, outputs=list(snakemake.output))
