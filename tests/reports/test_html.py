"""The page, without a browser: its content, that nothing in it runs, that it stays small."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import Recorder, check, load, save
from isoscope.checkers import search
from isoscope.reports.html import embedded_counterexamples, render_html
from isoscope.reports.html.short_names import LONGEST
from tests.recorded import record
from tests.reports.pages import HOSTILE, many
from tests.test_cases import CLAIMED, VIOLATED

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope import History

FRACTURED = record([("write", "x", 1), ("write", "y", 1)], [("read", "x", 0), ("read", "y", 1)])
VALID = record([("write", "x", 1)], [("read", "x", 1)])


class Outline(HTMLParser):
    """Elements with their attributes, and whether every one is closed."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def unpacked(page: str, start: str) -> list[Any]:
    """The data of the packed scripts; `start` is the beginning of their attributes."""
    packed = re.findall(rf'<script type="text/plain" {start}">([^<]*)</script>', page)
    return [json.loads(zlib.decompress(base64.b64decode(text))) for text in packed]


def articles(page: str) -> str:
    """The HTML of all counterexamples, plain and packed."""
    return page + "".join(html for part in unpacked(page, 'class="part') for html in part.values())


def test_the_same_report_is_the_same_page() -> None:
    assert render_html(check(FRACTURED)) == render_html(check(FRACTURED))


def test_every_element_is_closed_and_every_id_is_there_once() -> None:
    outline = Outline(render_html(check(FRACTURED)))
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert outline.open == []
    assert len(ids) == len(set(ids))


