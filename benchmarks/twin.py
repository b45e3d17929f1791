"""The tables at the paper's size that the benchmarks read: those of the simulated twin, as the
workflow makes them.
"""

from processes import ROOT

STUDY = "twin"


def make_twin(folder: str) -> None:
    """Write raw.parquet, ratings.parquet, cells.parquet and completeness.csv of the twin into a
    folder.
    """
    import yaml

    from recuse.base.database import write_parquet
    from recuse.data.files import RatingsFile
    from recuse.data.ratings import StudyFiles
    from recuse.data.registry import Registry
    from recuse.papers.twin import published_world
    from recuse.papers.values import JUDGES, read_files
    from recuse.simulate.ratings import simulate
    from recuse.steps.ratings import normalise_study

    config = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    settings, models = config["studies"][STUDY], config["models"]
    families = {name: models[name]["family"] for name in JUDGES}
    world = published_world(
        read_files(ROOT / "workflow" / "data"), models=families, scales=settings["scales"]
    )
    prompts = settings["simulate"]["prompts"]
    write_parquet(
        simulate(world, prompts=prompts, seed=config["seed"]).ratings, f"{folder}/raw.parquet"
    )
    task_types = {
        dataset: task_type
        for task_type, datasets in settings["task_types"].items()
        for dataset in datasets
    }
    source = StudyFiles(
        [RatingsFile(f"{folder}/raw.parquet")],
        settings["scales"],
        task_types,
        Registry.from_config(models),
    )
    normalise_study(
        study=STUDY,
        source=source,
        ratings=f"{folder}/ratings.parquet",
        cells=f"{folder}/cells.parquet",
        completeness=f"{folder}/completeness.csv",
    )


def collapse(folder: str) -> None:
    """Collapse ratings.parquet of a folder into cells.parquet, as a single shard."""
    from recuse.data.cells import count_shard, gather_cells

    count_shard(f"{folder}/ratings.parquet", f"{folder}/counts.parquet")
    gather_cells([f"{folder}/counts.parquet"], f"{folder}/cells.parquet")
