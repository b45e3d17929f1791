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
    from recuse.data.cells import build_cells
    from recuse.data.files import RatingsFile
    from recuse.data.ratings import StudyFiles, normalise_ratings
    from recuse.data.registry import Registry
    from recuse.papers.twin import published_world
    from recuse.papers.values import JUDGES, read_files
    from recuse.simulate.ratings import simulate

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
    normalise_ratings(
        STUDY,
        source,
        ratings=f"{folder}/ratings.parquet",
        completeness=f"{folder}/completeness.csv",
    )
    build_cells(f"{folder}/ratings.parquet", f"{folder}/cells.parquet")