def test_the_page_loads_nothing_and_runs_only_its_own_script_and_style() -> None:
    page = render_html(check(FRACTURED))
    style, script = (re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for tag in ("style", "script"))
    assert style is not None
    assert script is not None
    hashes = [
        base64.b64encode(hashlib.sha256(match[1].encode()).digest()).decode() for match in (style, script)
    ]
    policy = (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert f'content="{policy}"' in page
    assert not re.search(r'(src|href|data)="(https?:)?//', page)
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_no_attribute_is_a_style_or_a_script_which_the_policy_would_refuse() -> None:
    for _, attributes in Outline(articles(render_html(check(many(40), max_anomalies=40)))).elements:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


def test_the_summary_has_sizes_and_outcomes() -> None:
    page = render_html(check(FRACTURED))
    assert "<dt>transactions</dt><dd>2</dd>" in page
    assert "Strongest well-known level that holds: read-committed. " in page
    assert "Weakest well-known level that is broken: read-atomic." in page
    assert "<bdi>every key holds 0 before its first write (a list: nothing)</bdi>" in page
    assert '<a href="#fractured-read-co-1">fractured-read-co</a>' in page


@pytest.mark.parametrize(
    ("level", "outcome", "words"),
    [
        (
            "read-committed",
            "yes",
            "<strong>Yes.</strong> <bdi>The history kept read committed (2 transactions).",
        ),
        (
            "read-atomic",
            "no",
            "<strong>No.</strong> <bdi>The history broke read atomicity: 1 fractured read (",
        ),
        ("strict-serializable", "not-decided", "<strong>Not decided:</strong> <bdi>whether the history kept"),
    ],
)
def test_the_head_of_the_page_answers_in_words_with_an_icon(level: str, outcome: str, words: str) -> None:
    history = VALID if outcome == "not-decided" else FRACTURED
    page = render_html(check(history, [level]))
    assert f'<div class="answer {outcome}" role="status">' in page
    assert words in page


def test_few_inferred_steps_are_open_and_many_are_not() -> None:
    lost = record([("read", "x", 0), ("write", "x", 1)], [("read", "x", 0), ("write", "x", 2)])
    assert "<details open><summary><b>" in render_html(check(lost, ["snapshot-isolation"]))


def test_a_valid_history_has_a_page_too() -> None:
    page = render_html(check(VALID))
    assert "<p>No anomaly was found.</p>" in page
    assert "<article" not in page


def test_a_search_for_anomalies_has_a_page_without_a_lattice() -> None:
    page = render_html(search(FRACTURED, ["fractured-read-co", "aborted-read"]))
    assert '<th scope="row">aborted-read</th><td class="holds" data-head="answer">absent</td>' in page
    assert 'id="fractured-read-co-1"' in page
    assert 'class="lattice"' not in page


def test_the_first_counterexample_of_each_name_needs_no_script() -> None:
    page = render_html(check(many(5), ["read-atomic"]))
    assert re.findall(r'<article class="counterexample" id="([^"]+)"', page) == ["fractured-read-co-1"]
    assert [sorted(part) for part in unpacked(page, 'class="part')] == [
        [f"fractured-read-co-{number}" for number in range(2, 6)]
    ]


def test_the_index_has_the_part_and_the_transactions_of_each_counterexample() -> None:
    [index] = unpacked(render_html(check(FRACTURED, ["read-atomic"])), 'id="index')
    assert index["examples"] == [
        ["fractured-read-co-1", "fractured-read-co", "T1 T2", "x, y", embedded_counterexamples.PLAIN]
    ]
    assert [(row[0], row[-1]) for row in index["transactions"]] == [("T1", [0]), ("T2", [0])]


def test_a_step_names_its_arrow_and_its_operations() -> None:
    page = render_html(check(FRACTURED))
    assert re.search(r'<li tabindex="0" data-step="0" data-operations="T2:1 T1:1">', page)
    assert re.search(r'<g class="step wr" data-step="0"[^>]* data-operations="T2:1 T1:1">', page)
    assert re.search(r'<p class="contradiction" tabindex="0" data-step="missed"', page)


def test_an_inferred_step_can_be_opened() -> None:
    lost = record(
        [("read", "x", 0), ("write", "x", 1)],
        [("read", "x", 0), ("write", "x", 2)],
        [("read", "x", 1)],
    )
    page = render_html(check(lost, ["snapshot-isolation"]))
    assert '<span class="inferred">inferred</span></summary>' in page
    assert "<p>Inferred: every key starts with its initial value" in page
    assert "<p>It rests on:</p>" in page


@pytest.mark.parametrize("path", VIOLATED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_anomaly_of_the_catalogue_has_its_place_in_a_page(path: Path) -> None:
    name = path.parent.name
    found = search(load(path), [name], assume=CLAIMED.get(name, ()))
    page = articles(render_html(found, folder=str(path.parent)))
    assert f'id="{name}-1"' in page
    assert f'href="{path.name}#L' in page
    assert Outline(page).open == []


def recorded(text: Any, *, key: Any = "x", ids: tuple[str, str] = ("writer", "reader")) -> History:
    """A history with a fractured read and these texts in it."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=text, id=ids[0]) as first:
        first.write(key, text)
        first.write("other", text)
    with recorder.transaction(session="reader", id=ids[1]) as second:
        second.read(key, 0)
        second.read("other", text)
    return recorder.history()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_texts_of_a_history_are_never_markup(text: str) -> None:
    outline = Outline(articles(render_html(check(recorded(text, key=text, ids=(text, "reader"))))))
    plain = Outline(articles(render_html(check(recorded("v", key="k")))))
    assert [tag for tag, _ in outline.elements] == [tag for tag, _ in plain.elements]
    assert [set(attributes) for _, attributes in outline.elements] == [
        set(attributes) for _, attributes in plain.elements
    ]


def test_characters_that_cannot_be_printed_are_spelt_out() -> None:
    page = articles(render_html(check(recorded("a\u202eb\u0000c\nd"))))
    assert "\u202e" not in page
    assert "\u0000" not in page
    assert r"a\u202eb\u0000c\nd" in page


def test_a_text_of_ten_million_letters_does_not_enter_the_page() -> None:
    page = render_html(check(recorded("long" * 2_500_000, key="key" * 2_500_000)))
    assert len(page) < 150_000
    assert "longlong" in page


def test_very_long_names_of_transactions_are_short_and_stay_apart() -> None:
    name = "n" * 100_000
    page = render_html(check(recorded("v", ids=(f"{name}1{name}", f"{name}2{name}")), ["read-atomic"]))
    [index] = unpacked(page, 'id="index')
    names = [row[0] for row in index["transactions"]]
    assert len(page) < 100_000
    assert len(set(names)) == 2
    assert all(len(name) <= LONGEST for name in names)


def test_a_page_holds_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_counterexamples, "_BUDGET", 60_000)
    report = check(many(600), ["read-atomic"], max_anomalies=600)
    page = render_html(report)
    [index] = unpacked(page, 'id="index')
    assert 32 < len(index["examples"]) < 600
    assert len(page) < 60_000 + 80_000
    assert (
        f'data-head="found">600</td><td class="number" data-head="in this file">{len(index["examples"])}</td>'
        in page
    )


def test_names_take_turns_when_there_is_not_room_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_counterexamples, "_MAX_EXAMPLES", 6)
    history = record(
        *[[("write", f"x{n}", 1), ("write", f"y{n}", 1)] for n in range(5)],
        *[[("read", f"x{n}", 0), ("read", f"y{n}", 1)] for n in range(5)],
        *[[("read", f"z{n}", 7)] for n in range(5)],
    )
    [index] = unpacked(render_html(check(history, ["read-atomic"])), 'id="index')
    assert [row[0] for row in index["examples"]] == [
        *(f"thin-air-read-{number}" for number in (1, 2, 3)),
        *(f"fractured-read-co-{number}" for number in (1, 2, 3)),
    ]


def test_places_are_links_from_the_folder_of_the_page(tmp_path: Path) -> None:
    inside = tmp_path / "in puts"
    inside.mkdir()
    path = inside / "a#b.txt"
    path.write_text("w(1,1,0,0)\nw(2,1,0,0)\nr(1,0,1,1)\nr(2,1,1,1)\n", encoding="utf-8")
    report = check(load(path))
    assert 'href="../in%20puts/a%23b.txt#L3"><bdi>line 3</bdi></a>' in render_html(
        report, folder=str(tmp_path / "out")
    )
    assert '<a class="place"' not in render_html(report)
    assert '<span class="place"><bdi>line 3</bdi></span>' in render_html(report)


def test_a_file_that_a_browser_cannot_show_is_no_link(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    save(FRACTURED, path)
    page = render_html(check(load(path)), folder=str(tmp_path))
    assert '<span class="place"><bdi>line ' in page
    assert '<a class="place"' not in page


def test_a_value_that_looks_like_a_place_is_no_link(tmp_path: Path) -> None:
    report = check(recorded("(<memory>:12)"), ["read-atomic"])
    assert '<span class="place">' not in render_html(report, folder=str(tmp_path))


def test_large_counterexamples_do_not_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_counterexamples, "_PART_LONGEST", 20_000)
    parts = unpacked(render_html(check(many(20), ["read-atomic"], max_anomalies=20)), 'class="part')
    assert len(parts) > 3
    assert sum(map(len, parts)) == 19
