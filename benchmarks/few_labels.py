"""How people would rank the models, and self-bias against people, from few human scores.

    python benchmarks/few_labels.py [--studies 400] [--biases] [--ratings results/play_favorites_2d]
    python benchmarks/few_labels.py --chosen [--studies 400]

Nine judges of four families rate one another's answers to 200 prompts in two dimensions; one judge
favours itself by .1 of the scale, the best model is better than the worst by .15, and ordinary
preferences have a standard deviation of .018, unless the world says otherwise. Answers have human
scores by prompt (all answers to some prompts), by row, or by prompts that are chosen in proportion
to exp(z) or exp(z / 2), z the prompt's standardised mean human score.

Printed for each world are: the share of models whose 90 % interval on the human scale contains
their true mean human score, with two standard errors, and the mean half-width in points of the unit
scale; the same by human scores alone, and by the ratings alone; the share of studies whose rank
sets contain all true ranks; and the share of studies that are refused, alone and with the models
that are covered in the others.

With --biases, and no ordinary preferences: the share of judges whose 90 % interval of the self-bias
A contains what Equation 1 gives for many prompts, with two standard errors, the mean half-width,
and both by the rows with human scores alone.

With --chosen, how estimates do if prompts were chosen and nothing refuses them: in proportion to
exp(z), or to exp(z) with z how much better, or worse, than other models' answers people find those
of the first judge's model. Printed are the share of studies that are refused; the shares, in all
studies, of 90 % intervals that contain the truth, of scores, of the differences of models next to
one another, of the first of these, and of A, of all judges and of the first.

With --ratings, 90 % of the human scores of a study are hidden by prompt, in 200 draws, and the
truth is the mean of all its human scores or, with --biases, A by all of them.
"""

import argparse
from dataclasses import replace

import numpy as np
from processes import print_table

from recuse.base.database import connect
from recuse.data.selection import EVERY_ROW
from recuse.data.study import StudyTables
from recuse.inference.human_scale import (
    AnswerScores,
    human_scale_means,
    read_answer_scores,
    refused_ranking,
)
from recuse.inference.leaderboard import as_people_rows, expanded, score_ranks
from recuse.model.fit import fitted_slices, with_biases
from recuse.model.least_squares import quantile
from recuse.model.spec import SELF, Spec
from recuse.model.stand_in import biases_of_all_ratings
from recuse.validation.world import DrawnStudy, MonteCarloWorld

CONFIDENCE, DRAWS, STUDIES = 0.9, 500, 400
BASE = {
    "families": [3, 2, 2, 2],
    "dimensions": 2,
    "prompts": 200,
    "intercept": 0.3,
    "slope": 0.5,
    "noise": 0.25,
    "preference": 0.018,
    "quality_gap": 0.15,
    "self_bias": [0.1, *[0.0] * 8],
}
BY_PROMPT = Spec.of("clustered", covariance="CR1")
SHIFT = 0.35  # of human scores that are cut off at the top of five levels
WORLDS = {
    "as described": {},
    "difficult prompts, reliability 0.6": {
        "difficulty": 0.08,
        "prompt_shock": 0.1,
        "reliability": 0.6,
    },
    "six dimensions": {"dimensions": 6},
    "own ratings missing": {"missing": 0.2},
    "judges that do not follow people": {"slope": 0.02, "intercept": 0.65},
    "human scores at the top": {"dimensions": 1, "noise": 0.2, "reliability": 0.7},
}
AT_TOP = "human scores at the top"
BETTER, WORSE = "first model better", "first model worse"
CHOSEN = ("exp(z)", BETTER, WORSE)
CHOSEN_WORLDS = {
    "as described": {},
    "difficult prompts that move ratings": WORLDS["difficult prompts, reliability 0.6"],
    "judges that do not follow people": WORLDS["judges that do not follow people"],
}
LABELS = [("by prompt", share) for share in (0.05, 0.1, 0.25, 1.0)]
LABELS += [("by row", share) for share in (0.05, 0.1, 0.25)]
LABELS += [(how, share) for how in ("exp(z / 2)", "exp(z)") for share in (0.05, 0.1, 0.25)]


def human_scores(name, study):
    """The human scores of a drawn study, (prompts, dimensions, models)."""
    human = study.reference
    return np.rint(np.clip(human + SHIFT, 0, 1) * 4) / 4 if name == AT_TOP else human


