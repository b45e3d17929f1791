"""Figures on a page have unique ids, and captions are their templates' text, whatever the names in
it.
"""

import re
from base64 import b64decode
from html import unescape
from io import BytesIO

import pytest
from fontTools.ttLib import TTFont

from recuse.base.reasons import Reason
from recuse.base.templates import said, said_with_table
from recuse.report.html import (
    font_rules,
    inlined,
    picture_facts,
    rendered,
    rendered_caption,
)
from recuse.report.verdict import SHARES
from report_pages import LABEL, SVG


def test_a_picture_keeps_only_ids_that_are_referred_to_with_its_name_before_them():
    picture = inlined(SVG.format(title="T", label=LABEL.replace("<", "&lt;")), "one")
    assert set(re.findall(r'\bid="([^"]+)"', picture)) == {"one-clip", "one-glyph", "one-title"}
    assert 'clip-path="url(#one-clip)"' in picture
    assert ' fill="url(#one-clip)"' in picture
    assert "style=" not in picture
    assert 'href="#one-glyph"' in picture
    assert "metadata" not in picture
    assert "<style" not in picture
    assert '<text x="1.23" y="2" font-weight="700" font-size="8px">T</text>' in picture
    assert picture_facts(SVG.format(title="T: t", label="label"), "label") == {
        "title": "T: t",
        "width": "500",
    }


def test_the_font_of_a_page_has_the_letters_of_its_figures_and_is_the_same_every_time():
    picture = inlined(SVG.format(title="Tiβ 你", label="label"), "one")
    (face,) = font_rules([picture]).split("\n")
    assert 'font-weight: 700; font-style: normal; src: url("data:font/woff;base64,' in face
    font = TTFont(BytesIO(b64decode(face.split(",")[1].partition('"')[0])))
    assert {chr(code) for code in font.getBestCmap()} == set("Tiβ ")
    assert font_rules([picture, picture]) == face
    assert font_rules([]) == ""


def test_caption_is_the_templates_text_with_names_as_they_are():
    template = "Of {{ snakemake.params.name }}, **bold**, ``{{ snakemake.wildcards.study }}``."
    context = {
        "params": {"name": "*a* |b| `c` d_ <e> .. raw:: html"},
        "wildcards": {"study": "my_study"},
    }
    caption = rendered_caption(template, context)
    assert caption.startswith(
        "<p>Of *a* |b| `c` d_ &lt;e&gt; .. raw:: html, <strong>bold</strong>, "
    )
    assert "my_study</" in caption


def test_addresses_in_names_are_no_links():
    context = {"title": "<javascript:alert(1)> https://a.example x@y.example"}
    caption = rendered_caption("Of {{ snakemake.title }}.", context)
    assert unescape(caption) == "<p>Of <javascript:alert(1)> https://a.example x@y.example.</p>"


@pytest.mark.parametrize(
    "directive", [".. raw:: html\n\n   <script>1</script>", ".. include:: /etc/passwd"]
)
def test_caption_holds_no_markup_of_its_own_and_no_file(directive):
    assert (
        rendered_caption(f"Before.\n\n{directive}\n\nAfter.", {}) == "<p>Before.</p>\n<p>After.</p>"
    )


def test_a_users_docutils_settings_do_not_change_a_caption(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docutils.conf").write_text("[restructuredtext parser]\nsmart_quotes: yes\n")
    assert unescape(rendered_caption('A "name".', {})) == '<p>A "name".</p>'


def test_blanks_around_names_are_removed_and_one_between_them_stays():
    template = "{% for name in snakemake.names %}{{ name }}{{ ' ' if not loop.last }}{% endfor %}"
    assert rendered_caption(template, {"names": ["  a b", "c "]}) == "<p>a b c</p>"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("of שופט: +0.1", "of <bdi>שופט</bdi>: +0.1"),
        (
            "שופט טוב, קלוד-3 and gpt-ד; {אב: (1)}",
            "<bdi>שופט טוב</bdi>, <bdi>קלוד-3</bdi> and <bdi>gpt-ד</bdi>; {<bdi>אב</bdi>: (1)}",
        ),
        ("<قاضٍ> & 'x'", "&lt;<bdi>قاضٍ</bdi>&gt; &amp; &#39;x&#39;"),
        ("evil\u202e004\u2066", "evil⟨U+202E⟩004⟨U+2066⟩"),
        ("plain <b>", "plain &lt;b&gt;"),
    ],
)
def test_what_is_written_from_right_to_left_is_isolated_in_text_only(tmp_path, text, html):
    (tmp_path / "page.j2").write_text(
        '<title>{{ t }}</title><p title="{{ t }}">{{ t }}</p><svg>\n{{ t }}</svg>', "utf-8"
    )
    alone = html.replace("<bdi>", "").replace("</bdi>", "")
    page = rendered(tmp_path / "page.j2", t=text)
    assert page == f'<title>{alone}</title><p title="{alone}">{html}</p><svg>\n{alone}</svg>'


def test_texts_in_pictures_keep_what_is_isolated_in_them():
    text = '<text style="font-size: 7px">of <tspan>שופט</tspan>, 1 of 2</text>'
    picture = inlined(
        f'<svg viewBox="0 0 5 5" xmlns="http://www.w3.org/2000/svg"><title/>{text}</svg>', "one"
    )
    assert '<text font-size="7px">of <tspan>שופט</tspan>, 1 of 2</text>' in picture
    font = TTFont(BytesIO(b64decode(font_rules([picture]).split(",")[1].partition('"')[0])))
    assert {*"of שפ, 12"} <= {chr(code) for code in font.getBestCmap()} | {"ש", "פ"}


def test_styles_of_a_picture_but_fonts_become_attributes_of_which_the_last_counts():
    path = '<path style="fill: none; stroke: #000;fill: red; font-family: x"/>'
    svg = f'<svg viewBox="0 0 5 5" xmlns="http://www.w3.org/2000/svg"><title/>{path}</svg>'
    assert '<path fill="red" stroke="#000" />' in inlined(svg, "one")


def test_a_sentence_folds_its_own_blanks_and_keeps_those_in_names():
    who = {"names": ["my  judge "], "most": 5, "families": False}
    words = said("strangers", who=who, reason=Reason.HARDLY_AGREES)
    assert words == "my  judge  hardly agrees with people: do not use it as a judge."
    row = {"estimate": ""}
    facts = {"row": row, "unit": None, "side": 0, "least": 0, "confidence": 0.9}
    words = said("pooled", reason="a  b", **facts)
    assert words == "No average over judges can be estimated: a  b."


def test_cells_of_a_table_stand_between_bars_whatever_is_in_a_name():
    judges, place = ["a | b", "c|d ", "|", "e\nf", "g\n\nh", "\1"], "x | y"
    cells = {place: {judge: {"value": "0.5"} for judge in judges[:2]}}
    facts = {"judges": judges, "cells": cells, "unit": SHARES, "confidence": 0.9}
    heading, _, (headings, *rows) = said_with_table("agreement", **facts)
    assert heading == "Do the judges agree with people?"
    assert headings == ["judge", place]
    half = "50\N{NO-BREAK SPACE}%"
    assert rows == [
        ["a | b", half],
        ["c|d ", half],
        ["|", ""],
        ["e\nf", ""],
        ["g\n\nh", ""],
        ["\1", ""],
    ]
