"""Rank the models without the biases; tabulate power, which conclusions hold in all checks,
verdicts, and panels.
"""

from collections.abc import Mapping, Sequence

from recuse.base.tables import read_table, write_tables
from recuse.data.describe import WITH_OTHERS, correlation_by_judge
from recuse.data.study import StudyTables
from recuse.inference.calibration import CALIBRATION
from recuse.inference.judge_levels import linked_judges
from recuse.inference.leaderboard import (
    JUDGMENTS,
    LEADERBOARD,
    REGRESSION,
    judgment_rows,
    leaderboards,
    removed_biases,
    write_debiased,
)
from recuse.inference.panel import PANEL, panel_rows
from recuse.inference.power import POWER, power_rows
from recuse.inference.reliability import mean_reliability
from recuse.inference.robustness import (
    CONCLUSIONS,
    Robustness,
    RobustnessCheck,
    Tables,
    conclusions,
)
from recuse.inference.round_robin import ROUND_ROBIN, round_robin_rows
from recuse.inference.verdict import VERDICTS, rating_judges, verdicts_on_ratings
from recuse.model.estimable import estimable_specs
from recuse.model.spec import Spec


def rank(
    *,
    tables: StudyTables,
    fitted: Sequence[str],
    idiosyncrasy: str,
    reliability: str,
    ranking: Mapping,
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    """Rank the models, tabulate what each ranking rests on, and how small a bias would be found.

    fitted: the paths of estimates; ranking: `Study.ranking_settings`.
    """
    specs, settings = ranking["specs"], ranking["settings"]
    main = Spec.of("main", **specs["main"])
    level, instead = {"confidence": confidence, "seed": seed}, settings["without_human_scores"]
    boards = estimable_specs(specs, settings["leaderboard"], tables.scored, instead=instead)
    estimates = _rows(fitted)
    biases = estimates if settings["debias"] == REGRESSION else read_table(idiosyncrasy)
    chosen = {"debias": settings["debias"], "instead": instead}
    ranks = []
    for spec in boards:
        removed = removed_biases(spec, biases, **chosen)
        ranks += leaderboards(spec, tables, removed, replicates=settings["replicates"], **level)
    of_main = next(iter(estimable_specs(specs, ["main"], tables, instead=instead)), main)
    removed = removed_biases(of_main, biases, **chosen)
    calibration = write_debiased(of_main, tables, removed, outputs["debiased"])
    reliabilities = read_table(reliability)
    powers = power_rows(main, tables, reliabilities, **settings["power"], confidence=confidence)
    written = {
        "leaderboard": (LEADERBOARD, ranks),
        "calibration": (CALIBRATION, calibration),
        "judgments": (JUDGMENTS, judgment_rows(of_main, tables, estimates, removed)),
        "power": (POWER, powers),
    }
    write_tables(outputs, written, study=tables.name)


def conclude(
    *,
    study: str,
    inputs: Mapping[str, str | Sequence[str]],
    settings: Mapping,
    outputs: Mapping[str, str],
) -> None:
    """Say which conclusions hold in the robustness checks, and give the verdicts.

    inputs: table -> its path, or the paths of its parts; settings: `Study.conclusions_settings`.
    """
    checks = RobustnessCheck.from_config(settings["checks"])
    reasons, order = read_table(inputs["not_estimable"]), settings["order"]
    read = {check.table: _rows(inputs[check.table]) for check in checks}
    tables = Tables(read, reasons, read_table(inputs["wordings"]))
    confidence = settings["confidence"]
    robustness = Robustness(checks, settings["specs"], confidence, settings["power"])
    asked = robustness.for_tables(tables, reasons, instead=settings["instead"])
    rows = list(conclusions(asked, tables, order=order))
    judges = rating_judges(read_table(inputs["completeness"]), order["self_bias"])
    correlations = read_table(inputs["correlations"])
    verdicts = verdicts_on_ratings(
        rows,
        judges,
        correlation_by_judge(correlations),
        with_others=correlation_by_judge(correlations, WITH_OTHERS),
        reliability=mean_reliability(read_table(inputs["reliability"])),
        checks=settings["verdict"],
        confidence=confidence,
    )
    written = {"conclusions": (CONCLUSIONS, rows), "verdicts": (VERDICTS, verdicts)}
    write_tables(outputs, written, study=study)


def recommend_panel(
    *,
    tables: StudyTables,
    reliability: str,
    verdicts: str,
    panels: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    """Recommend a panel of judges, and how to deal answers to them."""
    reliabilities = {row["dimension"]: float(row["mean"]) for row in read_table(reliability)}
    judges = linked_judges(tables, dimensions=panels.get("dimensions", ()))
    rows = panel_rows(
        judges,
        tables,
        reliabilities,
        read_table(verdicts),
        least=panels["least"],
        confidence=confidence,
    )
    dealt = round_robin_rows(judges, tables, rows)
    written = {"panel": (PANEL, rows), "round_robin": (ROUND_ROBIN, dealt)}
    write_tables(outputs, written, study=tables.name)


def _rows(paths: str | Sequence[str]) -> list[dict]:
    """The rows of a table, or of several in a list."""
    return [
        row for path in ([paths] if isinstance(paths, str) else paths) for row in read_table(path)
    ]
