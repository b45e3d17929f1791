"""Draw the share of biased comparisons by bias, a point for each judge."""

from recuse.base.log import logged
from recuse.plot.cognitive import bias_jitter as draw_bias_jitter
from recuse.plot.style import Subject, read, save


def bias_jitter(
    *, cognitive_biases: str, random_thresholds: str, subject: Subject, confidence: float, seed: int, outputs: list[str]
) -> None:
    interval = f"{100 * confidence:g} % bootstrap interval over instructions"
    figure = draw_bias_jitter(read(cognitive_biases), read(random_thresholds), subject, interval=interval, seed=seed)
    save(figure, outputs, title=f"Share of biased comparisons by cognitive bias and judge: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        bias_jitter(
            cognitive_biases=snakemake.input.cognitive_biases,
            random_thresholds=snakemake.input.random_thresholds,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            seed=snakemake.params.seed,
            outputs=list(snakemake.output),
        )
