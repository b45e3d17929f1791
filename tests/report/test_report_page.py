"""A report holds what it is given, whatever the names look like, and nothing else."""

import re
from html import unescape

import pytest

from conftest import ROOT
from recuse.base.tables import LEADERBOARD
from recuse.report.html import inlined, rendered_caption, title_of
from recuse.report.page import files_of_the_user, versions
from recuse.report.tables import EXCERPTS, FEW, MOST, in_figures, shown
from report_pages import HOSTILE, LABEL, SVG, Elements, ranked, texts, write_page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("a study é"))


@pytest.fixture(scope="module")
def html(page):
    return page.read_text("utf-8")


def test_it_is_well_formed_with_ids_of_its_own_and_no_resource_from_elsewhere(html):
    elements = Elements(html)
    assert len(elements.of("svg")) == 2
    assert {tag for tag, _ in elements.found} & {"link", "img", "iframe", "object"} == set()
    assert [attributes for tag, attributes in elements.found if "src" in attributes] == []
    assert re.findall(r"(?:@import|url\((?!#))", html) == []


def test_names_are_text_wherever_they_stand(html):
    assert len(Elements(html).of("script")) == 1
    assert HOSTILE not in html
    assert "<b>study</b>" not in html
    assert "&lt;script&gt;window.broken = 1&lt;/script&gt; &#34;A&#34; &amp; *b*" in html
    assert "a &lt;b&gt;study&lt;/b&gt; of ratings_ with `markup`" in html


def test_the_answer_comes_first_and_says_how_sure(html):
    said = re.search(r'class="lead">(.*?)</p>', html)[1]
    counted = "1 of 4 judges favours itself; 1 is harsher on itself; of 1 it cannot be told."
    assert said == f"{counted} This does not stand in every other view."
    assert "The intervals are at 90\N{NO-BREAK SPACE}%, with HC0 standard errors" in html
    assert "about 10\N{NO-BREAK SPACE}% would still be called biased by chance alone" in html
    assert html.index('class="lead"') < html.index("<svg") < html.index("<table")
    assert "+0.100 (0.084 to 0.116), or +0.90 on the raw scale, favours itself" in html
    assert "stands in 0 of 1 other views, not in: C: ordinary taste" in html


def test_a_figure_with_nothing_to_show_is_a_line(html):
    section = html[html.index("Figures with nothing to show") : html.index('id="tables"')]
    assert '<a href="figures/fig07_length_control.svg">Without lengths' in section
    assert 'id="fig07_length_control"' not in html
    assert "of which there are none" not in section


def test_specs_that_leave_out_models_which_are_not_there_are_not_told(html):
    assert ">no row</td>" in html
    assert "the study has no model named" not in html


def test_data_that_are_not_simulated_have_no_such_notice(html):
    assert "USER&#39;S DATA" in html
    assert "simulated" not in re.sub(r"(?s)<style>.*?</style>", "", html)


def test_long_tables_are_cut_and_folded_and_lead_to_their_files(html):
    assert f"250 rows, {MOST} of them here" in html
    assert html.count("<details>") == 1 + 1  # completeness, and the specs
    assert FEW < MOST
    for file in ("estimates/main.csv", "tables/completeness.csv", "tables/conclusions.csv"):
        assert f'href="{file}"' in html


def test_it_says_where_the_numbers_come_from_but_no_place_on_the_machine(html, page):
    digest = files_of_the_user([str(page.parent / "ratings of <b>mine &.csv")])[0][1]
    assert f"ratings of &lt;b&gt;mine &amp;.csv, SHA-256 <code>{digest}</code>" in html
    assert str(page.parent) not in html
    assert "<dt><code>seed</code></dt><dd><code>7</code></dd>" in html
    assert all(f"{name} {version}" in html for name, version in versions())


def test_two_pages_of_one_study_are_the_same_bytes(page, tmp_path):
    assert write_page(tmp_path / "a study é").read_bytes() == page.read_bytes()