def make_answers(human, rating, present):
    """The answers of a drawn study; rating, present: (prompts, dimensions, judges, models)."""
    rating = rating if present is None else np.where(present, rating, np.nan)
    panel = np.nanmean(rating - np.nanmean(rating, axis=(0, 3), keepdims=True), axis=2)
    prompt, dimension, model = (axis.ravel() for axis in np.indices(human.shape))
    names = [np.array([str(number) for number in range(size)]) for size in human.shape[:0:-1]]
    return AnswerScores(prompt, model, dimension, human.ravel(), panel.ravel(), *names)


def is_scored(how, share, human, random):
    """Which answers keep their human score, (prompts, dimensions, models) of bool."""
    if how == "by row":
        return random.random(human.shape) < share
    prompts = len(human)
    count = max(10, round(share * prompts))
    chances = None
    if how != "by prompt":
        means = human.mean(axis=(1, 2))
        if how in (BETTER, WORSE):
            by_model = human.mean(axis=1)
            means = by_model[:, 0] - by_model[:, 1:].mean(axis=1)
            means = -means if how == WORSE else means
        z = (means - means.mean()) / means.std()
        weights = np.exp(z / 2 if how == "exp(z / 2)" else z)
        chances = weights / weights.sum()
    kept = np.zeros(prompts, dtype=bool)
    kept[random.choice(prompts, count, replace=False, p=chances)] = True
    return np.broadcast_to(kept[:, None, None], human.shape)


def compared(answers, truth, seed):
    """Coverage, half-width and joint coverage of ranks by both, then by human scores alone; None
    where the study is refused.
    """
    alone = replace(answers, panel=np.zeros(len(answers.panel)))
    numbers = []
    for each in (answers, alone):
        rows = list(as_people_rows(each, replicates=DRAWS, confidence=CONFIDENCE, seed=seed))
        kept = [row for row in rows if "score" in row]
        if len(kept) < len(rows):
            return None if len(numbers) == 0 else numbers[0] + [np.nan] * 3
        score, low, high, best, worst = (
            np.array([row[key] for row in rows])
            for key in ("score", "ci_low", "ci_high", "rank_low", "rank_high")
        )
        ranks = score_ranks(truth)
        covered = (low <= truth) & (truth <= high)
        in_sets = bool(((best <= ranks) & (ranks <= worst)).all())
        numbers.append([covered.mean(), np.mean(high - score), in_sets])
    return numbers[0] + numbers[1]


def by_ratings(rating, present, truth):
    """Coverage and half-width of the mean rating of a model as its human score."""
    rating = rating if present is None else np.where(present, rating, np.nan)
    by_prompt = np.nanmean(rating, axis=(1, 2))  # (prompts, models)
    prompts = len(by_prompt)
    error = by_prompt.std(axis=0) / np.sqrt(prompts)
    half = expanded(quantile(CONFIDENCE), prompts) * error
    return [np.mean(np.abs(by_prompt.mean(axis=0) - truth) <= half), half.mean()]


def share(values):
    """A mean in percent with two standard errors."""
    values = np.asarray(values, dtype=float)
    values = values[~np.isnan(values)]
    if not len(values):
        return "–"
    error = 200 * values.std() / np.sqrt(len(values))
    return f"{100 * values.mean():.1f} ± {error:.1f} %"


def ranking_row(name, how, kept, numbers, judges):
    """The row of a world for the table."""
    cells = [name, how]
    drawn = [each for each in numbers if each is not None]
    cells += [f"{100 * (1 - len(drawn) / len(numbers)):.0f} %"]
    cells += [share([1.0 if each is None else each[0] for each in numbers])]
    if not drawn:
        return [*cells, *["–"] * 7]
    both, half, ranks, alone, half_alone, _ = np.array(drawn, dtype=float).T
    cells += [share(both), f"{half.mean():.4f}", share(ranks)]
    cells += [share(alone), f"{np.nanmean(half_alone):.4f}"]
    return [*cells, *((judges and [share(judges[0]), f"{np.mean(judges[1]):.4f}"]) or ["–", "–"])]


def ranking_rows(studies):
    """Yield the rows of all worlds."""
    for name, dials in WORLDS.items():
        world = MonteCarloWorld(**BASE | dials)
        many = MonteCarloWorld(**BASE | dials | {"prompts": 20_000, "missing": 0.0})
        draws = (many.draw(np.random.default_rng((1, number))) for number in range(5))
        truth = np.mean([human_scores(name, each).mean(axis=(0, 1)) for each in draws], axis=0)
        for how, kept in LABELS:
            numbers, judges = [], []
            for number in range(studies):
                random = np.random.default_rng((2, number))
                study = world.draw(random)
                human = human_scores(name, study)
                scored = np.where(is_scored(how, kept, human, random), human, np.nan)
                answers = make_answers(scored, study.rating, study.present)
                numbers.append(compared(answers, truth, number))
                judges.append(by_ratings(study.rating, study.present, truth))
            yield ranking_row(
                name, f"{how}, {kept:.0%}", kept, numbers, list(zip(*judges, strict=True))
            )


