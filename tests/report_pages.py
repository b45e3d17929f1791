"""A small study with everything a report shows, including names that look like markup, and its
page.
"""

import re
from html.parser import HTMLParser

from conftest import ROOT
from recuse.base.reasons import Reason, because
from recuse.base.tables import write_table
from recuse.base.words import WORDS_ALONE
from recuse.data.ratings import COMPLETENESS
from recuse.inference.leaderboard import LEADERBOARD
from recuse.inference.verdict import VERDICTS, Verdict
from recuse.model.estimable import missing
from recuse.model.estimates import ESTIMATES, NOT_ESTIMABLE
from recuse.papers.points import further_points
from recuse.report.page import report
from text_tables import csv_rows

HOSTILE = '<script>window.broken = 1</script> "A" & *b*'  # a judge's name
DIGEST = "0123456789abcdef" * 4
LABEL = "a <b>study</b> of ratings_ with `markup`"
# Columns that are read
CONCLUSIONS = ("study", "slice", "quantity", "term", "check", "first", "conclusion", "verdict")
CAPTION = """{% for figure in snakemake.params.figures.values() -%}
Self-bias of {{ figure.subject.label }},
{% if figure.subject.kind == "user" %}(**yours**){% endif %} study ``{{ snakemake.wildcards.study }}``.
{% endfor %}"""
SVG = """<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="500pt" height="90pt" viewBox="0 0 500 90" xmlns="http://www.w3.org/2000/svg">
 <title>{title}: {label}</title>
 <metadata>made by nobody</metadata>
 <defs><style type="text/css">*{{stroke-linejoin: round}}</style>
 <clipPath id="clip"><rect width="400" height="50"/></clipPath></defs>
 <g id="figure_1"><g><text style="font-weight: 700; font-size: 8px" x="1.23456" y="2">{title}</text></g>
 <path id="glyph" d="M 0 0
L 400 50" clip-path="url(#clip)" style="fill: url(#clip)"/><use xlink:href="#glyph" x="3"/></g>
</svg>
"""
ABOUT = {
    "subject": {"label": LABEL, "kind": "user"},
    "specs": {"main": {}, "by_dimension": {"slice": "dimension"}},
    "analyses": [],
    "confidence": 0.9,
    "substitute": "by_dimension",
    "scales": {"Tone": [1, 10]},
    "checks": {"idiosyncrasy": "C: ordinary preference"},
    "origin": {},
    "settings": [("seed", "7")],
    "seed": 7,
}


def texts(columns, rows):
    """Rows as they are read from a CSV file."""
    return [
        {column: "" if row.get(column) is None else str(row[column]) for column in columns}
        for row in rows
    ]


def ranking(scores, models, **others):
    """Rows of the leaderboard, from the first place on."""
    about = {"study": "mine", "spec": "main", "scores": scores, "rank_low": 1, "ci_low": 0.8}
    about |= {"rank_high": len(models), "ci_high": 0.9} | others
    return [
        about | {"model": model, "rank": rank, "score": 0.9 - rank / 100}
        for rank, model in enumerate(models, 1)
    ]


def write_tables(folder):
    """Write the tables of a small study into `folder`; their paths there, without the suffix."""
    estimates = csv_rows("""
study,spec,quantity,term,estimate,ci_low,ci_high,p_value,n,n_term
mine,main,self_bias,,0.1,0.0836,0.1165,1e-09,12345,900
mine,main,self_bias,Bo,-0.05,-0.0665,-0.0336,1e-09,12345,900
mine,main,self_bias,Cy,0.0004,-0.0325,0.0333,1e-09,12345,900
mine,main,self_bias,Di,0.3,,,,12345,900
""")
    checks = csv_rows("""
study,quantity,term,first,check,verdict
mine,self_bias,,favours,published,holds
mine,self_bias,,favours,idiosyncrasy,lost
""")
    for row in (estimates[0], *checks):
        row["term"] = HOSTILE
    of_judge = {"study": "mine", "kind": "ratings", "quantity": "self_bias"}
    established = {"verdict": Verdict.ESTABLISHED, "favours": "yes", "A": 0.2}
    established |= {"estimate": 0.1, "ci_low": 0.05, "ci_high": 0.15}
    few = because(Reason.FEW_PROMPTS, names="Di", prompts=8, least=10)
    verdicts = [
        {**of_judge, "term": HOSTILE, **established},
        {**of_judge, "term": "Di", "verdict": Verdict.INCONCLUSIVE, "reason": few},
    ]
    absent = {"spec": "weak", "reason": missing("models_dropped", ["Llama"])}
    board = [*ranking("raw", ["Bo", "Cy"]), *ranking("debiased", ["Cy", "Bo"])]
    tables = {
        "estimates/main": (ESTIMATES, estimates),
        "tables/conclusions": (CONCLUSIONS, checks),
        "tables/verdicts": (VERDICTS, verdicts),
        "tables/leaderboard": (LEADERBOARD, board),
        "tables/not_estimable": (
            NOT_ESTIMABLE,
            [
                {
                    "spec": "main",
                    "quantity": "family_bias",
                    "term": "F",
                    "reason": because(Reason.NO_SIBLINGS),
                },
                absent,
            ],
        ),
        "tables/completeness": (
            COMPLETENESS,
            csv_rows(
                "study,dimension,judge,prompts,absent,used,model\n"
                + "\n".join(f"mine,Tone,Bo,20,0,20,M{number}" for number in range(50))
            ),
        ),
    }
    for name, (columns, rows) in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_table(folder / f"{name}.csv", columns, rows)
    return [*tables]


