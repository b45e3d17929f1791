"""Long steps report their progress: in lines at intervals, and by a bar on a terminal."""

import io
import pickle
import sys
import time

import pytest

from recuse.base.errors import DataError
from recuse.base.log import EVERY, duration, steps, warn
from recuse.workflow.job_log import is_explained, logged


def lines(capsys, seconds, items, **settings):
    """The lines printed when each item takes so many seconds."""
    times = iter(seconds * number for number in range(10_000))
    assert list(
        steps(items, "bootstrap", unit="draws", clock=lambda: next(times), **settings)
    ) == list(items)
    return capsys.readouterr().err.splitlines()


def test_line_shows_progress_and_time_left(capsys):
    text = lines(capsys, 1.0, range(0, 9_999, 1_000), total=9_999, size=lambda _: 1_000)
    assert text == ["bootstrap: 5,000 of 9,999 draws, about 5 s left"]
    assert lines(capsys, 2 * EVERY, [3, 4, 5], size=lambda item: item, total=12) == [
        "bootstrap: 3 of 12 draws, about 30 s left",
        "bootstrap: 7 of 12 draws, about 14 s left",
    ]


def test_quick_step_says_nothing(capsys):
    assert lines(capsys, EVERY / 11, range(10)) == []


def test_lines_are_seconds_apart(capsys):
    assert len(lines(capsys, 0.1, range(1_000))) == pytest.approx(100 / EVERY, abs=1)


def test_without_a_total_only_progress_is_printed(capsys):
    assert lines(capsys, EVERY, [b"ab", b"c"], size=len, total=0) == [
        "bootstrap: 2 draws so far",
        "bootstrap: 3 draws so far",
    ]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (119, "119 s"), (120, "2 min"), (7_199, "120 min"), (9_000, "2 h")],
)
def test_time_left_has_a_fitting_unit(seconds, said):
    assert duration(seconds) == said


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_on_a_terminal_disappears_at_the_end(monkeypatch):
    pytest.importorskip("tqdm", reason="needs tqdm, as in envs/requirements.txt")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("recuse.base.log.PATIENCE", 0.0)
    monkeypatch.setenv("COLUMNS", "100")
    assert list(
        steps(range(0, 999, 100), "bootstrap", unit="draws", total=999, size=lambda _: 100)
    ) == list(range(0, 999, 100))
    written = sys.stderr.getvalue()
    assert "bootstrap:   0%" in written
    assert "0.00/999" in written
    assert written.endswith("\r")
    assert "\n" not in written


def test_job_with_a_log_has_lines_and_a_bar(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "__stderr__", Terminal())
    monkeypatch.setattr("recuse.base.log.PATIENCE", 0.0)
    times = iter(EVERY * number for number in range(100))
    with logged(str(tmp_path / "job.log")):
        assert list(steps(range(3), "bootstrap", unit="draws", clock=lambda: next(times))) == [
            0,
            1,
            2,
        ]
    text = (tmp_path / "job.log").read_text("utf-8").splitlines()
    assert text == [
        "bootstrap: 1 of 3 draws, about 10 s left",
        "bootstrap: 2 of 3 draws, about 5 s left",
    ]
    assert "bootstrap:   0%" in sys.__stderr__.getvalue()


def test_nothing_is_printed_to_a_closed_standard_error(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(sys, "__stderr__", None)
    assert list(steps(range(3), "bootstrap", unit="draws")) == [0, 1, 2]
    assert capsys.readouterr().out == ""


def test_a_name_in_an_error_is_no_command_to_the_terminal_and_no_line_of_its_own(tmp_path, capsys):
    with pytest.raises(SystemExit), logged(str(tmp_path / "job.log")):
        raise DataError("found 'a\x1b[2J\nerror: b\u202e'", "second line")
    message = "error: found 'a⟨U+001B⟩[2J⟨U+000A⟩error: b⟨U+202E⟩'\nsecond line\n"
    assert capsys.readouterr().err == ""
    assert (tmp_path / "job.log").read_text("utf-8") == message


def test_a_step_that_fails_by_itself_explains_it_until_it_runs_again(tmp_path):
    log = str(tmp_path / "job.log")
    assert not is_explained(log, since=0)
    with pytest.raises(SystemExit), logged(log):
        raise DataError("found none")
    assert is_explained(log, since=0)
    assert not is_explained(log, since=time.time() + 60)  # An earlier run left it.
    with logged(log):
        assert not is_explained(log, since=0)


def test_a_name_in_a_warning_is_no_command_to_the_terminal(capsys):
    warn("a\x1b[2J\n.csv")
    assert "warning: a⟨U+001B⟩[2J⟨U+000A⟩.csv\n" in capsys.readouterr().err


def test_an_error_is_the_same_when_it_comes_from_another_process():
    error = DataError("a\x07", "b")
    assert (
        str(pickle.loads(pickle.dumps(error)))
        == str(DataError(str(DataError("a\x07")), "b"))
        == "a⟨U+0007⟩\nb"
    )
