"""The command `gate`: are all tested biases within a limit? Its exit status is for a build server.

If a bias is beyond the limit, the gate passes with probability (1 - confidence) / 2 at most, since
all intervals have to lie within it. If none is, it fails with that probability at most, by Holm's
correction over everything that it tests.
"""

import json
import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from recuse.base.errors import ConfigError, RecuseError, in_one_sentence
from recuse.base.reasons import Reason, code, in_words
from recuse.base.words import counted, number, percent
from recuse.commands import CONFIGURATION, write_page
from recuse.data.registry import COMPARED, RATED
from recuse.inference.verdict import Verdict

# Reasons why a judge could not show a bias in these data
UNTESTABLE = (
    Reason.NO_OWN_ANSWERS,
    Reason.NO_SIBLINGS,
    Reason.NO_OWN_COMPARED,
    Reason.NO_SIBLINGS_COMPARED,
    Reason.SAME_LENGTHS,
    Reason.ONE_ORDER,
    Reason.NO_OWN_OF_CASE,
)
# The summary of a study has no degrees of freedom: these are the fewest that C allows
FEWEST_DF = 4


class Status(IntEnum):
    """Exit statuses of the command."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    INCONCLUSIVE = 3


@dataclass(frozen=True)
class GatedBias:
    """One verdict of a summary."""

    name: str
    row: Mapping
    confidence: float

    @property
    def is_tested(self) -> bool:
        """Whether it has an interval."""
        return self.row["verdict"] != Verdict.INCONCLUSIVE

    @property
    def is_testable(self) -> bool:
        """Whether more data could give it an interval."""
        return code(self.row["reason"] or "") not in UNTESTABLE

    def is_within(self, limit: float) -> bool:
        """Whether its interval lies within the limit.

        If the treatment makes answers worse, only the upper end counts.
        """
        if not self.is_tested:
            return False
        is_above = bool(self.row.get("worsening")) or self.row["ci_low"] >= -limit
        return is_above and self.row["ci_high"] <= limit

    def p_value(self, limit: float) -> float:
        """One-sided p-value of the hypothesis that the bias is within the limit.

        P(T >= (|estimate| - limit) / error), T of t. The error is that of the end nearer to 0.
        """
        from scipy.special import stdtr

        from recuse.model.least_squares import quantile

        estimate = self.row["estimate"]
        if self.row["verdict"] != Verdict.ESTABLISHED or (
            self.row.get("worsening") and estimate < 0
        ):
            return 1.0
        df = self.row.get("df") or FEWEST_DF
        nearer = self.row["ci_low"] if estimate > 0 else self.row["ci_high"]
        error = abs(estimate - nearer) / quantile(self.confidence, df)
        return float(stdtr(df, -(abs(estimate) - limit) / error))

    def in_words(self) -> str:
        """Its size and interval."""
        if not self.is_tested:
            return f"{self.name}: {in_words(self.row['reason'] or '')}"
        low, high = (number(self.row[end], 3) for end in ("ci_low", "ci_high"))
        return f"{self.name}: {number(self.row['estimate'], 3)} ({low} to {high})"


def gated(
    biases: Sequence[GatedBias], limit: float
) -> tuple[Status, list[GatedBias], list[GatedBias]]:
    """The status, the biases beyond the limit, and those that may be on either side.

    A bias is beyond the limit if its one-sided p-value, with Holm's correction over all tested
    biases, is at most (1 - confidence) / 2.
    """
    from recuse.model.least_squares import holm

    tested = [bias for bias in biases if bias.is_tested]
    adjusted = holm([bias.p_value(limit) for bias in tested])
    beyond = []
    for bias, p_value in zip(tested, adjusted, strict=True):
        if p_value <= (1 - bias.confidence) / 2:
            beyond.append(bias)
    unclear = [
        bias
        for bias in biases
        if bias.is_testable and bias not in beyond and not bias.is_within(limit)
    ]
    if beyond:
        return Status.FAIL, beyond, unclear
    is_clear = tested and not unclear
    return Status.PASS if is_clear else Status.INCONCLUSIVE, beyond, unclear


def biases_in(path: Path) -> Iterator[GatedBias]:
    """The verdicts in the summary of a card or of a study."""
    try:
        summary = json.loads(path.read_text("utf-8"))
        confidence = float(summary["confidence"])
        for row in summary["verdicts"]:
            code(row["reason"] or "")
            if Verdict(row["verdict"]) != Verdict.INCONCLUSIVE:
                row |= {name: float(row[name]) for name in ("estimate", "ci_low", "ci_high")}
            words = dict.fromkeys((row["term"], row["quantity"], row.get("contrast")))
            name = ", ".join([summary["study"], *filter(None, words)])
            yield GatedBias(name, row, confidence)
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}; make it with `recuse run` or `recuse audit`"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}: found no summary of a study or of an audit; name a summary.json in results/"
        ) from error


def summaries(target: Path) -> list[Path]:
    """The summaries of a target: a summary, a folder with one, or the YAML file of studies or of an
    audit.
    """
    from recuse.config.read import read

    if target.suffix in CONFIGURATION:
        settings = read(target)
        studies = [name for part in (RATED, COMPARED) for name in settings.get(part) or ()]
        folders = studies or [Path("audits", target.stem)]
        return [Path("results", folder, "summary.json") for folder in folders]
    return [target / "summary.json" if target.is_dir() else target]


def add_gate_command(command: Callable) -> None:
    """Add `gate`; command: adds a command, and returns its parser."""
    words = (
        "Check that all tested biases are within a limit. Exit status: 0 if they are, 1 if one is"
        " beyond it, 3 if the data cannot say, 2 if the command is wrong."
    )
    gate = command(
        "gate",
        run_gate,
        "pass or fail biases by a limit",
        words,
        "recuse gate plan.yaml --max 0.05",
    )
    gate.add_argument(
        "targets",
        nargs="+",
        metavar="target",
        help="a summary.json, a folder with one, or the YAML file of studies or of an audit",
    )
    gate.add_argument(
        "--max",
        type=float,
        required=True,
        help="the limit, as a share of the scale or of verdicts, such as 0.05",
    )


def run_gate(arguments: Namespace) -> int:
    """Print the biases beyond the limit and those that could be, and return the status."""
    try:
        with in_one_sentence():
            return _run(arguments.targets, arguments.max)
    except RecuseError as error:
        print(f"error: {error}", file=sys.stderr)
        return Status.USAGE


def _run(targets: Iterable[str], limit: float) -> int:
    if not (math.isfinite(limit) and limit > 0):
        raise ConfigError(f"--max: found {limit:g}; write a number above 0, such as 0.05")
    named = [path for target in targets for path in summaries(Path(target))]
    paths = {path.resolve(): path for path in named}.values()
    biases = [bias for path in paths for bias in biases_in(path)]
    status, beyond, unclear = gated(biases, limit)
    tested = sum(bias.is_tested for bias in biases)
    lines = [f"{status.name.lower()}: {counted(tested, 'bias', 'biases')} tested, limit {limit:g}"]
    for heading, group in (("beyond the limit", beyond), ("may be beyond the limit", unclear)):
        lines += [f"  {heading}: {bias.in_words()}" for bias in group]
    if biases:
        level = percent((1 - biases[0].confidence) / 2)
        lines.append(
            f"If the intervals hold their level, at most {level} of such runs fail with every bias"
            f" within the limit, and at most {level} pass with one beyond it."
        )
    write_page("\n".join(lines) + "\n")
    return status
