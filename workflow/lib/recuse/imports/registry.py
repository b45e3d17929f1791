"""The formats of files that an import reads: how messages call them, what they hold, and how they
are told apart.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from recuse.base.errors import DataError
from recuse.data.registry import COMPARED, RATED, SUFFIXES

GOLD_LABELS = "Gold"  # in config's `judge` of a log: a scorer that compares with a key


@dataclass(frozen=True)
class Format:
    """A format of files of judgments, or of human scores and gold labels."""

    words: str  # what messages call it
    holds: tuple[str, ...]  # what a study of such files is; empty if they are only references
    signs: tuple[str, ...] = ()  # keys, all of which an object of the format has; or others
    # Keys of config's `import` that only this format and some others take.
    keys: tuple[str, ...] = ()
    # The scale of all ratings, if the tool has only one
    scale: tuple[float, float] | None = None

    def looks_like(self, keys: Collection[str]) -> bool:
        """Whether an object with these keys is one of the format."""
        return any({*sign.split()} <= {*keys} for sign in self.signs)


LOG_KEYS = ("judge", "columns", "missing", "values")
FORMATS = {
    "table": Format("a table", (RATED, COMPARED), keys=("columns", "missing", "values", "decimal")),
    "mt_bench_single": Format(
        "MT-Bench single judgments",
        (RATED,),
        ("question_id model judge score",),
        scale=(1, 10),
    ),
    "mt_bench_pair": Format(
        "MT-Bench pair judgments", (COMPARED,), ("question_id model_1 model_2 judge",)
    ),
    "alpaca_eval": Format(
        "AlpacaEval annotations", (COMPARED,), ("instruction output_1 preference",)
    ),
    "arena_hard": Format(
        "Arena-Hard judgments", (COMPARED,), ("model judge games",), ("baseline",)
    ),
    "judge_bench": Format(
        "JudgeBench judgments", (COMPARED,), ("pair_id response_model judgments",)
    ),
    "inspect": Format("an Inspect log", (RATED,), ("version status eval",), LOG_KEYS),
    "promptfoo": Format(
        "promptfoo results",
        (RATED,),
        ("results config", "results stats", "gradingResult provider"),
        LOG_KEYS,
    ),
    "helm": Format("a HELM scenario state", (RATED,), ("adapter_spec request_states",), LOG_KEYS),
    "mlflow": Format("MLflow traces", (RATED,), ("info data", "trace_id assessments"), LOG_KEYS),
    "phoenix": Format(
        "Phoenix annotations",
        (RATED,),
        ("annotator_kind name", "data next_cursor", "example_id annotations"),
        LOG_KEYS,
    ),
    "langfuse": Format(
        "Langfuse scores",
        (RATED,),
        ("name source dataType", "data meta", "scores observations"),
        LOG_KEYS,
    ),
    "deepeval": Format(
        "DeepEval results",
        (RATED,),
        ("testCases testPassed", "test_results confident_link"),
        LOG_KEYS,
    ),
    "lm_eval": Format(
        "lm-evaluation-harness samples",
        (),
        ("doc_id filtered_resps",),
        ("columns", "missing", "values"),
    ),
    "lmarena": Format("LMArena votes", ()),
}


def refused_key(format: str, keys: Collection[str]) -> tuple[str, list[str]] | None:
    """The first of `keys` of config's `import` that files of a format do not take, and the formats
    that take it; None if there is none.
    """
    for key in sorted(keys):
        having = [name for name, entry in FORMATS.items() if key in entry.keys]
        if having and format not in having:
            return key, having
    return None


def check_name(path: str) -> None:
    """DataError unless the name of a file of judgments ends as a readable one does; only CSV and
    TSV are read packed.
    """
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise DataError(
            f"{path}: found a name ending in '{suffix}'; import a file ending in one of"
            f" {', '.join(SUFFIXES)}"
        )
    packed = Path(path).with_suffix("").suffix
    if suffix == ".gz" and packed in SUFFIXES and packed not in (".csv", ".tsv"):
        raise DataError(
            f"{path}: found a name ending in '{packed}.gz', but only CSV and TSV are read packed;"
            " unpack it (gunzip)"
        )
