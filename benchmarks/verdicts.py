"""From 1e5 to 1e7 verdicts on pairs of answers: seconds and peak memory of the loader of
comparisons.

    python benchmarks/verdicts.py 1e5 1e6 1e7 [--memory-limit 1GB]

A raw parquet file, five judges and ten models, both orders of every pair, is checked and written as
comparisons.parquet, as by the rule `comparisons`, once. The data are made in a temporary folder
(TMPDIR says where it is).
"""

from processes import measure, print_machine, print_table, run_step_or, step_from

# A row for each item, pair of models, order and judge; the outcome depends on the models, the order
# and chance.
VERDICTS = """
    with place as (select i // 450 as item, i % 450 // 10 as pair, i % 10 // 5 as turned, i % 5 as judge
                   from range(0, {rows}) t(i)),
         models as (select row_number() over (order by a, b) - 1 as pair, a, b
                    from range(0, 10) t(a), range(0, 10) u(b) where a < b),
         rows as (select *, (hash(item * 45 + pair) % 100)::integer - 50 + 5 * (b - a) + 10 * turned
                         + (hash(item + judge) % 30)::integer as sum
                  from place join models using (pair))
    select 'judge ' || judge as judge, 'item ' || lpad(item::varchar, 7, '0') as item,
           'model ' || a as model_a, 'model ' || b as model_b, if(turned = 0, 'ab', 'ba') as "order",
           if(sum > 5, 'a', if(sum < -5, 'b', 'tie')) as outcome,
           20 + hash(item * 10 + a) % 300 as length_a, 20 + hash(item * 10 + b) % 300 as length_b
    from rows"""


def make(rows: str, folder: str, memory_limit: str) -> None:
    """Write the raw parquet file."""
    from recuse.base.database import bounded, connect, text

    with bounded("4GB", f"{folder}/spill"):
        filled = VERDICTS.format(rows=int(float(rows)))
        connect().execute(
            f"copy ({filled}) to {text(f'{folder}/raw.parquet')} (format parquet, compression zstd)"
        )


def load(rows: str, folder: str, memory_limit: str) -> None:
    """Check the verdicts and write them as canonical comparisons."""
    from recuse.base.database import bounded
    from recuse.pairwise.table import normalise

    paths = {
        "comparisons": f"{folder}/comparisons.parquet",
        "completeness": f"{folder}/completeness.csv",
    }
    with bounded(memory_limit, f"{folder}/spill"):
        normalise(
            "grown",
            [f"{folder}/raw.parquet"],
            both_orders=True,
            declared={},
            models={},
            **paths,
        )


def main() -> None:
    """Measure every number of rows and print the table."""
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="+", help="numbers of rows, rising, such as 1e6")
    parser.add_argument("--memory-limit", default="1GB")
    given = parser.parse_args()
    print_machine()
    table = []
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as folder:
            measure(step_from(__file__, "make", rows, folder, given.memory_limit))
            now = measure(step_from(__file__, "load", rows, folder, given.memory_limit))
        numbers = (
            f"{now.wall:.2f}",
            f"{now.processor:.2f}",
            f"{float(rows) / now.wall:,.0f}",
            f"{now.peak:.0f}",
        )
        table.append((f"{float(rows):.0e}", *numbers))
    print_table(("verdicts", "s", "cpu s", "rows/s", "peak MiB"), table)


if __name__ == "__main__":
    run_step_or(main, {"make": make, "load": load})
