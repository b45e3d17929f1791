import duckdb
import pytest

from recuse.data.describe import HUMAN, mean_scores


def test_mean_scores_equal_means_over_rows(twin):
    frame = duckdb.sql(f"select * from '{twin.ratings[0]}'").df()
    rows = list(mean_scores(twin.cells()))
    assert len(rows) == 7 * 10 * 9
    for row in rows:
        part = frame[frame["model"] == row["model"]]
        part = part if row["dimension"] == "" else part[part["dimension"] == row["dimension"]]
        part = part if row["judge"] == HUMAN else part[part["judge"] == row["judge"]]
        column = "gt_unit" if row["judge"] == HUMAN else "rating_unit"
        assert row["mean"] == pytest.approx(part[column].mean(), abs=1e-12)
        assert row["n"] == len(part)


def test_cells_lose_no_row(twin):
    cells = twin.cells()
    counted = duckdb.sql(f"""select dimension, judge, model, gt, rating, count(*) as n from '{twin.ratings[0]}'
                             group by all order by all""").fetchall()
    keys = [cells.factor("dimension"), cells.factor("judge"), cells.factor("model"), cells.reference_raw]
    from_cells = {}
    for place in range(len(cells.n)):
        for rating, n in zip(cells.ratings, cells.counts[place], strict=True):
            key = (*(column[place] for column in keys), rating)
            from_cells[key] = from_cells.get(key, 0) + int(n)
    assert {tuple(row[:5]): row[5] for row in counted} == {key: n for key, n in from_cells.items() if n}
