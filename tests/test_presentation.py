"""What a report shows of itself: its text, and a page that links to the file of the history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import isoscope
from isoscope.reports import render_text
from tests.recorded import record

if TYPE_CHECKING:
    from pathlib import Path

#: The second transaction reads what the first one wrote, and then the state before it.
BROKEN = "w(1,1,1,1)\nr(1,1,2,2)\nr(1,0,2,2)\n"


def page_of(report: isoscope.Report | isoscope.Search, folder: Path) -> str:
    report.to_html(folder / "out" / "report.html")
    return (folder / "out" / "report.html").read_text(encoding="utf-8")


def checked(folder: Path) -> tuple[Path, isoscope.Report]:
    path = folder / "run.txt"
    path.write_text(BROKEN, encoding="utf-8")
    (folder / "out").mkdir()
    return path, isoscope.check(path, "cut-isolation")


def test_a_page_links_to_the_file_of_the_history_from_its_own_folder(tmp_path: Path) -> None:
    _, report = checked(tmp_path)
    page = page_of(report, tmp_path)
    assert page.startswith("<!doctype html>")
    assert 'href="../run.txt#L3"' in page


def test_a_page_does_not_link_to_a_file_that_is_gone(tmp_path: Path) -> None:
    path, report = checked(tmp_path)
    path.unlink()
    page = page_of(report, tmp_path)
    assert '<span class="place"><bdi>line 3</bdi></span>' in page
    assert "run.txt#" not in page


def test_a_report_and_a_search_print_as_the_text_of_the_command() -> None:
    history = record([("write", "x", 1)], [("read", "x", 1), ("read", "x", 0)])
    for shown in (isoscope.check(history, "cut-isolation"), isoscope.search(history, "TAP-j")):
        assert f"{shown}\n" == render_text(shown)
        assert "non-repeatable" in repr(shown)
        assert "<svg" in shown._repr_html_()


def test_the_seconds_of_a_check_are_in_the_document_only_if_they_are_asked_for() -> None:
    report = isoscope.check(record([("write", "x", 1)]), "pl-1")
    assert "seconds" not in json.loads(report.to_json())
    assert "seconds" in json.loads(report.to_json(timings=True))