def with_panel(study, rows):
    """Some rows of a drawn study, with the mean rating of an answer in place of its human score."""
    rated = present_in(study)
    panel = (study.rating * rated).sum(axis=2) / np.maximum(rated.sum(axis=2), 1)
    return replace(study, present=rows, raters=panel[..., None])


def present_in(study):
    """Which rows of a drawn study have a rating, (prompts, dimensions, judges, models)."""
    everywhere = np.ones(study.rating.shape, dtype=bool)
    return everywhere if study.present is None else study.present


def chosen_rows(studies):
    """Yield the rows of studies whose prompts were chosen."""
    for name, dials in CHOSEN_WORLDS.items():
        settings = BASE | {"preference": 0.0} | dials
        world = MonteCarloWorld(**settings)
        many = MonteCarloWorld(**settings | {"prompts": 10_000})
        draws = [many.draw(np.random.default_rng((1, number))) for number in range(3)]
        truth = np.mean([each.reference.mean(axis=(0, 1)) for each in draws], axis=0)
        fits = [next(fitted_slices(BY_PROMPT, each, seed=None)) for each in draws]
        biases = np.mean([self_biases(fitted)[0] for fitted in fits], axis=0)
        for how in CHOSEN:
            for kept in (0.05, 0.1, 0.25):
                numbers = []
                for number in range(studies):
                    random = np.random.default_rng((5, number))
                    study = world.draw(random)
                    labelled = is_scored(how, kept, study.reference, random)
                    numbers.append(chosen_numbers(study, labelled, truth, biases))
                yield [name, f"{how}, {kept:.0%}", *map(share, zip(*numbers, strict=True))]


def chosen_numbers(study, labelled, truth, biases):
    """Whether a study is refused, and which shares of its intervals contain the truth."""
    scored = np.where(labelled, study.reference, np.nan)
    answers = make_answers(scored, study.rating, study.present)
    means, prompts = human_scale_means(answers), answers.effective_prompts().min()
    level = expanded(quantile(CONFIDENCE), prompts)
    errors, variance = means.score - truth, means.covariance.diagonal()
    of_both = variance[1:] + variance[:-1] - 2 * means.covariance.diagonal(1)
    differences = np.abs(np.diff(errors)) <= level * np.sqrt(of_both)
    estimate, half = self_biases(fit_of_all(study, labelled)[0])
    covered = np.abs(estimate - biases) <= half
    shares = [np.abs(errors) <= level * np.sqrt(variance), differences, differences[:1]]
    shares += [covered, covered[:1]]
    return [bool(refused_ranking(answers)), *map(np.mean, shares)]


def self_biases(fitted):
    """Self-bias and half-width of each judge in a fit of all rows, (2, judges)."""
    rows = [row for row in fitted.coefficients if row.quantity == SELF]
    half = [quantile(CONFIDENCE, row.df) * row.std_error for row in rows]
    return np.array([[row.estimate for row in rows], half])


def bias_rows(studies):
    """Yield the rows of all worlds for A."""
    for name, dials in WORLDS.items():
        settings = BASE | {"preference": 0.0} | dials
        world = MonteCarloWorld(**settings)
        many = MonteCarloWorld(**settings | {"prompts": 10_000})
        draws = (many.draw(np.random.default_rng((1, number))) for number in range(4))
        fits = [
            next(fitted_slices(BY_PROMPT, with_scores(name, each), seed=None)) for each in draws
        ]
        truth = np.mean([self_biases(fitted)[0] for fitted in fits], axis=0)
        for how, kept in LABELS[:7]:
            both = []
            for number in range(studies):
                random = np.random.default_rng((2, number))
                study = with_scores(name, world.draw(random))
                labelled = is_scored(how, kept, study.reference, random)
                both.append(biases_by_both(study, labelled, truth))
            yield bias_row(name, f"{how}, {kept:.0%}", both)


def biases_by_both(study, labelled, truth):
    """Coverage and half-width of A by all ratings, then by the rows with human scores alone."""
    numbers = []
    for fitted in fit_of_all(study, labelled):
        estimate, half = self_biases(fitted)
        numbers += [np.mean(np.abs(estimate - truth) <= half), half.mean()]
    return numbers


def fit_of_all(study, labelled):
    """The fit whose biases rest on all ratings, and that of the rows with human scores."""
    rows = present_in(study) & labelled[:, :, None]
    scored, panels = replace(study, present=rows), [rows, present_in(study)]
    panels = [with_panel(study, each) for each in panels]
    alone = next(fitted_slices(BY_PROMPT, scored, seed=None))
    of_all = biases_of_all_ratings(BY_PROMPT, scored, *panels)
    return with_biases(alone, of_all[""]), alone