def write_figures(folder):
    """Write two figures with the same ids, and one with nothing to show, into `folder`; their
    names.
    """
    (folder / "figures").mkdir()
    label = LABEL.replace("<", "&lt;")
    silent = SVG.replace('id="figure_1"', f'id="{WORDS_ALONE}"')
    figures = {
        "verdicts": SVG.format(title="Self-bias by judge", label=label),
        "gam": SVG.format(title="Curves", label=label),
        "fig07_length_control": silent.format(title="Without lengths", label=label),
    }
    for name, svg in figures.items():
        (folder / "figures" / f"{name}.svg").write_text(svg, "utf-8")
    return [*figures]


def write_page(folder, *, verdicts=True):
    """Write the tables, the figures and the page of a small study into `folder`; its path."""
    tables, figures = write_tables(folder), write_figures(folder)
    if not verdicts:
        write_table(folder / "tables/verdicts.csv", VERDICTS, [])
    (folder / "caption.rst").write_text(CAPTION, "utf-8")
    about = {
        "caption": str(folder / "caption.rst"),
        "tables": [],
        "drawing": {"subject": ABOUT["subject"]},
    }
    paths = {
        kind: [str(folder / f"{name}.csv") for name in tables if name.startswith(kind)]
        for kind in ("tables", "estimates")
    }
    inputs = {
        "figures": [str(folder / "figures" / f"{name}.svg") for name in figures],
        "pages": [],
        "template": [str(ROOT / "workflow" / "report" / "report.html.j2")],
    }
    html, _ = report(
        study="mine",
        about=ABOUT,
        figures=dict.fromkeys(figures, about),
        formats=["svg", "pdf"],
        inputs=paths | inputs,
        files=[("ratings of <b>mine &.csv", DIGEST)],
        context={"wildcards": {"study": "mine"}, "config": {}},
        page=str(folder / "report.html"),
        further=further_points,
    )
    (folder / "report.html").write_text(html, "utf-8")
    return folder / "report.html"


class Elements(HTMLParser):
    """Collects (tag, attributes) of a page, and its words outside of pictures, styles and scripts.

    A tag that is not closed, an id that comes twice, or a reference to none, is an error.
    """

    VOID = frozenset(
        [
            "meta",
            "br",
            "path",
            "use",
            "rect",
            "image",
            "input",
            "hr",
            "img",
            "circle",
            "line",
            "polygon",
            "polyline",
        ]
    )

    def __init__(self, html):
        super().__init__()
        self.found, self.open, self.text = [], [], ""
        self.feed(html)
        assert self.open == []
        self.text = " ".join(self.text.split())
        ids = [attributes["id"] for _, attributes in self.found if "id" in attributes]
        assert len(ids) == len(set(ids))
        referred = re.findall(
            r'(?:aria-labelledby|aria-describedby)="([^"]+)"|url\(#([^)]+)\)|href="#([^"]+)"', html
        )
        assert {name for names in referred for name in names if name} <= set(ids)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"svg", "style", "script"} & set(self.open):
            self.text += data

    def of(self, tag):
        """Attributes of every element with this tag."""
        return [attributes for name, attributes in self.found if name == tag]
