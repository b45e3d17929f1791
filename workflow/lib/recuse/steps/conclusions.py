"""Rank the models without the biases; tabulate power, which conclusions hold in all checks,
verdicts, and panels.
"""

from collections.abc import Mapping, Sequence

from recuse.base.tables import read_table, write_table
from recuse.data.describe import agreement_with_people
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
    estimates: Sequence[str],
    idiosyncrasy: str,
    reliability: str,
    specs: Mapping,
    settings: Mapping,
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    """Rank the models, tabulate what each ranking rests on, and how small a bias would be found."""
    main = Spec.of("main", **specs["main"])
    level, instead = {"confidence": confidence, "seed": seed}, settings["without_human_scores"]
    boards = estimable_specs(specs, settings["leaderboard"], tables.scored, instead=instead)
    fitted = [row for path in estimates for row in read_table(path)]
    biases = fitted if settings["debias"] == REGRESSION else read_table(idiosyncrasy)
    chosen = {"debias": settings["debias"], "instead": instead}
    ranks = []
    for spec in boards:
        removed = removed_biases(spec, biases, **chosen)
        ranks += leaderboards(spec, tables, removed, replicates=settings["replicates"], **level)
    write_table(outputs["leaderboard"], LEADERBOARD, ranks, study=tables.name)
    of_main = next(iter(estimable_specs(specs, ["main"], tables, instead=instead)), main)
    removed = removed_biases(of_main, biases, **chosen)
    calibration = write_debiased(of_main, tables, removed, outputs["debiased"])
    write_table(outputs["calibration"], CALIBRATION, calibration, study=tables.name)
    write_table(
        outputs["judgments"],
        JUDGMENTS,
        judgment_rows(of_main, tables, fitted, removed),
        study=tables.name,
    )
    power(
        tables=tables,
        reliability=reliability,
        main=specs["main"],
        settings=settings["power"],
        confidence=confidence,
        power=outputs["power"],
    )


def power(
    *,
    tables: StudyTables,
    reliability: str,
    main: Mapping,
    settings: Mapping,
    confidence: float,
    power: str,
) -> None:
    """Tabulate how small a self-bias would be found, in this study and in larger ones."""
    spec = Spec.of("main", **main)
    rows = power_rows(spec, tables, read_table(reliability), **settings, confidence=confidence)
    write_table(power, POWER, rows, study=tables.name)


def conclude(
    *,
    study: str,
    inputs: Mapping[str, str | Sequence[str]],
    checks: Mapping,
    verdict: Mapping[str, str],
    specs: Mapping,
    confidence: float,
    power: float,
    instead: Mapping,
    order: Mapping,
    outputs: Mapping[str, str],
) -> None:
    """Say which conclusions hold in the robustness checks, and give the verdicts.

    inputs: table -> its path, or the paths of its parts.
    """
    checks, reasons = RobustnessCheck.from_config(checks), read_table(inputs["not_estimable"])
    read = {check.table: _rows(inputs[check.table]) for check in checks}
    tables = Tables(read, reasons, read_table(inputs["wordings"]))
    asked = Robustness(checks, specs, confidence, power).for_tables(
        tables, reasons, instead=instead
    )
    rows = list(conclusions(asked, tables, order=order))
    write_table(outputs["conclusions"], CONCLUSIONS, rows, study=study)
    judges = rating_judges(read_table(inputs["completeness"]), order["self_bias"])
    verdicts = verdicts_on_ratings(
        rows,
        judges,
        agreement_with_people(read_table(inputs["correlations"])),
        reliability=mean_reliability(read_table(inputs["reliability"])),
        checks=verdict,
        confidence=confidence,
    )
    write_table(outputs["verdicts"], VERDICTS, verdicts, study=study)


def panel(
    *,
    tables: StudyTables,
    reliability: str,
    verdicts: str,
    settings: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    """Recommend a panel of judges, and how to deal answers to them."""
    reliabilities = {row["dimension"]: float(row["mean"]) for row in read_table(reliability)}
    judges = linked_judges(tables, dimensions=settings.get("dimensions", ()))
    rows = panel_rows(
        judges,
        tables,
        reliabilities,
        read_table(verdicts),
        least=settings["least"],
        confidence=confidence,
    )
    write_table(outputs["panel"], PANEL, rows, study=tables.name)
    write_table(
        outputs["round_robin"],
        ROUND_ROBIN,
        round_robin_rows(judges, tables, rows),
        study=tables.name,
    )


def conclusion_tables(
    *,
    tables: StudyTables,
    fitted: Sequence[str],
    idiosyncrasy: str,
    reliability: str,
    inputs: Mapping[str, str | Sequence[str]],
    ranking: Mapping,
    settings: Mapping,
    panels: Mapping,
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    """Write the tables of all three."""
    shared = {"tables": tables, "reliability": reliability}
    level = {"confidence": confidence, "outputs": outputs}
    rank(**shared, estimates=fitted, idiosyncrasy=idiosyncrasy, **ranking, seed=seed, **level)
    conclude(study=tables.name, inputs=inputs, **settings, **level)
    panel(**shared, verdicts=outputs["verdicts"], settings=panels, **level)


def _rows(paths: str | Sequence[str]) -> list[dict]:
    """The rows of a table, or of several in a list."""
    return [
        row for path in ([paths] if isinstance(paths, str) else paths) for row in read_table(path)
    ]
