# What a job asks of a cluster: more at each attempt, so that one killed for want of memory or time is made by a later one.
# On one machine nothing is limited by it. Every job has one thread.

# A megabyte of raw CSV asks for so many megabytes and minutes more, up to so much at the first attempt.
GROWTH = {"mem_mb": 8, "runtime": 0.02}
MOST = {"mem_mb": 32_000, "runtime": 720}
COMPRESSION = 8  # as CSV, parquet or gzip is about so many times its size


def asks(*, mem_mb, runtime):
    """Megabytes and minutes of a job at its first attempt, as much again at each further one."""
    return {
        "mem_mb": lambda wildcards, attempt: attempt * mem_mb,
        "runtime": lambda wildcards, attempt: attempt * runtime,
    }


def asks_by_size(*, mem_mb, runtime, megabytes=lambda wildcards: raw_megabytes(wildcards.study)):
    """The same for a job that reads every row of a study: more where its raw files, or so many megabytes of them, are large."""

    def of(resource, least):
        def amount(wildcards, attempt):
            grown = least + GROWTH[resource] * megabytes(wildcards)
            return attempt * int(max(least, min(grown, MOST[resource])))

        return amount

    return {"mem_mb": of("mem_mb", mem_mb), "runtime": of("runtime", runtime)}


def raw_megabytes(study):
    """What the raw files of a study take, or would as CSV; nothing for those that are still to be fetched or simulated.

    Not the size of a rule's input, which is not there yet when a cluster job of many rules is planned.
    """
    if is_imported(study):
        return megabytes_of(imported_files(study))
    return megabytes_of(verdict_files(study) if study in COMPARISONS else [path for path, _ in raw_of(study)])


def megabytes_of(paths):
    """The same of some files and folders."""
    files = [file for path in map(Path, paths) for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    return sum(file.stat().st_size * (1 if file.suffix == ".csv" else COMPRESSION) for file in files) / 1e6
