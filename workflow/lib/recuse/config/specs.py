"""Which specs a table beside the estimates is of, and what is told of them: params of its rule."""

from collections.abc import Iterable, Mapping, Sequence

from recuse.model.spec import in_place


def inference_params(config: Mapping, tables: Sequence[str], *keys: str, also: Iterable[str] = ()) -> dict[str, Mapping]:
    """Settings of `inference`, and specs, those that it names for these `tables`, `also`, and those that stand in their place.

    keys: of further settings. Stand-ins are told where `without_human_scores` is one of them.
    """
    settings = {key: config["inference"][key] for key in (*tables, *keys)}
    named = [*also, *(name for table in tables for name in settings[table])]
    named += in_place(named, settings.get("without_human_scores", {}))
    return {"settings": settings, "specs": {name: config["specs"][name] for name in named}}


def main_and_stand_in(config: Mapping) -> list[str]:
    """The spec main, and the one that stands in its place in a study without human scores."""
    return list(dict.fromkeys(["main", *in_place(["main"], config["inference"]["without_human_scores"])]))


def conclusions_params(config: Mapping) -> dict[str, object]:
    """The views of the conclusions, their specs with those that stand in their place, and by what they are judged."""
    views, instead = _views(config), config["inference"]["without_human_scores"]
    named = [spec for view in views.values() for spec in (*view["specs"], *in_place(view["specs"], instead))]
    return {
        "views": views,
        "specs": {spec: config["specs"][spec] for spec in named},
        "confidence": config["confidence"],
        "power": config["inference"]["planner"]["power"],
    }


def specs_of_views(config: Mapping) -> list[str]:
    """The specs whose estimates the views of the conclusions read, each once."""
    views = (view for view in _views(config).values() if view["table"] == "estimates")
    return list(dict.fromkeys(spec for view in views for spec in view["specs"]))


def tables_of_views(config: Mapping) -> list[str]:
    """The tables that the views of the conclusions read beside the estimates."""
    return sorted({view["table"] for view in _views(config).values()} - {"estimates"})


def _views(config: Mapping) -> dict[str, dict]:
    return {name: {"table": "estimates", **view} for name, view in config["inference"]["conclusions"].items()}
