"""The papers: published ratings, verdicts, rankings and texts, what is computed from them alone,
and how they compare.
"""

from recuse.base.products import RANKINGS, RATINGS, TEXTS, VERDICTS, Product

PRODUCT = Product(
    "papers",
    sources={
        "multivac": RATINGS,
        "prd": VERDICTS,
        "llmbar": VERDICTS,
        "cobbler": RANKINGS,
        "judgement_bias": TEXTS,
    },
    readers={
        "prd": "recuse.papers.sources:select_prd_texts",
        "llmbar": "recuse.papers.sources:select_llmbar_texts",
    },
    simulators={
        "studies": "recuse.papers.twin:world_in_tables",
        "comparisons": "recuse.papers.votes:votes_in_tables",
    },
    tables="recuse.papers.catalogue:TABLES",
    figures="recuse.papers.catalogue:paper_figures",
)
