"""Do the tables of comparisons find what was planted, and do their intervals have nominal
coverage?
"""

from collections import Counter

import numpy as np
import pytest

from picked_rows import fields, where
from planted_comparisons import BIASED, recovered
from recuse.inference.gold import BOTH, CASES_OF_PAIRS
from recuse.simulate.pairwise import declared_comparisons, planted_biases, simulate_comparisons
from recuse.simulate.recovery import recovery_of_biases
from recuse.simulate.votes import join
from text_tables import csv_rows, lines

REPLICATES = 150
AT_ONCE = 50
NOMINAL = 0.9

TABLES = {
    "position": csv_rows("""
experiment,condition,judge,statistic,value,ci_low,ci_high,n
,order,J,consistency,0.7,0.6,0.8,50
other,order,J,consistency,0.9,0.85,0.95,40
,compassion,J,consistency,0.5,,,9
"""),
    "cognitive_biases": csv_rows("""
experiment,judge,bias,share,ci_low,ci_high,n
e,J,bandwagon,0.2,0.1,0.3,7
f,J,bandwagon,0.4,0.1,0.3,7
"""),
    "asr": csv_rows("""
experiment,condition,judge,model_b,asr,ci_low,ci_high,n
e,rich_content,J,second,0.1,0,1,1
f,rich_content,J,second,0.2,0,1,2
e,rich_content,J,third,0.3,0,1,3
"""),
    "verbosity": csv_rows("""
experiment,condition,judge,order,draws,verbosity_bias,ci_low,ci_high,n_shorter,n_longer
,order,J,debiased,half,0.1,-1,1,3,4
,order,J,debiased,excluded,0.2,-1,1,3,4
,order,J,ab,excluded,0.3,-1,1,3,4
"""),
    "gold": [
        {"quantity": "self_bias", "term": "J", "baseline": BOTH, "case": case, "estimate": "0.1"}
        | {"ci_low": "0", "ci_high": "1", "n": "8"}
        for case in CASES_OF_PAIRS
    ],
}
# Experiment, condition, model_b and value of what is planted; estimate, n, whether it is inside,
# quantity
FOUND = """
-      order         -       0.6              0.7  50  yes  consistency
-      order         -       0.8              0.7  50  yes  consistency
-      order         -       0.59             0.7  50  no   consistency
-      order         -       0.81             0.7  50  no   consistency
-      order         -       0.599999999999   0.7  50  yes  consistency
-      order         -       0.800000000001   0.7  50  yes  consistency
-      compassion    -       0.5              0.5  9   -    consistency
other  order         -       0.9              0.9  40  yes  consistency
third  order         -       0.9              -    -   -    consistency
-      order         -       0.5              -    -   -    first_both
e      order         -       0.2              0.2  7   yes  bandwagon
f      order         -       0.2              0.4  7   yes  bandwagon
e      rich_content  second  0.5              0.1  1   yes  asr
f      rich_content  second  0.5              0.2  2   yes  asr
e      rich_content  third   0.5              0.3  3   yes  asr
-      order         -       0.2              0.2  7   yes  verbosity_bias debiased excluded
"""
OF_KEYS = [["-", "order", "-", "0.1", "0.1", "8", "yes", case] for case in CASES_OF_PAIRS]


def planted_row(experiment, condition, model_b, planted, *quantity):
    return {
        "experiment": experiment,
        "condition": condition,
        "judge": "J",
        "model_b": model_b,
        "quantity": " ".join(quantity),
        "planted": planted,
    }


@pytest.mark.parametrize("line", [*lines(FOUND), *OF_KEYS], ids=" ".join)
def test_what_is_planted_is_compared_with_the_row_that_it_is_about(line):
    *key, estimate, n, inside = ["" if each == "-" else each for each in line[:7]]
    (row,) = recovery_of_biases([planted_row(*key, *line[7:])], **TABLES)
    assert row["planted"] == float(line[3])
    numbers = [float(each) if each else None for each in (estimate, n)]
    assert [row.get(name) for name in ("estimate", "n", "inside")] == [*numbers, inside or None]
    if estimate == "0.7":
        assert fields(row, "ci_low ci_high") == (0.6, 0.8)


def test_without_the_table_there_is_no_row():
    planted = planted_row("", "order", "", "0.5", "bandwagon")
    assert list(recovery_of_biases([planted], position=TABLES["position"])) == []


@pytest.mark.long
def test_intervals_have_nominal_coverage(tmp_path):
    """Each replicate is a judge with answers and questions of its own; many share one table, to be
    quick.
    """
    rows = []
    for start in range(0, REPLICATES, AT_ONCE):
        parts = []
        planted = []
        for seed in range(start, start + AT_ONCE):
            judge = f"judge {seed}"
            models = [judge, "A", "B", "C"]
            world = declared_comparisons(
                {"models": models, "judges": {judge: BIASED}, "questions": 60}
            )
            parts.append(simulate_comparisons(world, seed=seed))
            planted += planted_biases(world)
        rows += recovered(join(parts), planted, tmp_path)
    inside = Counter(fields(row, "condition quantity") for row in where(rows, inside="yes"))
    assert len(rows) == 34 * REPLICATES
    assert len(inside) == 34
    slack = 3 * np.sqrt(NOMINAL * (1 - NOMINAL) / REPLICATES)
    bootstrapped = []
    for (_, quantity), count in inside.items():
        rate = count / REPLICATES
        assert rate >= NOMINAL - slack, quantity
        # Exact intervals are conservative: their coverage is nominal or more
        if quantity != "asr":
            assert rate <= NOMINAL + slack, quantity
            bootstrapped.append(rate)
    assert NOMINAL - 0.03 < np.mean(bootstrapped) < NOMINAL + 0.02
