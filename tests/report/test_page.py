"""A report shows its inputs, whatever the names look like, and nothing else."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from recuse.base.reasons import Reason
from recuse.base.tables import read_table
from recuse.report.page import versions
from report_pages import DIGEST, HOSTILE, Elements, write_page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("a study é"))


@pytest.fixture(scope="module")
def html(page):
    return page.read_text("utf-8")


def test_it_is_well_formed_with_unique_ids_and_no_external_resource(html):
    elements = Elements(html)
    assert len([each for each in elements.of("svg") if each["class"] == "picture"]) == 2
    assert {tag for tag, _ in elements.found} & {"link", "img", "iframe", "object"} == set()
    assert [attributes for tag, attributes in elements.found if "src" in attributes] == []
    assert re.findall(r"@import|url\((?!#|\"data:font/woff;base64,)", html) == []


def test_names_are_text_everywhere(html):
    assert len(Elements(html).of("script")) == 1
    assert HOSTILE not in html
    assert "<b>study</b>" not in html
    assert "&lt;script&gt;window.broken = 1&lt;/script&gt; &#34;A&#34; &amp; *b*" in html
    assert "a &lt;b&gt;study&lt;/b&gt; of ratings_ with `markup`" in html


def test_the_verdicts_come_first_and_all_but_the_answer_is_folded(html):
    parts = (
        'class="lead"',
        'id="next"',
        'class="verdicts"',
        'id="verdicts"',
        'id="ranking"',
        "<details>",
    )
    places = [html.index(part) for part in parts]
    assert places == sorted(places)
    assert html[: places[-1]].count('class="picture"') == 1
    headline = re.search(r'class="lead">(.*?)</p>', html)[1]
    assert (
        headline
        == "&lt;script&gt;window.broken = 1&lt;/script&gt; &#34;A&#34; &amp; *b* (+0.90 points)"
        " favours itself."
    )
    row = html[html.index('scope="row">&lt;script&gt;') :]
    words = " ".join(re.sub("<[^>]*>", " ", row[row.index("</th>") : row.index("</tr>")]).split())
    assert words.startswith(
        "+0.90 0.45 to 1.35 A established : favours itself leave out ratings of own answers"
    )
    for title in ("Robustness", "Figures", "Tables", "Methods", "Data and settings", "Files"):
        assert re.search(rf"<details>\s*<summary><h2 id=\"\w+\">{title}</h2>", html)


def test_only_studies_with_people_have_a_column_of_agreement(html, tmp_path, monkeypatch):
    def tables_with_agreement(path):
        agreement = {f"agreement{end}": "0.1" for end in ("", "_ci_low", "_ci_high")}
        agreement |= {"agreement_least": "0.3", "disagreement": Reason.HARDLY_AGREES.value}
        rows = read_table(path)
        return [row | agreement if "agreement" in row else row for row in rows]

    monkeypatch.setattr("recuse.report.page.read_table", tables_with_agreement)
    with_people = write_page(tmp_path).read_text("utf-8")
    heading = "agreement with people, r"
    for page, columns in ((html, 6), (with_people, 7)):
        is_with_people = columns == 7
        key = "hardly any agreement, as its interval ends below 0.30"
        assert (key in page) == is_with_people
        table = page[page.index('class="verdicts"') : page.index("</table>")]
        assert table.count('<th scope="col"') == columns
        assert (heading in table) == is_with_people
        rows = re.findall(r"<tr data-verdict.*?</tr>", table, re.DOTALL)
        assert {row.count("<td") for row in rows} == {columns - 1}
    assert f'class="n weak" data-name="{heading}">0.10 (0.10 to 0.10)</td>' in with_people


def test_what_is_drawn_in_the_first_table_is_explained_above_it(html):
    key = html[html.index('class="fine key"') : html.index('<table class="verdicts"')]
    assert "the bias that decides and its 90" in key
    assert "Grey tick A: gap to people." in key
    assert "tick B" not in key  # No row has one.
    ticks = re.findall(r'<line class="gap"', html)
    assert len(ticks) == len(re.findall(r'text-anchor="middle">[AB]</text>', html)) == 1


def test_every_term_of_the_glossary_is_explained_once(html):
    terms = re.findall(r'<dt id="term-\d+">(.*?)</dt><dd>(?=\w)', html)
    assert "established" in terms
    assert sorted(set(terms)) == sorted(terms)


def test_a_figure_with_nothing_to_show_is_a_line(html):
    section = html[html.index("Figures with nothing to show") :]
    section = section[: section.index("</section>")]
    assert '<a href="figures/fig07_length_control.svg">Without lengths' in section
    assert 'id="fig07_length_control"' not in html
    assert "of which there are none" not in section


def test_specs_that_drop_models_the_study_does_not_have_are_left_out(html):
    assert ">this family&#39;s judges rate no other model of the family</td>" in html
    assert "the study has no model named" not in html


def test_data_that_are_not_simulated_have_no_such_notice(html):
    assert "USER&#39;S DATA" in html
    assert "simulated" not in re.sub(r"(?s)<(style|script)>.*?</\1>", "", html)


def test_tables_lead_to_their_files_and_long_ones_are_links_alone(html):
    for file in ("estimates/main.csv", "tables/completeness.csv", "tables/conclusions.csv"):
        assert f'href="{file}" download' in html


def test_it_names_the_sources_but_no_path_of_the_machine(html, page):
    assert f"ratings of &lt;b&gt;mine &amp;.csv, SHA-256 <code>{DIGEST}</code>" in html
    assert str(page.parent) not in html
    assert "<dt>seed</dt><dd>7</dd>" in html
    assert all(f"{name} {version}" in html for name, version in versions())


def test_two_pages_of_one_study_are_the_same_bytes(page, tmp_path):
    assert write_page(tmp_path / "a study é").read_bytes() == page.read_bytes()


def test_the_policy_allows_the_pages_own_style_and_script_and_no_other(html):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1]
    sources = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    for tag in ("style", "script"):
        (text,) = re.findall(rf"(?s)<{tag}>(.*?)</{tag}>", html)
        assert (
            sources[f"{tag}-src"]
            == f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        )
    assert sources["font-src"] == "data:"
    assert sources["default-src"] == sources["base-uri"] == sources["form-action"] == "'none'"
    attributes = {name for _, attributes in Elements(html).found for name in attributes}
    assert [name for name in attributes if name == "style" or name.startswith("on")] == []


def test_a_study_without_verdicts_has_a_page(tmp_path):
    page = write_page(tmp_path, verdicts=False)
    assert '<table class="verdicts"' not in page.read_text("utf-8")
