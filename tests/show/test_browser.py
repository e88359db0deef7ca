"""The page as a person uses it, in a headless browser.

Skipped where there is no `chromium` or no Playwright: `apt-get install chromium` and
`pip install -e ".[browser]"`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from srcgrad.jobs import Job
from srcgrad.show.page import page
from srcgrad.show.variant import view
from srcgrad.spelling import parse_types

from . import programs

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
# As root in a container, and silent: nothing is asked of the network.
FLAGS = (
    "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
    "disable-component-update disable-sync"
)
START = programs.simulate.__code__.co_firstlineno
LEFT = ".variant:not([hidden]) .left"
RIGHT = ".variant:not([hidden]) .right"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[f"--{flag}" for flag in FLAGS.split()]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    types = tuple(parse_types("x=float64[:], w=float, n=int").items())
    jobs = [
        Job(programs.simulate, mode, ("x", "w"), t)
        for mode in ("grad", "jvp")
        for t in (types, ())
    ]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page(view(jobs)), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def seen(browser: Any, file: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1360, "height": 820})
    tab = context.new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("request", lambda r: problems.append(r.url) if not r.url.startswith("file:") else None)
    tab.goto(file)
    yield tab
    context.close()
    assert problems == []


def line(offset: int) -> str:
    return f'{LEFT} .line[data-n="{START + offset}"]'


def lit(tab: Any, sweep: str) -> list[str]:
    rows: list[str] = tab.locator(f"{RIGHT} .line.on.{sweep} code").all_inner_texts()
    return [row.strip() for row in rows]


def test_hovering_a_line_lights_up_both_sweeps(seen: Any) -> None:
    seen.hover(line(3) + " code")
    assert "h = np.tanh(w * s + x[i])" in lit(seen, "forward")
    assert any(row.startswith("x_bar[i] +=") for row in lit(seen, "reverse"))
    assert seen.locator("svg.links path.forward").count() == 1
    assert seen.locator("svg.links path.reverse").count() >= 1
    assert f"line {START + 3}:" in seen.locator("#status").inner_text()
    seen.hover("h1")
    assert seen.locator(".line.on").count() == 0


def test_hovering_the_derivative_lights_up_the_primal(seen: Any) -> None:
    seen.hover(f"{RIGHT} .line.forward:has-text('s = h * s + 1.0') code")
    on = seen.locator(f"{LEFT} .line.on")
    assert on.count() == 1
    assert on.get_attribute("data-n") == str(START + 5)


def test_a_click_holds_a_line_until_it_is_clicked_again(seen: Any) -> None:
    seen.click(line(5) + " .no")
    seen.hover(line(3) + " code")
    assert seen.locator(f"{LEFT} .line.on").get_attribute("data-n") == str(START + 5)
    seen.click(line(5) + " .no")
    assert seen.locator(".pinned").count() == 0


def test_a_tape_shows_where_it_is_emptied(seen: Any) -> None:
    seen.hover(f"{RIGHT} .line:has-text('h_tape.append(h)') code")
    rows = seen.locator(".line.same-tape code").all_inner_texts()
    assert [row.strip() for row in rows] == ["h_tape.append(h)", "h = h_tape.pop()"]


def test_modes_and_types_are_switched(seen: Any) -> None:
    seen.click("button[data-mode=jvp]")
    assert seen.locator(f"{RIGHT} code", has_text="def simulate_jvp").count() == 1
    seen.select_option("#types", "types not known")
    assert seen.locator(f"{RIGHT} code", has_text="# Types: not known").count() == 1
    assert seen.locator("button[data-mode=jvp]").get_attribute("aria-selected") == "true"
    assert seen.locator(".variant:not([hidden])").count() == 1


def test_search_finds_counts_and_walks(seen: Any) -> None:
    seen.keyboard.press("/")
    seen.keyboard.type("x_bar")
    count = seen.locator(".variant:not([hidden]) .line.hit").count()
    assert count >= 3
    assert seen.locator(".count").inner_text() == str(count)
    seen.keyboard.press("Enter")
    assert seen.locator(".count").inner_text() == f"1/{count}"
    seen.keyboard.press("Escape")
    assert seen.locator(".hit").count() == 0


def test_the_copy_button_copies_the_text(seen: Any) -> None:
    seen.evaluate("navigator.clipboard.writeText = async (t) => { window.copied = t; }")
    seen.click(".copy")
    seen.wait_for_function("document.querySelector('.copy').textContent === 'Copied'")
    text = seen.evaluate("window.copied")
    assert "def simulate_grad(x, w, n):" in text
    compile(text, "copied", "exec")


def test_the_keyboard_is_enough(seen: Any) -> None:
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown"):
        seen.keyboard.press(key)
    focused = "document.activeElement.dataset.n"
    assert seen.evaluate(focused) == str(START + 3)
    assert "h = np.tanh(w * s + x[i])" in lit(seen, "forward")
    seen.keyboard.press("ArrowRight")
    assert seen.evaluate("!!document.activeElement.closest('.right')")
    seen.keyboard.press("Enter")
    assert seen.locator(".pinned").count() == 1
    seen.keyboard.press("Escape")
    assert seen.locator(".pinned").count() == 0
    seen.keyboard.press("m")
    assert seen.locator("button[data-mode=jvp]").get_attribute("aria-selected") == "true"
    seen.keyboard.press("?")
    assert seen.locator("dialog[open]").count() == 1


def test_rules_are_reached_from_where_they_are_used(seen: Any) -> None:
    seen.click(f"{LEFT} a.rule-link >> nth=0")
    assert seen.locator(f"{LEFT} .rule:target h4").inner_text().startswith("numpy.tanh")


def test_the_numbers_stay_where_they_are_when_a_pane_is_scrolled(seen: Any) -> None:
    seen.set_viewport_size({"width": 900, "height": 600})
    number = seen.locator(f"{RIGHT} .line .no >> nth=0")
    before = number.bounding_box()["x"]
    assert seen.evaluate("(s) => { const p = document.querySelector(s); p.scrollLeft = 60;"
                         " return p.scrollLeft; }", RIGHT) == 60  # fmt: skip
    assert abs(number.bounding_box()["x"] - before) <= 4


def contrast(tab: Any, selector: str) -> float:
    found: float = tab.evaluate(
        """(selector) => {
          const part = (c) => { c /= 255;
            return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
          const light = (t) => { const [r, g, b] = t.match(/[\\d.]+/g).map(Number);
            return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
          const element = document.querySelector(selector);
          let behind = element, ground;
          do { ground = getComputedStyle(behind).backgroundColor; behind = behind.parentElement; }
          while (ground === 'rgba(0, 0, 0, 0)');
          const [a, b] = [light(getComputedStyle(element).color), light(ground)];
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        }""",
        selector,
    )
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_readable_in_both_schemes(browser: Any, file: str, scheme: Any) -> None:
    tab = browser.new_page(color_scheme=scheme)
    tab.goto(file)
    assert tab.evaluate("document.documentElement.dataset.theme") == scheme
    tab.wait_for_timeout(300)  # for the colours to have changed
    kinds = ["keyword", "number", "comment", "definition", "adjoint", "tape", "builtin"]
    for selector in [f"{RIGHT} .k-{kind}" for kind in kinds] + [".place", f"{RIGHT} .no"]:
        assert contrast(tab, selector) >= 4.5, selector
    tab.keyboard.press("t")
    assert tab.evaluate("document.documentElement.dataset.theme") != scheme
    tab.close()


def test_a_phone_shows_one_pane_under_the_other(browser: Any, file: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    tab = context.new_page()
    tab.goto(file)
    left, right = tab.locator(LEFT).bounding_box(), tab.locator(RIGHT).bounding_box()
    assert right["y"] >= left["y"] + left["height"]
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.tap(line(3) + " .no")
    assert "h = np.tanh(w * s + x[i])" in lit(tab, "forward")
    tab.click("#status button >> nth=-1")
    tab.wait_for_function("scrollY > 0")
    context.close()
