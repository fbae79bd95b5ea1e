"""SVG: well-formed, inert, the same every time, small, and ready for a page that restyles it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

import isoscope
from isoscope.checkers import check
from isoscope.explain import message
from isoscope.history import Term
from isoscope.reports import STYLE, render_svg
from tests.recorded import record
from tests.repo.test_files import ROOT
from tests.reports.anomalies import CASES, HOSTILE, HOSTILE_TERMS, anomaly_of, circle, shown
from tests.strategies import histories

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History
    from isoscope.verdict import Anomaly

SVG = "{http://www.w3.org/2000/svg}"
MARK = "\N{LEFT-TO-RIGHT MARK}"
PANEL = f"{SVG}g[@class='panel']"
each_case = pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")


def parsed(anomaly: Anomaly, ids: str = "") -> ET.Element:
    return ET.fromstring(render_svg(anomaly, ids=ids))


def written(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@each_case
def test_the_picture_of_a_case_is_well_formed_small_and_described(path: Path) -> None:
    anomaly = anomaly_of(path)
    text = render_svg(anomaly)
    root = ET.fromstring(text)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == anomaly.name
    assert root.findtext(f"{SVG}desc") == message(anomaly)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert len(text.encode()) < 5_000 + 1_700 * len(anomaly.transactions) * len(root.findall(PANEL))


@given(histories())
def test_any_picture_is_well_formed_and_the_same_every_time(history: History) -> None:
    for anomaly in shown(check(history)):
        assert parsed(anomaly) is not None
        assert render_svg(anomaly) == render_svg(replace(anomaly))


def test_the_picture_in_the_documentation_is_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture contains the path of its input, so the test runs in the folder that the page names."""
    page = ROOT / "docs" / "how-to" / "draw-a-counterexample.md"
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^> ({.*})$", page.read_text(encoding="utf-8"), re.MULTILINE)
    (tmp_path / "doctors.edn").write_text("\n".join(lines) + "\n")
    [anomaly] = shown(check(isoscope.load("doctors.edn"), ["serializable"]))
    assert render_svg(anomaly) == (page.parent / "write-skew.svg").read_text(encoding="utf-8")


def test_everything_can_be_found_by_a_page() -> None:
    root = parsed(circle(2))
    boxes = [
        element.get("data-transaction") for element in root.iter() if "data-transaction" in element.attrib
    ]
    rows = [element.get("data-operation") for element in root.iter() if "data-operation" in element.attrib]
    steps = [
        (element.get("class"), element.get("data-step"), element.get("data-operations"))
        for element in root.iter()
        if "data-step" in element.attrib
    ]
    assert boxes == ["T0", "T1"]
    assert rows == ["T0:0", "T0:1", "T1:0", "T1:1"]
    assert steps == [("step wr", "0", "T0:1 T1:0"), ("step wr", "1", "T1:1 T0:0")]


def test_operations_that_matter_are_marked_and_those_left_out_are_counted() -> None:
    anomaly = circle(2)
    first, second = anomaly.participants
    crowded = replace(first, matters=frozenset({1}), left_out=1200)
    root = parsed(replace(anomaly, participants=(crowded, second)))
    marked = [
        element.get("data-operation")
        for element in root.iter()
        if element.get("class") == "operation matters"
    ]
    assert marked == ["T0:1", "T1:0", "T1:1"]
    assert "... 1,200 more" in written(root)


@pytest.mark.parametrize("status", ["aborted", "indeterminate"])
def test_a_status_is_a_border_and_a_word(status: str) -> None:
    anomaly = circle(2)
    first, second = anomaly.participants
    root = parsed(replace(anomaly, participants=(replace(first, status=status), second)))
    assert [e.get("data-transaction") for e in root.iter() if e.get("class") == f"box {status}"] == ["T0"]
    assert status in written(root)
    assert re.search(rf"\.{status} \.rim{{stroke-dasharray", STYLE)


def test_an_unknown_end_has_no_border() -> None:
    anomaly = circle(2, clock="intervals")
    first, second = anomaly.participants
    root = parsed(replace(anomaly, participants=(replace(first, times=(0, None)), second)))
    rims = [element for element in root.iter() if element.get("class") == "rim"]
    assert [element.tag for element in rims] == [f"{SVG}path", f"{SVG}rect"]
    assert (rims[0].get("d") or "").count("V") == 1


