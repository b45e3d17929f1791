"""Scores in the files of other tools, each read from its published format; the docstrings name
repository and commit.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from recuse.base.database import Connection
from recuse.base.log import warn
from recuse.data.registry import HUMAN
from recuse.imports.inspect_logs import LETTERS, log_records, read_inspect
from recuse.imports.logs import CODE, YES_NO, Log, Node, failure, one, present
from recuse.imports.registry import GOLD_LABELS
from recuse.imports.rows import ImportedRows
from recuse.imports.words import fault, noted

MODEL_GRADED = {
    "llm-rubric",
    "g-eval",
    "factuality",
    "model-graded-factuality",
    "model-graded-closedqa",
    "search-rubric",
    "pi",
    "answer-relevance",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "conversation-relevance",
    "agent-rubric",
}
SAMPLES_OF_TASK = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d:.-]+\.jsonl")
# Reasons of promptfoo's graders that give a failed judgment the score 0; earlier versions have no
# `graderError`.
UNGRADED = re.compile(
    "No output$|Could not extract JSON from|[a-z-]+ produced malformed response|API (call )?error"
)
OLD_WORDS = {"AI_JUDGE"}  # for who gave a score, of earlier versions of MLflow
ERROR = 2  # failureReason of promptfoo: the answer or the judgment failed


def read_promptfoo(log: Log, records: Sequence[Node]) -> None:
    """Read the components of each result (`promptfoo eval -o results.json` or .jsonl); manual
    grades are human scores.

    The judge is the provider of the assertion, else of its test, else of all tests; the model is
    the result's provider. A test of several model-graded assertions without a metric is as many
    prompts. Grader errors and results without a grade are missing. Source: promptfoo/promptfoo,
    0011eb0 (src/types/index.ts).
    """
    config, results = records[0].get("config"), records
    if "results" in records[0].fields:
        listed = records[0]["results"]
        if not isinstance(listed.value, list):  # as of version 3
            listed = listed["results"]
        results = [*listed.entries(records=True)]
    prompts = present(results, "testIdx", "vars")
    for result in log.each(results):
        test, prompt = result.get("testCase"), result.get(prompts).words
        if result.get("promptIdx").words not in (None, "0"):
            prompt = f"{prompt}, prompt {result['promptIdx'].words}"
        places = [test, config.get("defaultTest")]
        graders = [place.get("options.provider") for place in places]
        unnamed = 0
        for assertion, part in _graded(result):
            kind = (assertion["type"].text if assertion else None) or "no assertion"
            by = HUMAN if kind == "human" else None
            if by is None and kind.removeprefix("not-") not in MODEL_GRADED:
                log.left_out[kind] += 1
                continue
            metric, item = assertion.get("metric").text, prompt
            if by is None and metric is None:
                unnamed += 1
                item = prompt if unnamed == 1 else f"{prompt}, assertion {unnamed}"
            judges = filter(None, map(_label, (assertion.get("provider"), *graders)))
            failed = None if by else _grader_failure(part)
            if not part:
                failed = failure("result", result.get("error").words)
            log.add(
                result,
                part["score"] if not failed else part,
                failed=failed,
                model=_label(result["provider"]),
                prompt=item,
                dataset=test.get("metadata.dataset").text,
                scorer=kind,
                judge=next(judges, None),
                by=by,
                dimension=metric,
                reason=part.get("reason").words,
            )


def _graded(result: Node) -> Iterator[tuple[Node, Node]]:
    """Each assertion of a result with its grade: none of a result that failed as a whole."""
    parts = [*result["gradingResult"].get("componentResults").entries()]
    yield from ((part.get("assertion"), part) for part in parts)
    if not parts and result.get("failureReason").value == ERROR:
        asked = result.get("testCase.assert").entries()
        yield from ((assertion, result["gradingResult"].at("grade", None)) for assertion in asked)


def _grader_failure(part: Node) -> str | None:
    """Why a grade is none, if it is: a grader that fails gives 0, with its reason."""
    reason = part.get("reason").words or ""
    if part.get("metadata.graderError"):
        return "the grader failed (graderError)"
    return failure("grader", reason) if UNGRADED.match(reason) else None


def _label(provider: Node) -> str | None:
    """What a provider is called: its label or id, or itself."""
    if not isinstance(provider.value, dict):
        return provider.text
    return (
        provider.get("label").text
        or provider.get("id").text
        or (_label(provider["text"]) if provider.get("text") else None)
    )


def read_helm(log: Log, records: Sequence[Node]) -> None:
    """Read the annotations in scenario_state.json, of which per_instance_stats.json has only means,
    without the model.

    A judge is what an annotation calls it, such as `gpt`: `gpt_score`, or `gpt` with a score or
    several criteria; one without a name is the annotator. The dimension is the criterion, else the
    annotator. A judge without an annotation failed. Source: stanford-crfm/helm, 0b63075
    (annotation/model_as_judge.py), 054f998 (wildbench_annotator.py).
    """
    root = one(records, "states of a scenario are")
    model = root["adapter_spec"]["model"].name
    scored, judges, criteria = [], {}, {}  # of the last two, those of each annotator
    for state in log.each(root["request_states"].entries(records=True)):
        scores = {}
        for name, annotation in state.get("annotations").items():
            for judge, criterion, value in _annotated(name, annotation):
                scores[name, judge, criterion] = value
                judges.setdefault(name, {})[judge] = None
                criteria.setdefault(name, {})[criterion] = None
        scored.append((state, scores))
    # Each judge of an annotator is asked all its criteria.
    asked = [place for name in judges for place in product([name], judges[name], criteria[name])]
    for state, scores in scored:
        instance, trial = state["instance"], state.get("train_trial_index").text or "0"
        perturbation = instance.get("perturbation.name").text
        prompt = instance["id"].name
        prompt += f", trial {trial}" if trial != "0" else ""
        prompt += f", {perturbation}" if perturbation else ""
        for name, judge, criterion in asked:
            place = name, judge, criterion
            log.add(
                state,
                scores.get(place, state),
                failed=None if place in scores else "no annotation",
                model=model,
                prompt=prompt,
                scorer=judge,
                judge=judge,
                dimension=criterion or log.dimension(name),
                annotator=name,
            )


def _annotated(name: str, annotation: Node) -> Iterator[tuple[str, str | None, Node]]:
    """Each judge and criterion (None if there is one) of an annotation, with the score."""
    for key, value in annotation.items():
        if key == "score" or key.endswith("_score"):
            yield name if key == "score" else key.removesuffix("_score"), None, value
        elif isinstance(value.value, dict):
            criteria = {None: value} if "score" in value.fields else dict(value.items())
            for criterion, inner in criteria.items():
                if isinstance(inner.value, dict):
                    yield key, criterion, inner["score"]


def read_mlflow(log: Log, records: Sequence[Node]) -> None:
    """Read the feedback on traces, of which each says whether a judge or a human gave it.

    A judge's feedback that a human has overridden still is the judge's; what the judge has
    corrected is left out. The judge is the id of the source, the dimension the name, the prompt
    `client_request_id`, else the request; the model is the tag or metadata `model`, else
    `mlflow.modelId`. Feedback by code is none, unless config's `judge` names it.
    Source: mlflow/mlflow, 02ff24a (entities/assessment.py), 0206e55 (entities/trace_info.py).
    """
    traces = [(trace, trace.get("info") or trace) for trace in log.each(records)]
    infos = [info for _, info in traces]
    prompts = present(infos, "client_request_id", "request_preview", "request")
    for trace, info in traces:
        metadata = info.get("trace_metadata", "request_metadata").get("model", "mlflow.modelId")
        assessments = [*info.get("assessments").entries()]
        corrected = {
            other.get("overrides").text
            for other in assessments
            if other["source"]["source_type"].value != "HUMAN"
        } - {None}
        for assessment in assessments:
            if assessment.get("expectation") or assessment.get("assessment_id").text in corrected:
                continue
            feedback, source = assessment.get("feedback"), assessment["source"]
            error = feedback.get("error") or assessment.get("error")
            why = error.get("error_message", "error_code") or error
            who = source.get("source_id").text
            name = assessment.get("assessment_name", "name").name
            log.add(
                trace,
                feedback.get("value"),
                failed=failure("judge", why.words),
                model=(info.get("tags.model") or metadata).text,
                prompt=info.get(prompts).words,
                scorer=name,
                dimension=name,
                judge=None if who == "default" else who,
                by=_giver(
                    source["source_type"], LLM_JUDGE=None, AI_JUDGE=None, HUMAN=HUMAN, CODE=CODE
                ),
                rater=who,
                rationale=assessment.get("rationale").words,
            )


def _giver(kind: Node, **givers: str | None) -> str | None:
    """Who gave a score, HUMAN, CODE or a judge (None), by the tool's word for it."""
    word = kind.text
    if word not in givers:
        raise kind.fault("no_giver", words=[word for word in givers if word not in OLD_WORDS])
    return givers[word]


