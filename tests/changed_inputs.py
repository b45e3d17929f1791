"""Random changes of files, times, code and settings between the runs of a tiny study, each run
compared with one from nothing.
"""

import os
import random
import shutil

import yaml

from snakemake_forks import forked
from workflow_runs import copy_project, products

TABLES = ("mean_scores", "correlations", "agreement", "imported", "completeness")
RESULTS = ["results/tiny/raters.parquet", *(f"results/tiny/tables/{name}.csv" for name in TABLES)]
JUDGED, HUMAN, CONFIG = "judged.csv", "human.csv", "tiny.yaml"
CODE = [f"workflow/lib/recuse/{name}.py" for name in ("data/describe", "imports/rows")]
PAST = (1e9, 1.7e9)
SETTINGS = (("confidence", 0.9), ("confidence", 0.8), ("scales", [1, 10]), ("scales", [0, 20]))


def rows(kind, variant):
    """A file of ratings or of human scores; its variants have the same size."""
    draw, models = random.Random(f"{kind} {variant}"), ("gpt-4.1", "claude-4", "other")
    if kind == JUDGED:
        lines = [
            f"{j},{m},{i},{draw.randint(1, 9)}" for i in range(9) for j in models for m in models
        ]
        return "\n".join(["judge,model,prompt,rating", *lines, ""])
    lines = [f"{m},{i},{draw.randint(1, 9)},{draw.randint(1, 9)}" for i in range(9) for m in models]
    return "\n".join(["model,prompt,first,second", *lines, ""])


class Walk:
    """A tiny study that changes from run to run."""

    def __init__(self, seed, folder):
        self.draw, self.folder, self.fresh = random.Random(seed), folder / "walk", folder / "fresh"
        self.code = dict.fromkeys(CODE, 0)
        self.files = {JUDGED: 0, HUMAN: 0}  # their variants
        self.settings = {"confidence": 0.9, "scales": [1, 10]}
        self.runs_from_nothing: dict[str, dict[str, bytes]] = {}
        for each in (self.folder, self.fresh):
            each.mkdir()
            copy_project(each)
        self.sources = {path: (self.folder / path).read_text("utf-8") for path in CODE}
        self.write_all(self.folder)

    def write_all(self, folder):
        """Write the present files, settings and code into a folder."""
        for name, variant in self.files.items():
            (folder / name).write_text(rows(name, variant), "utf-8")
        for path in CODE:
            self.write_code(folder, path)
        self.write_settings(folder)

    def write_code(self, folder, path):
        """Write the present version of a module."""
        (folder / path).write_text(self.sources[path] + f"# {self.code[path]}\n", "utf-8")

    def write_settings(self, folder):
        """Write the configuration."""
        references = {"files": HUMAN, "columns": {"rating": ["first", "second"]}}
        tiny = {
            "title": "a tiny study",
            "import": {"files": JUDGED, "references": references},
            "scales": {"quality": self.settings["scales"]},
            "families": {"GPT": ["gpt-4.1"], "Claude": ["claude-4"], "Other": ["other"]},
        }
        config = {"confidence": self.settings["confidence"], "studies": {"tiny": tiny}}
        (folder / CONFIG).write_text(yaml.safe_dump(config), "utf-8")

    def change(self):
        """Change something, at random; returns what."""
        kinds = "replace replace set edit_code touch remove forget"
        return getattr(self, self.draw.choice(kinds.split()))()

    def replace(self):
        """Other rows in a file, of the same size and often of the same or another time, in its
        place or under its name.
        """
        name = self.draw.choice([JUDGED, HUMAN])
        self.files[name] = (self.files[name] + self.draw.randint(1, 2)) % 3
        path, new = self.folder / name, self.folder / "new"
        new.write_text(rows(name, self.files[name]), "utf-8")
        time = self.draw.choice([path.stat().st_mtime, *PAST, new.stat().st_mtime])
        os.utime(new, (time, time))
        replacing = self.draw.choice([shutil.copy2, os.replace])
        replacing(new, path)
        return f"{name} replaced ({replacing.__name__}, time {time})"

    def set(self):
        """Another setting."""
        key, value = self.draw.choice(SETTINGS)
        self.settings[key] = value
        self.write_settings(self.folder)
        return f"{key}: {value}"

    def edit_code(self):
        """Another version of a module, of any time."""
        path = self.draw.choice(CODE)
        self.code[path] = self.draw.randint(0, 1)
        self.write_code(self.folder, path)
        return f"{path} edited, {self.touch([path])}"

    def touch(self, paths=(JUDGED, HUMAN, *CODE)):
        """Another time of a file of data or of code."""
        path, time = self.draw.choice(paths), self.draw.choice(PAST)
        os.utime(self.folder / path, (time, time))
        return f"{path} touched ({time})"

    def remove(self):
        """A result goes."""
        path = self.draw.choice([path for path in self.results() if "made" not in path.parts])
        path.unlink()
        return f"{path.relative_to(self.folder)} removed"

    def results(self):
        """The files of the study, logs too."""
        return [
            path for path in sorted((self.folder / "results" / "tiny").rglob("*")) if path.is_file()
        ]

    def forget(self):
        """The memory of digests goes or is damaged."""
        memory = self.folder / ".snakemake" / "digests.json"
        if self.draw.random() < 0.5:
            memory.unlink(missing_ok=True)
            return "memory removed"
        memory.write_text(self.draw.choice(["", "{}", "{", '{"a": [1]}']), "utf-8")
        return "memory damaged"

    def run(self, folder, *targets):
        """Build the targets; AssertionError if that fails."""
        arguments = ["--nocolor", "--cores", "1", *targets, "--configfile", CONFIG]
        result = forked(arguments, cwd=folder, env=dict(os.environ), timeout=300)
        assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]

    def step(self):
        """Some changes, at times a run of a part, and a run; AssertionError if results are not
        those of a run from nothing.
        """
        changes = [self.change() for _ in range(self.draw.randint(1, 3))]
        if self.draw.random() < 0.3:
            part = self.draw.choice(
                ["results/tiny/raw/ratings.parquet", "results/tiny/cells.parquet", RESULTS[0]]
            )
            self.run(self.folder, part)
            changes += [f"run of {part}", self.touch()]
        self.run(self.folder, *RESULTS)
        results, expected = products(self.folder), self.expected()
        # Others need not be made again
        absent = [path for path in RESULTS if path.removeprefix("results/") not in results]
        wrong = absent + [path for path in results if results[path] != expected.get(path)]
        assert wrong == [], (changes, wrong)
        return "; ".join(changes)

    def expected(self, *targets):
        """The results of a run from nothing with the present files, settings and code; of these
        targets alone, if any.
        """
        state = repr((self.files, self.settings, self.code, targets))
        if state not in self.runs_from_nothing:
            for path in self.fresh.glob("*.csv"):
                path.unlink()
            for name in ("results", ".snakemake"):
                shutil.rmtree(self.fresh / name, ignore_errors=True)
            self.write_all(self.fresh)
            self.run(self.fresh, *(targets or RESULTS))
            self.runs_from_nothing[state] = products(self.fresh)
        return self.runs_from_nothing[state]


def walk(seed, steps, folder):
    """Take a walk; AssertionError at the first wrong result."""
    walker = Walk(seed, folder)
    walker.run(walker.folder, *RESULTS)
    for number in range(steps):
        print(number, walker.step(), flush=True)