def test_inferred_edges_are_dashed_and_the_legend_says_so() -> None:
    history = record([("write", "x", 1), ("write", "y", 1)], [("read", "x", 0), ("read", "y", 1)])
    [anomaly, *_] = shown(check(history, ["read-atomic"]))
    root = parsed(anomaly)
    assert [e.get("data-step") for e in root.iter() if e.get("class") == "step rw inferred"] == ["missed"]
    assert "dashed: follows from other things" in written(root)
    assert ".inferred .line{stroke-dasharray" in STYLE


def test_kinds_of_arrows_differ_in_more_than_colour() -> None:
    root = parsed(anomaly_of(next(path for path in CASES if path.parent.name == "long-fork-real-time")))
    heads = {
        (group.get("class") or "").split()[1]: group.find(f"{SVG}path[@class='head']").attrib["d"]  # type: ignore[union-attr]
        for group in root.iter(f"{SVG}g")
        if "data-step" in group.attrib
    }
    assert heads.keys() == {"wr", "rw", "real-time"}
    assert heads["real-time"] != heads["wr"]
    # These two have the same outline: one is filled, the other is not.
    assert ".rw .head" in STYLE


@pytest.mark.parametrize("key", [*HOSTILE, *map(Term, HOSTILE_TERMS)], ids=repr)
def test_a_hostile_key_is_inert(key: object) -> None:
    harmless, root = parsed(circle(3)), parsed(circle(3, key=key))
    assert [element.tag for element in root.iter()] == [element.tag for element in harmless.iter()]
    assert [element.keys() for element in root.iter()] == [element.keys() for element in harmless.iter()]
    assert all(line.replace(MARK, "").isprintable() for line in written(root))


def test_words_that_run_to_the_left_leave_the_rest_of_the_line_in_its_place() -> None:
    texts = written(parsed(circle(2, key="שלום")))
    assert f"read שלום{MARK} = 1" in texts
    assert f"wr שלום{MARK}" in texts
    assert not any(MARK in text for text in written(parsed(circle(2, key="漢字"))))


def test_hostile_names_of_transactions_and_sessions_are_inert() -> None:
    hostile = '"><script>\x07'
    anomaly = circle(2)
    [first, second] = anomaly.participants
    named = replace(first, transaction=hostile, session=hostile)
    away = replace(anomaly.steps[0], after=hostile)
    back = replace(anomaly.steps[1], before=hostile)
    root = parsed(
        replace(anomaly, transactions=(hostile, "T1"), participants=(named, second), steps=(away, back))
    )
    assert not list(root.iter(f"{SVG}script"))
    boxes = [e.get("data-transaction") for e in root.iter() if e.get("class") == "box committed"]
    assert boxes == ['"><script>\\u0007', "T1"]


def test_a_value_of_ten_megabytes_takes_no_more_room_than_a_short_one() -> None:
    history = record([("write", "x", "v" * 10_000_000), ("abort",)], [("read", "x", "v" * 10_000_000)])
    [anomaly, *_] = shown(check(history, ["pl-2"]))
    assert len(render_svg(anomaly)) < 10_000


def test_nothing_comes_from_elsewhere_and_nothing_runs() -> None:
    for path in CASES[::9]:
        text = render_svg(anomaly_of(path)).replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"<script|\bon\w+=|https?:|url\(|@import|<image|<use|href|<foreignObject", text)


def test_ids_have_the_prefix_and_are_never_twice_in_a_page() -> None:
    texts = [render_svg(circle(2), ids=f"a{number}-") for number in range(3)]
    found = re.findall(r' id="([^"]*)"', "".join(texts))
    assert len(found) == len(set(found)) == 6
    assert 'aria-labelledby="a1-name a1-what"' in texts[1]


def test_a_page_may_bring_the_style_itself() -> None:
    plain = render_svg(circle(2), styled=False)
    assert "<style>" not in plain
    assert render_svg(circle(2)) == plain.replace("</desc>", f"</desc><style>{STYLE}</style>")


def test_light_and_dark_follow_the_reader_and_the_page() -> None:
    assert "@media(prefers-color-scheme:dark){.isoscope{" in STYLE
    assert "[data-theme=light] .isoscope{" in STYLE
    assert "[data-theme=dark] .isoscope{" in STYLE
    used = set(re.findall(r"var\((--[\w-]+)\)", STYLE))
    defined = [
        set(re.findall(r"(--[\w-]+):", block)) for block in re.findall(r"\.isoscope\{([^}]*)\}", STYLE)
    ]
    assert all(used <= names for names in defined if names)
    assert len([names for names in defined if names]) == 4