def read_phoenix(log: Log, records: Sequence[Node]) -> None:
    """Read annotations of spans or traces, or those of an experiment's runs; each says whether an
    LLM, a human or code gave it.

    An annotation names neither model nor judge: config does, by `columns` and `judge`; the prompt
    is the example of a run. A score counts, else a label. Source: Arize-ai/phoenix, 06408b9
    (server/api/routers/v1/annotations.py).
    """
    for record in log.each(_page_records(records, bool(records[0].get("next_cursor")))):
        annotations, prompt = [(record, record.get("result"))], None
        if "annotations" in record.fields:
            annotations = [(each, each) for each in record["annotations"].entries()]
            prompt = record["example_id"].name
            repetition = record.get("repetition_number").text or "1"
            prompt += "" if repetition == "1" else f", repetition {repetition}"
        for annotation, result in annotations:
            name = annotation["name"].name
            log.add(
                record,
                result.get("score", "label"),
                failed=failure("judge", annotation.get("error").words),
                prompt=prompt,
                scorer=name,
                dimension=name,
                by=_giver(annotation["annotator_kind"], LLM=None, HUMAN=HUMAN, CODE=CODE),
                rater=annotation.get("user_id", "identifier").text,
                explanation=result.get("explanation").words,
            )


def _page_records(records: Sequence[Node], several: bool) -> Sequence[Node]:
    """The records of a page, with a warning if it is one of several; others as they are."""
    if len(records) != 1 or "data" not in records[0].fields:
        return records
    if several:
        warn(noted("one_page", path=records[0].path))
    return [*records[0]["data"].entries(records=True)]