def test_picture_keeps_only_ids_that_are_referred_to_with_its_name_before_them():
    picture = inlined(SVG.format(title="T", label=LABEL.replace("<", "&lt;")), "one")
    assert set(re.findall(r'\bid="([^"]+)"', picture)) == {"one-clip", "one-glyph", "one-title"}
    assert 'clip-path="url(#one-clip)"' in picture
    assert 'style="fill: url(#one-clip)"' in picture
    assert 'href="#one-glyph"' in picture
    assert 'd="M 0 0 L 400 50"' in picture
    assert "metadata" not in picture
    assert "<style" not in picture
    assert title_of(SVG.format(title="T: t", label="label"), "label") == "T: t"


def test_caption_is_the_templates_text_with_names_as_they_are():
    template = "Of {{ snakemake.params.name }}, **bold**, ``{{ snakemake.wildcards.study }}``."
    told = {"params": {"name": "*a* |b| `c` d_ <e> .. raw:: html"}, "wildcards": {"study": "my_study"}}
    caption = rendered_caption(template, told)
    assert caption.startswith("<p>Of *a* |b| `c` d_ &lt;e&gt; .. raw:: html, <strong>bold</strong>, ")
    assert "my_study</" in caption


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("0.04387600991713079", "0.0439"),
        ("-0.113", "−0.1130"),
        ("63222", "63,222"),
        ("inf", "∞"),
        ("nan", "nan"),
        ("7e-05", "0.0001"),
    ],
)
def test_numbers_are_rounded_for_reading(text, read):
    assert in_figures(text) == read


def test_cells_hold_the_whole_number_and_names_stay_names():
    rows = [{"quantity": "self_bias", "slice": "", "term": "4", "estimate": "0.123456", "p_value": "1e-30"}]
    table = shown("main", EXCERPTS["main"], rows, "main.csv")
    assert table.headings == [("bias", False), ("judge or family", False), ("gap", True), ("p", True)]
    assert table.rows == [[("self-bias", ""), ("4", ""), ("0.1235", "0.123456"), ("< 0.0001", "1e-30")]]


def test_change_is_told_of_debiased_scores_alone():
    rows = texts(LEADERBOARD, [{**ranked(scores, "A", 1, 1, 2), "change": -0.1} for scores in ("debiased", "human")])
    table = shown("leaderboard", EXCERPTS["leaderboard"], rows, "leaderboard.csv")
    place = [heading for heading, _ in table.headings].index("change by debiasing")
    assert [row[place][0] for row in table.rows] == ["−0.1000", ""]


def test_addresses_in_names_are_no_links():
    told = {"title": "<javascript:alert(1)> https://a.example x@y.example"}
    caption = rendered_caption("Of {{ snakemake.title }}.", told)
    assert unescape(caption) == "<p>Of <javascript:alert(1)> https://a.example x@y.example.</p>"


@pytest.mark.parametrize("directive", [".. raw:: html\n\n   <script>1</script>", ".. include:: /etc/passwd"])
def test_caption_holds_no_markup_of_its_own_and_no_file(directive):
    assert rendered_caption(f"Before.\n\n{directive}\n\nAfter.", {}) == "<p>Before.</p>\n<p>After.</p>"


def test_caption_is_the_same_beside_settings_of_a_users_docutils(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docutils.conf").write_text("[restructuredtext parser]\nsmart_quotes: yes\n")
    assert unescape(rendered_caption('A "name".', {})) == '<p>A "name".</p>'


def test_caption_of_the_conclusions_lists_its_views():
    views = {name: {"title": f"{name}:", "asks": f"is it {name}"} for name in ("A", "B")}
    params = {"views": views, "confidence": 0.9, "subject": {"label": "ours", "kind": "user", "estimand": ""}}
    caption = rendered_caption((ROOT / "workflow" / "report" / "conclusions.rst").read_text("utf-8"), {"params": params})
    assert re.findall(r"<li>(.*?)</li>", caption) == ["<p>A:: is it A?</p>", "<p>B:: is it B?</p>"]


def test_a_blank_between_names_stays_and_those_around_them_go():
    template = "{% for name in snakemake.names %}{{ name }}{{ ' ' if not loop.last }}{% endfor %}"
    assert rendered_caption(template, {"names": ["  a b", "c "]}) == "<p>a b c</p>"
