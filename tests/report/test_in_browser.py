"""A report in a browser, opened from disk: sorting, choices of rows, folded parts, no requests,
phone, paper, accessibility.
"""

import os
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from recuse.report.html import rendered
from report_pages import HOSTILE, write_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Colours, 0 to 255 each, of every text outside figures and of its background.
COLOURS = """() => [...document.querySelectorAll("body *:not(svg *):not(script)")]
  .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
  .map((each) => {
    let behind = each, numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    while (behind && numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    const back = behind ? numbers(getComputedStyle(behind).backgroundColor).slice(0, 3) : [255, 255, 255];
    return [each.textContent.slice(0, 40), numbers(getComputedStyle(each).color).slice(0, 3), back];
  })"""
NAMELESS = """() => [...document.querySelectorAll("a, button, summary, [role=group], [role=img], nav, th")].filter((each) => {
  const labels = (each.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id));
  const name = each.getAttribute("aria-label") || labels.map((label) => label?.textContent || "").join("") || each.textContent;
  return !name.trim();
}).map((each) => each.outerHTML.slice(0, 80))"""
# Where each word is that comes after the one before, in pixels.
LEFTS = """(words) => {
  const texts = document.createTreeWalker(document.querySelector("p"), NodeFilter.SHOW_TEXT), places = [];
  let at = 0, node = texts.nextNode();
  for (const word of words) {
    for (; node && node.data.indexOf(word, at) < 0; at = 0) node = texts.nextNode();
    const range = document.createRange();
    at = node.data.indexOf(word, at) + word.length;
    range.setStart(node, at - word.length);
    range.setEnd(node, at);
    places.push(range.getBoundingClientRect().left);
  }
  return places;
}"""
WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
OPEN = "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright, as in envs/requirements-test.txt"
    )
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"needs one of {', '.join(BROWSERS)} on this machine")
    with playwright.sync_playwright() as started:
        # Which root may not have
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("a folder é"))


@pytest.fixture(scope="module")
def window(browser):
    """The window of all tests, as another one starts more processes."""
    return browser.new_page()


@pytest.fixture
def page(window, report):
    window.set_viewport_size({"width": 1300, "height": 900})
    window.emulate_media(media="screen", color_scheme="light")
    window.goto("about:blank")
    window.goto(report.as_uri())
    return window


def column(page, table, number):
    return page.locator(
        f"table[aria-labelledby=table-{table}] tbody tr td:nth-child({number})"
    ).all_inner_texts()


def test_a_table_sorts_by_click_and_by_keyboard(page):
    page.evaluate(OPEN)
    gap = page.locator("table[aria-labelledby=table-main] th", has_text="gap")
    assert column(page, "main", 3) == ["0.1000", "−0.0500", "0.0004", "0.3000"]
    gap.locator("button").click()
    assert column(page, "main", 3) == ["−0.0500", "0.0004", "0.1000", "0.3000"]
    assert gap.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert column(page, "main", 3) == ["0.3000", "0.1000", "0.0004", "−0.0500"]
    assert gap.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert column(page, "main", 4) == ["−0.0665", "−0.0325", "0.0836", ""]  # empty cells are last
    assert gap.get_attribute("aria-sort") is None
    page.keyboard.press("Space")
    assert column(page, "main", 4) == ["0.0836", "−0.0325", "−0.0665", ""]
    # Names are sorted as words, and numbers within them as numbers.
    page.locator("table[aria-labelledby=table-completeness] th button", has_text="model").click()
    assert column(page, "completeness", 3) == [f"M{number}" for number in range(50)]
    page.locator("table[aria-labelledby=table-main] th button", has_text="judge or family").click()
    assert column(page, "main", 2) == [HOSTILE, "Bo", "Cy", "Di"]


def test_no_requests_and_no_messages(page, report):
    requests, messages = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.reload()
    page.evaluate(OPEN)
    for button in page.locator("th button").all()[:5]:
        button.click()
    # Fonts are within the page
    outside = [url for url in requests if not url.startswith("data:font/")]
    assert outside == [report.as_uri()]
    assert messages == []
    assert page.evaluate("() => window.broken") is None


