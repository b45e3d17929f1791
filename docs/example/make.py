"""Write the two files of the example: `python docs/example/make.py`. All of it is simulated; nobody
judged anything.

On each of 120 prompts six models answer. A completion has a true quality, that of its model
(QUALITY, points of 1 to 10) and a normal draw of standard deviation 1. Two people see it with an
error of 0.7 each. Five judges see it with a slope of 0.8 and an error of 0.6, and add what they
like of the model (a normal draw of 0.15 for each judge and model, whoever wrote it), SELF of their
own completions and FAMILY of their family's. One judgment in 40 fails; claude-haiku-4 fails on one
in six of its own.
"""

import csv
import random
from collections.abc import Iterator
from pathlib import Path

SEED, PROMPTS = 3, 120
QUALITY = {
    "gpt-4.1": 7.0, "gpt-4.1-mini": 6.0, "claude-sonnet-4": 7.2, "claude-haiku-4": 6.2, "qwen3-32b": 5.8, "command-a": 5.5,
}  # fmt: skip
SELF = {
    "gpt-4.1": 0.9,
    "gpt-4.1-mini": 0.0,
    "claude-sonnet-4": 0.5,
    "claude-haiku-4": 0.0,
    "qwen3-32b": -0.6,
}
FAMILY = {"gpt": 0.0, "claude": 0.3}
PREFERENCE = 0.15


def main(folder: Path) -> None:
    """Write judged.csv and human.csv into the folder."""
    random_numbers = random.Random(SEED)
    preference = {
        (judge, model): random_numbers.gauss(0, PREFERENCE) for judge in SELF for model in QUALITY
    }
    with (
        (folder / "judged.csv").open("w", newline="") as judged,
        (folder / "human.csv").open("w", newline="") as human,
    ):
        judgments, scores = (
            csv.writer(judged, lineterminator="\n"),
            csv.writer(human, lineterminator="\n"),
        )
        judgments.writerow(["item", "grader", "candidate", "metric", "score"])
        scores.writerow(["item", "candidate", "metric", "first", "second"])
        for item in range(1, PROMPTS + 1):
            for model, quality in QUALITY.items():
                true = random_numbers.gauss(quality, 1)
                people = (on_scale(random_numbers.gauss(true, 0.7)) for _ in range(2))
                scores.writerow([item, model, "quality", *people])
                for judge, score in judged_by_all(random_numbers, model, true, preference):
                    judgments.writerow([item, judge, model, "quality", score])


def judged_by_all(
    random_numbers: random.Random, model: str, true: float, preference: dict[tuple[str, str], float]
) -> Iterator[tuple[str, int | str]]:
    """Yield what each judge gives a completion of this true quality: a score, or ERROR."""
    for judge, own in SELF.items():
        bias = (
            own
            if judge == model
            else FAMILY.get(family(judge), 0.0) * (family(judge) == family(model))
        )
        seen = random_numbers.gauss(1.6 + 0.8 * true + preference[judge, model] + bias, 0.6)
        failures = 1 / 6 if judge == model == "claude-haiku-4" else 1 / 40
        yield judge, "ERROR" if random_numbers.random() < failures else on_scale(seen)


def family(model: str) -> str:
    """The first word of a model's name."""
    return model.partition("-")[0]


def on_scale(score: float) -> int:
    """The nearest integer of the scale from 1 to 10."""
    return min(10, max(1, round(score)))


if __name__ == "__main__":
    main(Path(__file__).parent)