def read_langfuse(log: Log, records: Sequence[Node]) -> None:
    """Read scores, alone or in their traces, by source: EVAL (a judge), ANNOTATION (a human) or, if
    `judge` lists them, API.

    The dimension is the name. In a trace, the prompt is its input and the model that of its
    generations; alone, config names both, by `columns`. Source: langfuse/langfuse, 6137e82 and
    d93d107 (fern/apis/server/definition: legacy/scores-v2, commons).
    """
    pages = records[0].get("meta.totalPages").value
    for record in log.each(_page_records(records, pages not in (None, 0, 1))):
        scores, models, prompt = [record], set(), None
        if "scores" in record.fields:
            scores, prompt = record["scores"].entries(), record.get("input").words
            generations = record.get("observations").entries()
            models = {generation.get("model").text for generation in generations} - {None}
        for score in scores:
            kind, name = score.get("dataType").text, score["name"].name
            by = _giver(score["source"], EVAL=None, ANNOTATION=HUMAN, API=CODE)
            if kind in ("TEXT", "CORRECTION"):
                log.left_out[name] += 1
                continue
            label = score.get("stringValue", "value")
            unlabelled = kind == "CATEGORICAL" and not isinstance(label.value, str)
            log.add(
                record,
                label if kind == "CATEGORICAL" else score["value"],
                failed="a category without its label" if unlabelled else None,
                model=min(models) if len(models) == 1 else None,
                prompt=prompt,
                scorer=name,
                dimension=name,
                by=by,
                rater=score.get("authorUserId").text,
                comment=score.get("comment").words,
            )


