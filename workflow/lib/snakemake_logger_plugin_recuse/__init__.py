"""A logger plugin of Snakemake, `--logger recuse`: the terminal shows progress, warnings, and at
the end answers or failures.

It imports the rest of the library only at the end: until the Snakefile is read, another one than
its own may be found.
"""

import sys
import time
from logging import ERROR, INFO, LogRecord
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

FAILURES = (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR)
TENTHS = 10
SUMMARY = "summary.json"
MISSING_RULE = "MissingRuleException"


class LogHandler(LogHandlerBase):
    """Writes Snakemake's events to the terminal in short; its log in `.snakemake/log` has all of
    them.

    A dry run, `--verbose`, `--printshellcmds` and `--debug-dag` show everything as Snakemake does.
    """

    writes_to_stream = True
    writes_to_file = False
    has_filter = False  # Snakemake's own are used
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin a run."""
        settings = self.common_settings
        self._is_long = (
            settings.dryrun or settings.verbose or settings.printshellcmds or settings.debug_dag
        )
        self._stream = sys.stdout if settings.stdout else sys.stderr
        self._has_started = self._has_jobs = self._has_warned = False
        self._tenths, self._step, self._began = 0, "", time.monotonic()
        self._opened = time.time() - 1  # times of files may lag behind the clock
        # Messages before a run, which are the answer of commands such as --unlock
        self._before: list[str] = []
        self._outputs: dict[int, list[str]] = {}
        self._summaries: list[str] = []
        # Other errors, which only repeat what a job that failed says in its log, if it says any
        self._errors: list[str] = []
        self._is_mistyped = False  # whether a target is made by no rule
        self._failed: dict[str, list[str]] = {}

    def emit(self, record: LogRecord) -> None:
        """Write a message, keep it for the end, or leave it out."""
        event = getattr(record, "event", None)
        self._follow(event, record)
        if self._is_long:
            self._write(self.format(record))
        elif event in FAILURES:
            return
        elif record.levelno >= ERROR:
            self._is_mistyped |= getattr(record, "exception", "") == MISSING_RULE
            self._errors.append(self.format(record))
        elif record.levelno > INFO:
            self._write(self.format(record))
        elif event == LogEvent.PROGRESS and self._is_new_tenth(record):
            self._write(self._progress(record))
        elif event is None and not self._has_started:
            self._before.append(self.format(record))

    def _follow(self, event: LogEvent | None, record: LogRecord) -> None:
        """Note what the last lines depend on."""
        if event is not None:
            self._has_started = True
            self._before.clear()
        if event == LogEvent.RUN_INFO:
            self._has_jobs, self._began = True, time.monotonic()
        elif event == LogEvent.JOB_INFO:
            self._step = record.rule_msg or record.rule_name
            self._outputs[record.jobid] = [str(path) for path in record.output]
        elif event == LogEvent.JOB_FINISHED:
            self._summaries += [
                path for path in self._outputs.get(record.job_id, ()) if Path(path).name == SUMMARY
            ]
        elif event == LogEvent.JOB_ERROR:
            self._failed[record.rule_name] = [str(path) for path in record.log]
        elif event == LogEvent.GROUP_ERROR:
            for job in record.job_error_info:
                self._failed[job["rule_name"]] = [str(path) for path in job["log"]]
        elif record.levelno > INFO:
            self._has_warned = True

    def _is_new_tenth(self, record: LogRecord) -> bool:
        tenths = TENTHS * record.done // record.total
        is_new = tenths > self._tenths
        self._tenths = tenths
        return is_new

    def _progress(self, record: LogRecord) -> str:
        """How many steps are done, how long the others may take, and the one begun last."""
        words = f"{record.done} of {record.total} steps"
        if record.done < record.total:
            passed = time.monotonic() - self._began
            left = passed * (record.total - record.done) / record.done
            time_left = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
            words += f", about {time_left} left: {self._step}"
        return words

    def close(self) -> None:
        """Write the last lines: what failed, the answers of the reports that were written, or that
        nothing was to be done.
        """
        for line in [] if self._is_long else [*self._before, *self._last_lines()]:
            self._write(line)
        self.__post_init__()  # it is closed once more when Python ends
        super().close()

    def _last_lines(self) -> list[str]:
        from recuse.workflow.job_log import is_explained
        from recuse.workflow.terminal import answer_lines, failure_lines, mistyped_lines

        if self._failed:
            lines = [
                line for rule, logs in self._failed.items() for line in failure_lines(rule, logs)
            ]
            # A job that was killed or did not start says nothing itself
            are_explained = all(
                any(is_explained(log, since=self._opened) for log in logs)
                for logs in self._failed.values()
            )
            return lines if are_explained else [*lines, *self._errors]
        if self._errors:
            further = mistyped_lines(sys.argv[1:]) if self._is_mistyped else []
            return [*self._errors, *further]
        if self._has_started and not self._has_jobs and not self._has_warned:
            return ["Nothing to be done: all that was asked for is there and up to date."]
        return [line for path in sorted(self._summaries) for line in answer_lines(path)]

    def _write(self, text: str) -> None:
        if text:
            print(text, file=self._stream, flush=True)
