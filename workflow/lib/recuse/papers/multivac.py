"""The Multivac's files to raw ratings: models that judge each other's answers on five criteria and
a weighted score.

Source: github.com/themultivac/multivac-evaluation (MIT licence),
data/peer_matrix/<evaluation>/results.json.
"""

from collections.abc import Iterator, Sequence

from recuse.base.database import Connection, connect, footer, reader, text, write_rows
from recuse.base.tables import write_table
from recuse.data.files import SOURCE
from recuse.data.registry import IMPORTED, IMPORTED_SCALES
from recuse.imports.rows import FAILURE

SCORE = "Score"
# Dimension -> the field of a judgment, and the steps of its ratings; Score is .25 correctness + .2
# completeness + .2 clarity + .2 depth + .15 usefulness.
DIMENSIONS = {
    SCORE: ("weighted_score", 0.05),
    "Correctness": ("correctness", 1),
    "Completeness": ("completeness", 1),
    "Clarity": ("clarity", 1),
    "Depth": ("depth", 1),
    "Usefulness": ("usefulness", 1),
}
HIGHEST = 10  # of every dimension; the lowest is 0
RESPONSE = {"model_key": "varchar", "response": "varchar"}
JUDGMENT = {"judge_key": "varchar", "respondent_key": "varchar", "error": "varchar"} | {
    field: "double" for field, _ in DIMENSIONS.values()
}
SELF = "self_judgment_excluded"
BY_DESIGN = "left out by design: the judge's own answer"
NO_ANSWER = "0 on every criterion, which the authors count as no score"
LONGEST = 60  # characters of a message
# In malformed JSON, which differs from message to message
PLACE = r": line \d+ column \d+ \(char \d+\)$"


def read_multivac(study: str, paths: Sequence[str], *, ratings: str, imported: str) -> None:
    """Write the raw ratings of the evaluations in `paths` (parquet), and the table of what they
    hold.

    A question is a prompt and an evaluation an occasion of it; judges and models are named by their
    keys, and length is words. A judge does not rate its own answers, which makes no row; a failed
    judgment has no rating but a `failure`, the message without the place in malformed JSON. There
    are no human scores. Ratings are whole numbers of the steps of DIMENSIONS, which the footer
    states.
    """
    connection = connect()
    fields = {"evaluation_id": "varchar", "question_id": "varchar", "category": "varchar"}
    fields |= {"responses": f"{_struct(RESPONSE)}[]", "judgments": f"{_struct(JUDGMENT)}[]"}
    columns = (
        "{" + ", ".join(f"{text(field)}: {text(kind)}" for field, kind in fields.items()) + "}"
    )
    evaluations = reader("read_json", paths, columns=columns, filename="true", format="'auto'")
    connection.execute(f"create temp table evaluations as select * from {evaluations}")
    words = r"length(string_split_regex(trim(response), '\s+')) * (trim(response) <> '')::integer"
    unscored = " and ".join(f"{field} = 0" for field, _ in DIMENSIONS.values())
    message = f"coalesce(nullif(regexp_replace(trim(error), {text(PLACE)}, ''), ''), 'no message')"
    message = f"'failed: ' || left({message}, {LONGEST})"
    connection.execute(
        f"""
        create temp table judgments as
        with judged as (
                 select filename, evaluation_id, question_id, category, unnest(judgments, recursive := true),
                        unnest(range(1, len(judgments) + 1)) as record
                 from evaluations),
             answers as (
                 select evaluation_id, model_key as respondent_key, {words} as words
                 from (select evaluation_id, unnest(responses, recursive := true) from evaluations))
        select judged.*, words,
               case when error = {text(SELF)} then {text(BY_DESIGN)} when error is not null then {message}
                    when {unscored} then {text(NO_ANSWER)} end as {FAILURE}
        from judged left join answers using (evaluation_id, respondent_key) order by filename, record"""
    )
    rows = " union all ".join(
        f"""select judge_key as judge, respondent_key as model, null::double as gt, category as dataset,
                   question_id as prompt_id, evaluation_id as occasion,
                   if({FAILURE} is null, round({field} / {step}), null)::integer as rating, words as pred_length,
                   {text(dimension)} as dimension, {FAILURE}, filename as {SOURCE[0]}, record as {SOURCE[1]}
            from judgments where {FAILURE} is distinct from {text(BY_DESIGN)}"""
        for dimension, (field, step) in DIMENSIONS.items()
    )
    scales = {dimension: [0, round(HIGHEST / step)] for dimension, (_, step) in DIMENSIONS.items()}
    steps = {dimension: step for dimension, (_, step) in DIMENSIONS.items()}
    write_rows(
        connection, rows, ratings, footer(IMPORTED_SCALES, {"scales": scales, "steps": steps})
    )
    write_table(imported, IMPORTED, ({"study": study, **row} for row in _counts(connection)))


def _struct(fields: dict[str, str]) -> str:
    return f"struct({', '.join(f'{field} {kind}' for field, kind in fields.items())})"


def _counts(connection: Connection) -> Iterator[dict]:
    """Yield what the files hold: evaluations, questions, slots of a judge and an answer, and why
    slots have no score.
    """
    judged = "from (select *, filename as first from evaluations)"
    queries = {
        "evaluations": f"select count(*), min(first) {judged}",
        "evaluations without judgments": (
            f"select count(*), min(first) {judged} where coalesce(len(judgments), 0) = 0"
        ),
        "questions with judgments": (
            f"select count(distinct question_id), min(first) {judged} where len(judgments) > 0"
        ),
        "slots of a judge and an answer": "select count(*), min(filename) from judgments",
        "scores": f"select count(*), min(filename) from judgments where {FAILURE} is null",
    }
    for kind, query in queries.items():
        yield dict(
            zip(
                ("kind", "n", "example"), (kind, *connection.execute(query).fetchone()), strict=True
            )
        )
    failures = f"""
        select {FAILURE}, count(*) as n, min(filename) from judgments where {FAILURE} is not null
        group by all order by n desc, {FAILURE}"""
    for row in connection.execute(failures).fetchall():
        yield dict(zip(("kind", "n", "example"), row, strict=True))
