"""From 1e5 to 1e8 rows: seconds, rows per second and peak memory of whole processes.

    python benchmarks/growth.py 1e5 1e6 1e7 1e8 [--clustered] [--runs 5] [--memory-limit 512MB]
    [--plot benchmarks/growth.svg]

Two steps for each number of rows: a raw parquet file checked and written as ratings.parquet, once;
and from that to the table of Equation 1, by way of the cells, median of the runs; with --clustered
also with errors clustered by prompt. The data are made in a temporary folder, which takes 5 GB for
1e8 rows (TMPDIR says where it is).
"""

from collections.abc import Mapping, Sequence

from processes import (
    ONE_THREAD,
    Measured,
    in_turn,
    measure,
    medians,
    print_machine,
    print_table,
    run_step_or,
    step_from,
)
from twin import collapse

FAMILIES = ("Claude", "GPT", "Llama 3", "Mistral")
MODELS = {f"{FAMILIES[number % 4]} {number}": FAMILIES[number % 4] for number in range(9)}
DIMENSIONS = (
    "Completeness",
    "Conciseness",
    "Faithfulness",
    "Helpfulness",
    "Logical correctness",
    "Understandability",
)
DATASETS = ("chatbot arena", "helm instruct", "mt-bench", "stanford", "summeval", "wildbench")
# A row for each prompt, model, judge and dimension; the human score is a mean of three, and the
# judge's own answers gain.
ROWS = """
    with place as (select i, i // 486 as p, i % 486 // 54 as m, i % 54 // 6 as j, i % 6 as d from range(0, {rows}) as t(i)),
         human as (select *, (hash(p * 1000 + m * 10 + d) % 13)::integer as thirds, hash(i) % 1000 / 1000 as chance from place)
    select {models}[j + 1] as judge, {models}[m + 1] as model, {dimensions}[d + 1] as dimension,
           {datasets}[p % 6 + 1] as dataset, {datasets}[p % 6 + 1] || '-' || lpad(p::varchar, 7, '0') as prompt_id,
           1 + thirds / 3 as gt, 20 + hash(p * 9 + m) % 600 as pred_length,
           1 + round(greatest(0, least(4, thirds / 3 + 3 * chance - 1.5 + (if(j = m, 0.4, 0)))))::integer as rating
    from human"""
CHECK, ERRORS = "check", {"HC0": "estimates", "CR1": "estimates, clustered by prompt"}
WORDS = {CHECK: "check of the raw rows", **ERRORS}
# Okabe and Ito's colours
LOOKS = {CHECK: ("#000000", "s", ":"), "HC0": ("#0072B2", "o", "-"), "CR1": ("#D55E00", "^", "--")}
FLAT_FROM = 1e6  # rows from which the memory is to stay flat


def make(rows: str, folder: str, memory_limit: str) -> None:
    """Write the raw parquet file."""
    from recuse.base.database import bounded, connect, text

    lists = {"models": list(MODELS), "dimensions": DIMENSIONS, "datasets": DATASETS}
    filled = ROWS.format(
        rows=int(float(rows)),
        **{key: f"[{', '.join(map(text, names))}]" for key, names in lists.items()},
    )
    with bounded(memory_limit, f"{folder}/spill"):
        connect().execute(
            f"copy ({filled}) to {text(f'{folder}/raw.parquet')} (format parquet, compression zstd)"
        )


def check(rows: str, folder: str, memory_limit: str) -> None:
    """Check the raw ratings and write them as canonical ones, as the rule `ratings` does."""
    from recuse.base.database import bounded
    from recuse.data.files import RatingsFile
    from recuse.data.ratings import StudyFiles, normalise_ratings
    from recuse.data.registry import Registry

    registry = Registry.from_config({name: {"family": family} for name, family in MODELS.items()})
    source = StudyFiles(
        [RatingsFile(f"{folder}/raw.parquet")], dict.fromkeys(DIMENSIONS, (1, 5)), {}, registry
    )
    with bounded(memory_limit, f"{folder}/spill"):
        normalise_ratings(
            "grown",
            source,
            ratings=f"{folder}/ratings.parquet",
            completeness=f"{folder}/completeness.csv",
        )


