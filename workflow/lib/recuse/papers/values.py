"""The published values of Play Favorites (arXiv 2508.06709) as tidy rows, keyed like the tables of
a study.
"""

from collections.abc import Mapping
from pathlib import Path

from recuse.base.errors import DataError
from recuse.base.tables import read_table
from recuse.model.spec import A_OF_REFERENCE, A

DIMENSIONS = (
    "Completeness",
    "Conciseness",
    "Faithfulness",
    "Helpfulness",
    "Logical correctness",
    "Logical robustness",
)
JUDGES = (
    *("Claude v2", "Claude 3 Sonnet", "Claude 3.5 Sonnet", "GPT-3.5 Turbo", "GPT-4o"),
    *("Llama 3 8B", "Llama 3 70B", "Mistral 7B", "Mistral Large"),
)
FILES = {
    "estimates": "play_favorites_estimates.csv",
    "mean_scores": "play_favorites_mean_scores.csv",
    "correlations": "play_favorites_correlations.csv",
    "agreement": "play_favorites_agreement.csv",
    "facts": "twin_facts.csv",  # two more columns of Table 4, and what the twin is simulated from
}
# (figure, variant_type) in the file of estimates: the figure's name here, and the spec that made
# it.
SPECS = {
    ("self_and_family_preference_bias", ""): ("Figure 3", "main"),
    ("self_preference_bias_by_dimension_and_task_type", "dimension"): ("Figure 4", "by_dimension"),
    ("self_preference_bias_by_dimension_and_task_type", "task_type"): ("Figure 4", "by_task_type"),
    ("bias_length_control", "length_control"): ("Figure 7", "length_control_as_coded"),
    ("self_preference_bias_ordinal_logit_by_dimension", "dimension"): (
        "Figure 8",
        "ordinal_as_coded",
    ),
    ("bias_ground_truth_replaced", "reference_scores"): ("Figure 9", "llm_reference_as_coded"),
    ("bias_small_capacity_models_removed", "data"): ("Figure 10", "weak_models_dropped_as_coded"),
    ("self_preference_bias_by_dataset", "dataset"): ("By dataset", "by_dataset"),
    ("self_preference_bias_one_model_removed_at_a_time", "model_removed"): (
        "One model dropped",
        "one_model_dropped_as_coded",
    ),
}
# The estimands of the specs whose biases the paper prints or discusses.
ESTIMANDS = {
    **dict.fromkeys((*(spec for _, spec in SPECS.values()), "length_control_global", "gam"), A),
    "llm_reference_as_coded": A_OF_REFERENCE,
}
# Variants that repeat Figure 3 next to an ablation, with its standard errors: HC0, not classical.
RESTATED = ("No length control", "Human", "All data")
# Variants that are no slice
WHOLE = (*RESTATED, "Length-controlled", "Small-capacity models removed")
FIGURES = {
    "heatmap_human_vs_llm_scores": "Figure 2",
    "heatmap_human_vs_llm_scores_by_dimension": "Figure 6",
    "correlation_spearman": "Figure 5",
    "correlation_pearson": "Pearson",
    "correlation_gamma": "Goodman–Kruskal gamma",
}
ORDER = (
    *(
        "Figure 2",
        "Figure 3",
        "Figure 4",
        "Figure 5",
        "Pearson",
        "Goodman–Kruskal gamma",
        "Figure 6",
        "Figure 7",
    ),
    *("Figure 8", "Figure 9", "Figure 10", "By dataset", "One model dropped"),
)


def read_files(folder: str | Path) -> dict[str, list[dict[str, str]]]:
    """Read the files of published values from `folder`, by the names of FILES."""
    return {name: read_table(Path(folder, file)) for name, file in FILES.items()}


def read_published(folder: str | Path) -> dict[str, list[dict[str, str]]]:
    """Read the published values from `folder`: by table, rows of texts with the columns of the
    study's tables.

    All but `agreement` also have a column `figure`; `estimates` and `correlations` have
    `resolution`, the data value of one drawing unit. DataError for a figure that no spec is known
    to have made.
    """
    tables = read_files(folder)
    table_4 = [row for row in tables["facts"] if row["source"] == "table 4"]
    return {
        "estimates": [_estimate(row) for row in tables["estimates"]],
        "mean_scores": [
            {**row, "figure": FIGURES[row["figure"]], "mean": row["value"]}
            for row in tables["mean_scores"]
        ],
        "correlations": [
            {**row, "figure": FIGURES[row["figure"]]} for row in tables["correlations"]
        ],
        "agreement": tables["agreement"] + [{**row, "statistic": row["fact"]} for row in table_4],
    }


def _estimate(row: Mapping[str, str]) -> dict[str, str]:
    key = (row["figure"], row["variant_type"])
    variant = row["variant"]
    if key not in SPECS:
        raise DataError(
            f"{FILES['estimates']}: no spec is known for figure {key[0]!r}, variant_type"
            f" {key[1]!r}; name it in SPECS"
        )
    spec = "main" if variant in RESTATED else SPECS[key][1]
    return {
        "figure": SPECS[key][0],
        "spec": spec,
        "estimand": ESTIMANDS[spec],
        "slice": "" if variant in WHOLE else variant,
        "std_error": row["std_error_implied"],
        **{
            name: row[name]
            for name in ("quantity", "term", "estimate", "ci_low", "ci_high", "resolution")
        },
    }