def bias_row(name, how, both):
    """The row of a world for the table of A."""
    covers, half, covers_alone, half_alone = np.array(both).T
    cells = [name, how, share(covers), f"{half.mean():.4f}"]
    return [*cells, share(covers_alone), f"{half_alone.mean():.4f}"]


def study_in(folder):
    """The ratings of a study, whose answers all have human scores, as a drawn study."""
    names = ("prompt", "dimension", "judge", "model")
    columns = ", ".join(f"{name}::varchar" for name in names)
    families = "judge_family::varchar, model_family::varchar"
    query = f"select {columns}, {families}, rating_unit, gt_unit from '{folder}/ratings.parquet'"
    *texts, judge_family, model_family, rating, human = (
        connect().execute(query).fetchnumpy().values()
    )
    levels, places = zip(*(np.unique(each, return_inverse=True) for each in texts), strict=True)
    shape = tuple(len(each) for each in levels)
    ratings, present = np.zeros(shape), np.zeros(shape, dtype=bool)
    ratings[places], present[places] = rating, True
    prompt, dimension, judge, model = places
    scores = np.zeros((*shape[:2], shape[3], 1))
    scores[prompt, dimension, model, 0] = human
    of_judge = dict(zip(judge, judge_family, strict=True))
    of_model = dict(zip(model, model_family, strict=True))
    at = [axis.ravel() for axis in np.indices(shape[1:])]
    factors = {name: levels[place + 1][at[place]] for place, name in enumerate(names[1:])}
    factors |= dict.fromkeys(("dataset", "task_type"), np.full(len(at[0]), ""))
    factors["judge_family"] = np.array([of_judge[place] for place in at[1]])
    factors["model_family"] = np.array([of_model[place] for place in at[2]])
    factors = {name: values.astype(str) for name, values in factors.items()}
    return DrawnStudy(factors, ratings, scores, None, present, 1.0, has_human_scores=True)


def hidden_bias_rows(folder, draws=200):
    """Yield the row for A of a study, most of whose human scores are hidden."""
    study, both = study_in(folder), []
    truth = self_biases(next(fitted_slices(BY_PROMPT, study, seed=None)))[0]
    for number in range(draws):
        random = np.random.default_rng((3, number))
        both.append(
            biases_by_both(study, is_scored("by prompt", 0.1, study.reference, random), truth)
        )
    yield bias_row(folder, "by prompt, 10%", both)


def with_scores(name, study):
    """A drawn study with the human scores of its world."""
    return replace(study, raters=human_scores(name, study)[..., None])


def hidden_ranking_rows(folder, draws=200):
    """Yield the row of a study whose answers all have human scores, most of which are hidden."""
    study = StudyTables("", f"{folder}/cells.parquet", [f"{folder}/ratings.parquet"])
    answers = read_answer_scores(study, EVERY_ROW.rows(study.ratings))
    count = np.bincount(answers.model)
    truth = np.bincount(answers.model, answers.human) / count
    prompts, prompt = np.unique(answers.prompt, return_inverse=True)
    numbers = []
    for number in range(draws):
        random = np.random.default_rng((3, number))
        kept = random.permutation(len(prompts)) < round(0.1 * len(prompts))
        human = np.where(kept[prompt], answers.human, np.nan)
        numbers.append(compared(replace(answers, human=human), truth, number))
    yield ranking_row(folder, "by prompt, 10%", 0.1, numbers, [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=STUDIES)
    parser.add_argument("--biases", action="store_true")
    parser.add_argument("--chosen", action="store_true")
    parser.add_argument("--ratings")
    arguments = parser.parse_args()
    head = [
        "world",
        "human scores",
        "refused",
        "refused or covers",
        "covers",
        "half-width",
        "ranks cover",
    ]
    head += ["people alone", "half-width", "ratings alone", "half-width"]
    rows = (
        hidden_ranking_rows(arguments.ratings)
        if arguments.ratings
        else ranking_rows(arguments.studies)
    )
    if arguments.biases:
        head = ["world", "human scores", "A covers", "half-width", "scored rows", "half-width"]
        folder = arguments.ratings
        rows = hidden_bias_rows(folder) if folder else bias_rows(arguments.studies)
    if arguments.chosen:
        head = ["world", "prompts", "refused", "scores cover", "differences", "the first", "A"]
        head += ["of the first judge"]
        rows = chosen_rows(arguments.studies)
    print_table(head, rows)