def read_deepeval(log: Log, records: Sequence[Node]) -> None:
    """Read the metrics of each test case; the judge is the evaluation model, the dimension the
    metric, the prompt the input.

    The model is that of the hyperparameters, if it is there. Metrics without an evaluation model
    are none, unless config's `judge` names them. Source: confident-ai/deepeval, 08080fc
    (test_run/api.py), 6f417f9 (inspect/fixtures).
    """
    root = one(records, "results of a test run are")
    model = root.get("hyperparameters.model").text
    for key in ("testCases", "test_results", "conversationalTestCases"):
        for case in log.each(root.get(key).entries(records=True)):
            prompt = case.get("name" if key == "conversationalTestCases" else "input").words
            for metric in case.get("metricsData", "metrics_data").entries():
                name, error = metric["name"].name, metric.get("error").words
                judge = metric.get("evaluationModel", "evaluation_model").text
                listed = isinstance(log.judges, Mapping) and name in log.judges
                log.add(
                    case,
                    metric.get("score") if error else metric["score"],
                    failed=failure("metric", error),
                    model=model,
                    prompt=prompt,
                    scorer=judge if judge and not listed else name,
                    judge=judge,
                    by=None if judge else CODE,
                    dimension=name,
                    reason=metric.get("reason").words,
                )


def read_lm_eval(log: Log, records: Sequence[Node]) -> None:
    """Read a metric of samples_<task>_<date>.jsonl as gold labels: its only one, or the one that
    `columns: rating` names.

    With a filter it is `metric,filter`, as in the tool's results. The model is the folder, in which
    `__` stands for /, the dataset the task. Source: EleutherAI/lm-evaluation-harness, 5b321a1
    (lm_eval/evaluator.py).
    """
    metrics = [*dict.fromkeys(name for record in records for name in _metrics(record))]
    wanted = log.columns.get("rating", metrics[0] if len(metrics) == 1 else None)
    if wanted not in metrics:
        raise fault(log.path, "metrics", metrics=metrics)
    path = Path(log.path)
    task = SAMPLES_OF_TASK.fullmatch(path.name)
    model = path.parent.name.replace("__", "/", 1) if "__" in path.parent.name else None
    for record in log.each(records):
        if wanted in _metrics(record):
            log.add(
                record,
                record[wanted.partition(",")[0]],
                model=model,
                prompt=record["doc_id"].name,
                dataset=task[1] if task else None,
                scorer=wanted,
                by=GOLD_LABELS,
            )


def _metrics(record: Node) -> list[str]:
    """The metrics of a sample, with the filter if it has one other than `none`."""
    names = [metric.text or "" for metric in record.get("metrics").entries()]
    chosen = record.get("filter").text
    return [name if chosen in (None, "none") else f"{name},{chosen}" for name in names]


class Tool(NamedTuple):
    """How the files of a tool are read."""

    read: Callable[[Log, Sequence[Node]], None]
    keys: Mapping[str, str]  # column of the table -> the key of a record that messages name
    # Numbers of words; Langfuse, Phoenix and HELM write numbers for these
    grades: Mapping[str, str] = YES_NO

    def __call__(
        self, connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
    ) -> ImportedRows:
        """Read the ratings, human scores and gold labels in a file; DataError naming file, entry
        and key.
        """
        log = Log(path, settings, scales, self.grades)
        self.read(log, log_records(connection, path))
        return log.rows(connection, self.keys)


TOOLS = {
    "inspect": Tool(
        read_inspect,
        {"rating": "value", "prompt_id": "id", "dimension": "scorer", "model": "eval.model"},
        YES_NO | LETTERS,
    ),
    "promptfoo": Tool(
        read_promptfoo,
        {
            "rating": "score",
            "prompt_id": "testIdx",
            "model": "provider",
            "judge": "assertion.provider",
        },
    ),
    "helm": Tool(
        read_helm,
        {"rating": "score", "prompt_id": "instance.id", "model": "adapter_spec.model"},
        {},
    ),
    "mlflow": Tool(
        read_mlflow,
        {"rating": "feedback.value", "judge": "source.source_id", "dimension": "name"},
    ),
    "phoenix": Tool(read_phoenix, {"rating": "score", "dimension": "name"}, {}),
    "langfuse": Tool(read_langfuse, {"rating": "value", "dimension": "name"}, {}),
    "deepeval": Tool(
        read_deepeval,
        {"rating": "score", "judge": "evaluationModel", "prompt_id": "input", "dimension": "name"},
    ),
    "lm_eval": Tool(read_lm_eval, {"rating": "metric", "prompt_id": "doc_id"}),
}
