"""The page of charts: a readable picture for any history."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from isoscope import Recorder
from isoscope.activity import Activity, activity
from isoscope.history import Status
from isoscope.reports.charts import STYLE, Scale, line, round_up, short, written
from isoscope.reports.plot import _apart, render_plot
from tests.recorded import record
from tests.test_activity import timed

SVG = "{http://www.w3.org/2000/svg}"
TITLES = [
    "Throughput",
    "Latency of committed transactions",
    "Transactions under way",
    "Transactions that did not commit",
    "Busiest keys",
    "Use of keys",
]


def drawn(found: Activity, title: str = "run") -> ElementTree.Element:
    return ElementTree.fromstring(render_plot(found, title=title))


def said(page: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in page.iter(f"{SVG}text")]


@pytest.fixture
def busy() -> Activity:
    statuses = [Status.COMMITTED, Status.COMMITTED, Status.ABORTED, Status.INDETERMINATE]
    return activity(timed([(n * 10**6, n * 10**6 + n * 10**4, statuses[n % 4]) for n in range(400)]))


def test_every_chart_has_its_title_and_every_line_its_name(busy: Activity) -> None:
    texts = said(drawn(busy))
    assert [text for text in texts if text in TITLES] == TITLES
    assert {"committed", "p50", "p95", "p99", "max", "mean", "peak", "aborted", "indeterminate"} <= {*texts}
    assert texts.count("since the first invocation, by the client's clock") == 4


def test_lines_of_one_chart_differ_by_dash_or_width_and_not_by_colour_alone(busy: Activity) -> None:
    styles = {element.get("class", "") for element in drawn(busy).iter(f"{SVG}polyline")}
    assert styles == {"line ", "line second", "line third", "line fourth"}
    rules = dict(re.findall(r"^(\.\w+)\{(.*)\}$", STYLE.partition("@media")[0], re.MULTILINE))
    assert len({rules[f".{name}"].partition(";")[2] for name in ("second", "third", "fourth")}) == 3
    assert "stroke-dasharray" not in rules[".line"]


def test_the_page_has_a_description_for_screen_readers(busy: Activity) -> None:
    page = drawn(busy, "<run>")
    assert page.get("aria-labelledby") == "title about"
    assert page.findtext(f"{SVG}title") == "<run>: what went on"
    about = page.findtext(f"{SVG}desc") or ""
    assert all(f"{title}: " in about for title in TITLES)


def test_dark_pages_have_a_rule_for_every_colour() -> None:
    light, dark = STYLE.split("@media")
    for name in (".page", ".line", ".second", ".third", ".fourth", ".bar", ".hollow", ".grid", ".empty"):
        assert f"{name}{{" in light
        assert name in dark


def test_the_same_activity_gives_the_same_bytes(busy: Activity) -> None:
    assert render_plot(busy, title="run") == render_plot(busy, title="run")


def test_charts_that_the_history_cannot_fill_say_why() -> None:
    texts = " ".join(said(drawn(activity(record([("write", "x", 1)], [("abort",)])))))
    assert texts.count("not in this history") == 3
    assert "needs a clock; this history has no times" in texts
    assert "transactions, in order of appearance: the history has no times" in texts


def test_a_history_of_nothing_is_a_page_all_the_same() -> None:
    texts = said(drawn(activity(Recorder(initial=0).history())))
    assert [text for text in texts if text in TITLES] == TITLES
    assert "no transaction was recorded" in texts


def test_one_transaction_is_a_dot() -> None:
    page = drawn(activity(timed([(5, 5, Status.COMMITTED)])))
    assert not list(page.iter(f"{SVG}polyline"))
    assert len(list(page.iter(f"{SVG}circle"))) >= 4


@pytest.mark.parametrize(
    "key",
    ["<script>alert(1)</script>", "\"'&]]>", "\x00\x1b[31m", "\u202egnp.exe", "\ud800", "x" * 1_000_000],
)
def test_a_hostile_key_or_title_is_inert_and_short(key: str) -> None:
    # No input can hold half a character; a path can.
    history = record([] if key == "\ud800" else [("write", key, 1)])
    page = render_plot(activity(history), title=key)
    page.encode("utf-8")
    root = ElementTree.fromstring(page)
    assert not list(root.iter(f"{SVG}script"))
    assert "\u202e" not in page
    assert max(map(len, said(root))) < 200


def test_labels_keep_apart_and_on_the_page() -> None:
    placed = _apart([(200.0, "a"), (201.0, "b"), (203.0, "c"), (60.0, "d")])
    heights = [y for y, _ in placed]
    assert [name for _, name in placed] == ["d", "a", "b", "c"]
    assert all(after - before >= 12 for before, after in pairwise(heights))
    assert heights[-1] <= 208


def test_a_line_is_broken_where_a_bucket_is_empty() -> None:
    marks = list(line([(0, 0), (1, 1), None, (2, 2), None], "second"))
    assert [mark.split()[0] for mark in marks] == ["<polyline", "<circle"]


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (12, "12"), (1234, "1.2k"), (35000, "35k"), (4e6, "4M")]
)
def test_numbers_are_short(number: float, text: str) -> None:
    assert short(number) == text


def test_scales_end_at_round_numbers() -> None:
    assert [round_up(value) for value in (0, 1, 3, 0.07, 900)] == [1, 1, 5, 0.1, 1000]
    assert Scale.linear(5500).ticks() == [0, 3000, 6000]
    assert Scale.logarithmic(3, 4000).ticks() == [1, 10, 100, 1000, 10000]
    assert Scale.logarithmic(5, 5).share(5) == pytest.approx(0.69897)


def test_characters_that_cannot_be_printed_are_written_out() -> None:
    assert written("a\x00<b") == "a\\x00&lt;b"