def estimate(rows: str, folder: str, memory_limit: str, covariance: str) -> None:
    """Collapse the canonical ratings into cells and fit Equation 1, as the rules `cells` and `fit`
    do.
    """
    from recuse.base.database import bounded
    from recuse.base.tables import write_table
    from recuse.data.study import StudyTables
    from recuse.model.estimates import ESTIMATES, estimate
    from recuse.model.spec import Spec

    with bounded(memory_limit, f"{folder}/spill"):
        collapse(folder)
        study = StudyTables("grown", f"{folder}/cells.parquet", [f"{folder}/ratings.parquet"])
        found = estimate(Spec.of("main", covariance=covariance), study, confidence=0.9)
    write_table(f"{folder}/{covariance}.csv", ESTIMATES, found.estimates)


def measured_at(
    rows: str, covariances: Sequence[str], *, runs: int, memory_limit: str
) -> dict[str, Measured]:
    """Make the rows and measure each step on them."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        arguments = rows, folder, memory_limit
        measure(step_from(__file__, "make", *arguments))
        found = {CHECK: measure(step_from(__file__, CHECK, *arguments))}
        commands = {
            covariance: step_from(__file__, "estimate", *arguments, covariance)
            for covariance in covariances
        }
        return found | {
            name: medians(measured)
            for name, measured in in_turn(commands, runs, environment=ONE_THREAD).items()
        }


def lines(found: Mapping[float, Mapping[str, Measured]], step: str) -> list[list[str]]:
    """One line of the table for each number of rows."""
    table, before = [], None
    for rows, steps in found.items():
        now = steps[step]
        more = f"{(now.wall - before[1]) / (rows - before[0]) * 1e6:.4f}" if before else ""
        numbers = (
            f"{now.wall:.2f}",
            f"{now.processor:.2f}",
            f"{rows / now.wall:,.0f}",
            more,
            f"{now.peak:.0f}",
        )
        table.append([WORDS[step], f"{rows:.0e}", *numbers])
        before = rows, now.wall
    return table


def draw(found: Mapping[float, Mapping[str, Measured]], steps: Sequence[str], path: str) -> None:
    """Draw seconds and peak memory by number of rows."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    with matplotlib.rc_context({"svg.hashsalt": "growth", "svg.fonttype": "none"}):
        for axes, number, label in zip(
            figure.subplots(1, 2), ("wall", "peak"), ("time (s)", "peak memory (MiB)"), strict=True
        ):
            for step in steps:
                colour, marker, style = LOOKS[step]
                values = [getattr(each[step], number) for each in found.values()]
                axes.plot(
                    list(found),
                    values,
                    color=colour,
                    marker=marker,
                    linestyle=style,
                    label=WORDS[step],
                )
            axes.set(xscale="log", xlabel="ratings (rows)", ylabel=label)
            if number == "wall":
                axes.set_yscale("log")
            else:
                axes.set_ylim(bottom=0)  # so that flat looks flat
            axes.grid(visible=True, alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        figure.legend(
            *axes.get_legend_handles_labels(),
            loc="outside upper center",
            ncols=len(steps),
            frameon=False,
        )
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main() -> None:
    """Measure every number of rows, print the table, draw the plot."""
    import argparse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="+", help="numbers of rows, rising, such as 1e6")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--memory-limit", default="512MB")
    parser.add_argument(
        "--clustered", action="store_true", help="also with errors clustered by prompt"
    )
    parser.add_argument("--plot", help="where to draw seconds and memory by rows, .svg or .png")
    given = parser.parse_args()
    covariances = list(ERRORS) if given.clustered else ["HC0"]
    found = {
        float(rows): measured_at(
            rows, covariances, runs=given.runs, memory_limit=given.memory_limit
        )
        for rows in given.rows
    }
    print_machine()
    header = "step", "rows", "s", "cpu s", "rows/s", "s per 1e6 more rows", "peak MiB"
    print_table(header, [line for step in (CHECK, *covariances) for line in lines(found, step)])
    for covariance in covariances:
        peaks = [steps[covariance].peak for rows, steps in found.items() if rows >= FLAT_FROM]
        if len(peaks) > 1:
            print(
                f"{WORDS[covariance]}: peak memory from {FLAT_FROM:.0e} rows on, highest / lowest"
                f" {max(peaks) / min(peaks):.2f}"
            )
    if given.plot:
        draw(found, (CHECK, *covariances), given.plot)


if __name__ == "__main__":
    run_step_or(main, {"make": make, "check": check, "estimate": estimate})
