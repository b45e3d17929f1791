"""Draw the attack success rates by perturbation and judge."""

from recuse.base.log import logged
from recuse.plot.attacks import attack_success as draw_attack_success
from recuse.plot.style import Subject, read, save
from recuse.published.attacks import read_attacks


def attack_success(
    *, asr: str, ranks: str, subject: Subject, confidence: float, outputs: list[str], published: str | None = None
) -> None:
    printed = [] if published is None else read_attacks(published)
    figure = draw_attack_success(read(asr), read(ranks), subject, confidence=confidence, published=printed)
    save(figure, outputs, title=f"Attack success rate by perturbation and judge: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        attack_success(
            asr=snakemake.input.asr,
            ranks=snakemake.input.ranks,
            published=next(iter(snakemake.input.published), None),
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