def test_contents_are_within_the_page(page):
    ends = """() => [...document.querySelectorAll('nav a')]
      .map((each) => each.getBoundingClientRect()).flatMap((box) => [box.left, box.right])"""
    for width in (800, 1400, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert 0 <= min(page.evaluate(ends)) <= max(page.evaluate(ends)) <= width
    page.evaluate("() => { location.hash = 'ranking'; }")
    page.wait_for_function("() => scrollY > 0")
    bar = page.locator("nav").bounding_box()
    assert page.locator("#ranking").bounding_box()["y"] >= bar["y"] + bar["height"]


FONT_SIZES = """() => [...document.querySelectorAll('p, td')]
  .map((each) => parseFloat(getComputedStyle(each).fontSize))"""


def test_the_document_does_not_scroll_sideways_and_small_tables_are_cards_on_a_phone(page):
    page.evaluate(OPEN)
    for width in (1300, 375, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert len(set(page.evaluate(WIDTHS))) == 1
        assert min(page.evaluate(FONT_SIZES)) >= 13
    for box in page.locator(".cards").all():
        assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    labels = "(cell) => getComputedStyle(cell, '::before').content"
    ranking = page.locator("table[aria-labelledby=ranking] tbody tr").first
    assert ranking.locator("td").first.evaluate(labels) == '"rank: "'
    top, *others = (
        cell.bounding_box()["y"] for cell in ranking.locator("th, td:visible").all()[1::-1]
    )
    assert top < min(others)  # the name, above its rank
    assert page.locator(".verdicts td.advice").first.evaluate(labels) == '"what to do: "'


def test_headings_and_landmarks_are_in_order_and_elements_have_names(page):
    levels = page.evaluate(
        "() => [...document.querySelectorAll('h1, h2, h3, h4')].map((each) =>"
        " Number(each.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for landmark in ("header", "nav[aria-label]", "main", "footer"):
        assert page.locator(landmark).count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    page.evaluate(OPEN)
    assert page.evaluate(NAMELESS) == []
    for picture in page.locator("svg.picture").all():
        assert picture.get_attribute("role") == "img"
        assert page.locator(f"#{picture.get_attribute('aria-describedby')}").inner_text()


@pytest.mark.skipif(
    "RECUSE_AXE" not in os.environ,
    reason="needs RECUSE_AXE, the path of axe.min.js, as by npm install axe-core",
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 800, 1400])
@pytest.mark.parametrize("opened", [False, True])
def test_axe_finds_no_violation(page, scheme, width, opened):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate(OPEN if opened else "() => 0")
    page.evaluate(Path(os.environ["RECUSE_AXE"]).read_text("utf-8") + ";0")
    assert [each["id"] for each in page.evaluate("() => axe.run()")["violations"]] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrasts_with_its_background(page, scheme):
    page.emulate_media(color_scheme=scheme)
    page.evaluate(OPEN)
    faint = [text for text, ink, paper in page.evaluate(COLOURS) if contrast(ink, paper) < 4.5]
    assert faint == []


def contrast(one, other):
    """(L1 + 0.05) / (L2 + 0.05) of the relative luminances, the lighter first. Source: WCAG 2.2,
    1.4.3.
    """
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_contrast_is_that_of_the_standard():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((0x76,) * 3, (255,) * 3) == pytest.approx(4.54, abs=0.01)


def test_the_keyboard_reaches_the_answer_first_with_a_visible_focus(page):
    page.keyboard.press("Tab")
    outline = "() => getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the answer"
    assert page.evaluate(outline) == "solid"
    assert page.evaluate("() => document.activeElement.getBoundingClientRect().top >= 0")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash === '#answer'")


def test_only_the_answer_and_what_is_open_is_printed(page):
    page.emulate_media(media="print")
    assert page.locator("h2:visible").all_inner_texts() == [
        "Answer",
        "Does the ranking of models change?",
    ]
    page.evaluate("() => { location.hash = 'table-main'; }")
    page.wait_for_function("() => document.querySelectorAll('details[open]').length === 2")
    assert page.locator("h2:visible").all_inner_texts()[-1] == "Tables"
    assert page.locator("h3:visible").all_inner_texts() == [
        "Next steps",
        "Self-bias by judge",
        "Self- and family-bias by Equation 1",
    ]
    badge = page.locator(".badge")
    badge.evaluate("(badge) => badge.classList.add('simulated')")
    style = (
        "(badge) => [getComputedStyle(badge).backgroundColor,"
        " getComputedStyle(badge).printColorAdjust]"
    )
    assert badge.evaluate(style) == ["rgb(34, 34, 34)", "exact"]
    # Tables are no wider than the paper
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 between its margins
    page.evaluate(OPEN)
    words = (
        "() => { for (const cell of document.querySelectorAll('td:not(.n), th button'))"
        " cell.append(' and more'); }"
    )
    page.evaluate(words)
    right = page.evaluate(
        "() => Math.max(...[...document.querySelectorAll('table')].map((e) =>"
        " e.getBoundingClientRect().right))"
    )
    assert right <= 718


def test_an_address_opens_the_folded_parts_that_its_target_is_in(page, report):
    page.goto(f"{report.as_uri()}#table-completeness")
    assert page.locator("details[open]").count() == 2
    assert 0 <= page.locator("#table-completeness").bounding_box()["y"] < 900
    page.locator("nav a", has_text="Methods").click()
    page.wait_for_function("() => document.querySelector('#methods').closest('details').open")


def test_every_heading_that_is_no_table_has_a_link_seen_on_focus(page):
    page.evaluate(OPEN)
    for link in page.locator(".permalink").all():
        link.focus()
        assert link.evaluate(
            "(link) => [getComputedStyle(link).opacity, !!document.querySelector(link.hash)]"
        ) == ["1", True]
    # Of the answer
    assert page.locator(".permalink").count() == page.locator("h2, figure").count() - 1


def test_a_term_is_explained_by_keyboard(page):
    page.locator("section").first.locator("a.term", has_text="established").focus()
    page.keyboard.press("Enter")
    words = page.locator("dl.glossary dt:text-is('established') + dd").text_content()
    assert page.locator("#note").inner_text() == f"established: {words}"
    page.keyboard.press("Escape")
    assert page.locator("#note").is_hidden()
    assert page.locator("section").first.locator("a.term", has_text="established").count() == 1


def test_the_citation_is_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#copy").click()
    page.wait_for_function("() => document.querySelector('#note').textContent === 'Copied.'")
    assert page.evaluate("() => navigator.clipboard.readText()").startswith("The recuse authors.")


def test_texts_of_figures_are_in_the_font_of_the_page(page):
    assert page.evaluate(
        "() => document.fonts.ready.then(() => [...document.fonts].map((font) => font.status))"
    ) == ["loaded"]
    # Heading and picture, beside the title
    assert page.get_by_text("Self-bias by judge", exact=True).count() == 2


def test_a_figure_wider_than_a_phone_has_a_cue_until_its_end(page):
    page.set_viewport_size({"width": 390, "height": 800})
    box = page.locator("#verdicts .scroll")
    cue = (
        "(box) => [getComputedStyle(box, '::before').content.includes('scroll sideways'),"
        " getComputedStyle(box).maskImage]"
    )
    has_cue, mask = box.evaluate(cue)
    assert has_cue
    assert "gradient" in mask
    box.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
    page.wait_for_function(
        "() => !document.querySelector('#verdicts .scroll').classList.contains('more')"
    )
    assert box.evaluate(cue) == [True, "none"]
    page.set_viewport_size({"width": 1300, "height": 900})
    page.wait_for_function(
        "() => !document.querySelector('#verdicts .scroll').classList.contains('wide')"
    )
    assert box.evaluate(cue) == [False, "none"]


@pytest.mark.parametrize(
    "name", ["שופט", "שופט טוב", "قاضٍ-3", "evil\u202e", "evil\u2067", "x\u200f"]
)
def test_a_name_leaves_the_numbers_after_it_in_their_order(window, tmp_path, name):
    (tmp_path / "page.j2").write_text(
        "<p><strong>{{ name }}</strong>: +140.0 (−300.0 to 680.0), of {{ name }}, 1 of 2</p>"
    )
    (tmp_path / "page.html").write_text(rendered(tmp_path / "page.j2", name=name), "utf-8")
    window.goto((tmp_path / "page.html").as_uri())
    words = [name[:1], "+140.0", "−300.0", "to", "680.0", "of", name[:1], "1", "2"]
    lefts = window.evaluate(LEFTS, words)
    assert lefts == sorted(lefts)
    assert lefts[0] > 0


def test_a_style_or_script_that_is_not_the_pages_own_has_no_effect(page, report, tmp_path):
    inside = (
        "<p id=p style='color: red' onclick='window.broken = 1'>x</p><style>p { color: red"
        " }</style><script>broken = 1</script>"
    )
    (tmp_path / "page.html").write_text(
        report.read_text("utf-8").replace("<main>", f"<main>{inside}"), "utf-8"
    )
    page.goto((tmp_path / "page.html").as_uri())
    page.locator("#p").click()
    assert page.evaluate(
        "() => [window.broken, getComputedStyle(document.querySelector('#p')).color]"
    ) == [None, "rgb(34, 34, 34)"]
    assert page.locator("th button").count() > 5


def test_pictures_are_as_wide_as_they_are_drawn(page):
    width = page.locator("#verdicts svg").evaluate("(svg) => getComputedStyle(svg).width")
    assert float(width.removesuffix("px")) == pytest.approx(1.3 * 500 * 4 / 3, abs=0.05)
