"""What the data of a study are, by where they come from, and what stands in for files that are not there."""

import pytest

from conftest import CONFIG
from recuse.config.origins import kind_of, kind_of_verdicts, origin_of_verdicts, with_stand_ins


def test_kind_of_a_study_is_where_its_ratings_come_from():
    kinds = {name: kind_of(study) for name, study in CONFIG["studies"].items()}
    published = {"play_favorites": "published", "play_favorites_2d": "published"}
    assert kinds == {"twin": "simulated", "helm_instruct": "simulated", **published}
    assert kind_of({"files": "mine.csv"}) == "user"


@pytest.mark.parametrize("files", ["a.csv", {"Tone": "a.csv", "Style": "b.csv"}])
def test_stand_in_stands_in_for_files_that_are_not_there(files):
    study = {"title": "my ratings", "files": files, "simulate": {"prompts": 12}, "scales": {}}
    others = {"twin": CONFIG["studies"]["twin"]}
    paths = {"a.csv", "b.csv"} if isinstance(files, dict) else {"a.csv"}
    settled = with_stand_ins({**others, "mine": study}, paths.__contains__)
    assert settled == {**others, "mine": {key: value for key, value in study.items() if key != "simulate"}}
    if isinstance(files, dict):  # one of them there: the other is missed when the study is built, not simulated
        assert kind_of(with_stand_ins({"mine": study}, {"b.csv"}.__contains__)["mine"]) == "user"
    stand_in = with_stand_ins({"mine": study}, set().__contains__)["mine"]
    assert stand_in["title"] == "simulated stand-in for my ratings"
    assert (kind_of(stand_in), "files" in stand_in) == ("simulated", False)


@pytest.mark.parametrize(
    ("study", "origin", "kind"),
    [
        ({"files": "v.csv"}, "files", "user"),
        ({"source": "judgement_bias", "files": "v.csv"}, "files", "user"),
        ({"source": "judgement_bias", "simulate": {}}, "simulate", "simulated"),
        ({"source": "prd"}, "source", "published"),
        ({"source": "cobbler"}, None, "published"),
    ],
)
def test_origin_and_kind_of_verdicts(study, origin, kind):
    assert (origin_of_verdicts(study), kind_of_verdicts(study)) == (origin, kind)


@pytest.mark.parametrize("there", ["a.csv", "b.csv", None])
def test_any_file_of_the_users_takes_the_stand_ins_place(there):
    study = {"title": "votes", "source": "judgement_bias", "files": ["a.csv", "b.csv"], "simulate": {}}
    settled = with_stand_ins({"s": study}, lambda path: path == there)["s"]
    assert ("simulate" in settled, "files" in settled) == (there is None, there is not None)
    assert settled["title"] == ("simulated stand-in for votes" if there is None else "votes")
