"""Whether the results of a study belong together: every file is read again and compared with the
records of the jobs.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recuse.base.digests import ABSENT
from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT
from recuse.workflow.digests import file_digests
from recuse.workflow.records import differences, read_record, record_path

NO_RESULTS = ("logs", "benchmarks", "made")  # folders of a study


class Fault(NamedTuple):
    """A result, or several of one job, and why it does not belong to the others."""

    path: str
    problem: str


def verify(study: str, configfiles: Sequence[str]) -> tuple[int, list[Fault]]:
    """The number of results of a study, and what is wrong with them.

    Results that only their path asks for, such as tables/crosscheck.csv, count if they are there.
    Raises ConfigError if the study is unknown or has no results, or if Snakemake, which plans the
    study as for a run, is not installed.
    """
    folder = Path("results", study)
    if study not in (path.name for path in Path("results").glob("*/")):
        raise ConfigError(
            f"'{study}': found no such folder in {Path.cwd() / 'results'}; name a study that has"
            " been built"
        )
    jobs = {record_path(job.log[0]): job for job in planned_jobs(study, configfiles)}
    for path in sorted(folder.glob("made/*.json")):
        present = [output for output in read_record(path)["outputs"] if Path(output).exists()]
        if path not in jobs and present:
            jobs |= {
                record_path(job.log[0]): job for job in _jobs_of_result(present[0], configfiles)
            }
    return sum(len(job.output) for job in jobs.values()), [*faults(jobs), *_unknown(folder, jobs)]


def planned_jobs(target: str, configfiles: Sequence[str]) -> list[Any]:
    """The jobs that make a target from nothing, as Snakemake plans them, with their files, log and
    params.
    """
    try:
        from snakemake.api import SnakemakeApi
        from snakemake.exceptions import RuleException, WorkflowError
        from snakemake.settings.types import (
            ConfigSettings,
            DAGSettings,
            OutputSettings,
            Quietness,
            ResourceSettings,
        )
    except ImportError as error:
        raise ConfigError(
            "verify: Snakemake, which plans the study, is not installed here"
        ) from error
    try:
        settings = ConfigSettings(
            config={"hash_always": True}, configfiles=list(map(Path, configfiles))
        )
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            workflow = api.workflow(
                snakefile=PROJECT / "Snakefile",
                config_settings=settings,
                resource_settings=ResourceSettings(cores=1),
            )
            workflow.dag(
                DAGSettings(targets={target}, forceall=True, force_incomplete=True)
            ).execute_workflow(executor="dryrun")
            return [job for job in workflow._workflow.dag.jobs if job.output]
    except (WorkflowError, RuleException, OSError) as error:
        raise ConfigError(str(error)) from error


def _jobs_of_result(path: str, configfiles: Sequence[str]) -> list[Any]:
    try:
        return planned_jobs(path, configfiles)
    except ConfigError:  # its rule or setting no longer exists
        return []


def faults(jobs: Mapping[Path, Any]) -> Iterator[Fault]:
    """What is wrong with the results of these jobs. jobs: path of the record -> job."""
    records = {path: read_record(path) for path in jobs if path.exists()}
    written = {
        output: digest
        for record in records.values()
        for output, digest in record["outputs"].items()
    }
    now = file_digests(
        sorted({str(file) for job in jobs.values() for file in (*job.input, *job.output)}),
        always=True,
    )
    for path, job in sorted(jobs.items()):
        outputs = [str(output) for output in job.output if Path(output) != path]
        present = [output for output in outputs if now[output] != ABSENT]
        temporary = {str(output) for output in job.output if output.flags.get("temp")}
        yield from (
            Fault(output, "is not there")
            for output in outputs
            if output not in present and output not in temporary
        )
        name = f"{present[0]} and {len(present) - 1} more" if present[1:] else "".join(present)
        if present and path not in records:
            yield Fault(name, f"has no record ({path})")
        elif present:
            record = records[path]
            changed = (output for output in present if now[output] != record["outputs"].get(output))
            yield from (
                Fault(output, f"is not what the rule {record['rule']} wrote") for output in changed
            )
            yield from (
                Fault(name, reason) for reason in differences(job, record, {**now, **written})
            )


def _unknown(folder: Path, jobs: Mapping[Path, Any]) -> Iterator[Fault]:
    """Files in a study's folder that none of its jobs writes."""
    outputs = {str(output) for job in jobs.values() for output in job.output}
    for path in sorted(folder.rglob("*")):
        if (
            path.is_file()
            and path.relative_to(folder).parts[0] not in NO_RESULTS
            and str(path) not in outputs
        ):
            yield Fault(str(path), "is written by no rule of this study")
