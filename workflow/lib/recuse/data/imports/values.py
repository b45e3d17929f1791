"""Values on a scale, in the units of the files: what must hold of them, and how they become whole numbers of steps."""

from collections.abc import Mapping

import duckdb

from recuse.base.database import create_table
from recuse.data.faults import Check
from recuse.data.scales import OBSERVED, finest_step

NEAR = 1e-9  # of a step: values are decimals, steps may be 0.1
NEAREST = (
    " of `import` in config' || case when finest is null then '' else '; of scores with any digits, `step: ' || "
    "printf('%g', finest) || '` with `round: true`, which takes each to the nearest step' end"
)
OF_SCALE = "scale_low, scale_high, step, finest, coalesce(rounded, false) as rounded, coalesce(observed, false) as observed"


def create_scales(connection: duckdb.DuckDBPyConnection, scales: Mapping, settings: Mapping) -> None:
    """Create the table `declared` of the scales of config: dimension, and what OF_SCALE reads.

    settings: config's `import`. A scale that is observed goes from 0 to any value. finest is the finest step that these scales
    could have; rounded is whether a value between two steps is taken to the nearest one.
    """
    of_all = (settings.get("step", 1), finest_step(scales), settings.get("round", False))
    rows = (
        (dimension, 0, None, *of_all, True) if scale == OBSERVED else (dimension, *scale, *of_all, False)
        for dimension, scale in scales.items()
    )
    columns = "scale_low double, scale_high double, step double, finest double, rounded boolean, observed boolean"
    create_table(connection, "declared", f"dimension varchar, {columns}", rows)


def between_steps(column: str) -> str:
    """SQL for whether a number is none of steps (`step`)."""
    return f"abs({column} / step - round({column} / step)) > {NEAR}"


def in_steps(column: str, step: float) -> str:
    """SQL for a number in steps, without the dust of a division by 0.1."""
    return f"round({column} / {step!r}::double, 9)"


def whole(column: str, step: float) -> str:
    """SQL for a whole number of steps, the nearest one; between two, that farther from 0."""
    return f"round({in_steps(column, step)})"


def value_checks(column: str, *, stepped: bool = True, under: str = "`missing:`") -> tuple[Check, ...]:
    """What must hold of a value: a number, on the scale of its dimension, and, if `stepped`, a whole number of steps.

    Over a relation that has the column as text and as <column>_number, and OF_SCALE. A value that is to be rounded need not be
    one of steps. under: the key of config that may list values.
    """
    value = f"{column}_number"
    steps = " || case when step = 1 or rounded then '' else ' in steps of ' || printf('%g', step) end" if stepped else ""
    scale = f"""'write a number' || case when observed then ', 0 or more' else
                ' from ' || printf('%g', scale_low) || ' to ' || printf('%g', scale_high) end{steps}"""
    failed = f"{scale} || ', leave it empty if missing, or, if it stands for a failure, name it under {under} in config'"
    checks = (
        Check(column, f"{column} is not null and {value} is null", "which is not a number", failed, listed="missing"),
        Check(
            column,
            f"{value} is not null and not {value} between scale_low and coalesce(scale_high, 1e9 * least(step, 1))",
            "which is off the scale of the dimension",
            failed,
        ),
    )
    between = Check(
        column,
        f"not rounded and {between_steps(value)}",
        "which is between two steps of the scale",
        f"{scale} || ', or write the step under `step:`{NEAREST}",
    )
    return (*checks, between) if stepped else checks
