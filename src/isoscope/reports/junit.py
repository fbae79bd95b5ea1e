"""JUnit XML, as Jenkins and GitLab read it: a suite for each history, a case for each level.

The property `answer` of a suite is the answer in words. A case fails if it decides the exit status: a level
that was named or promised, or without both one of the minimum, is violated. Other violated or unknown levels
are skipped with a reason, so that a green job stays green. A named or promised level that is unknown is an
error, as is a history that could not be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from isoscope.reports.findings import Unreadable, rows
from isoscope.reports.text import render_text
from isoscope.verdict import Outcome, Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.reports.findings import Result, Row

__all__ = ["render_junit"]

#: The attributes in which a suite counts the elements of its cases.
_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def render_junit(results: Sequence[Result], *, timings: bool = False) -> str:
    """One document for all histories; without `timings` the same input gives the same bytes."""
    root = ElementTree.Element("testsuites", name="isoscope")
    for result in results:
        root.append(_suite(result, timings=timings))
    _count(root)
    # Jenkins' schema has this attribute for suites only.
    del root.attrib["skipped"]
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True).decode()
    return f"{text}\n"


def _suite(result: Result, *, timings: bool) -> ElementTree.Element:
    if isinstance(result, Unreadable):
        suite = ElementTree.Element("testsuite", name=_allowed(result.path))
        case = _case(suite, result.path, "read")
        _end(case, "error", "unreadable", result.message, text=result.error)
    else:
        path = str(result.history["path"])
        suite = ElementTree.Element("testsuite", name=_allowed(path))
        if isinstance(result, Report):
            properties = ElementTree.SubElement(suite, "properties")
            ElementTree.SubElement(
                properties, "property", name="answer", value=_allowed(result.answer.sentence)
            )
        for row in rows(result):
            _row(_case(suite, path, row.name), row)
        if timings and result.seconds is not None:
            suite.set("time", f"{sum(result.seconds.values()):.6f}")
    _count(suite)
    return suite


def _case(suite: ElementTree.Element, path: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_allowed(path), name=name)


def _row(case: ElementTree.Element, row: Row) -> None:
    if row.outcome is Outcome.VIOLATED:
        found = ", ".join(row.anomalies)
        if row.counts:
            _end(case, "failure", "violated", _message(row), text=render_text(row.part))
        else:
            _end(case, "skipped", "violated", f"violated, but not asked for: {found}")
    elif row.outcome is Outcome.UNKNOWN:
        kind = "error" if row.counts else "skipped"
        _end(case, kind, "unknown", f"unknown: {row.reason}")


def _message(row: Row) -> str:
    """The answer about this level alone; of an anomaly that was looked for, its name."""
    return row.part.answer.sentence if isinstance(row.part, Report) else f"found: {', '.join(row.anomalies)}"


def _end(case: ElementTree.Element, tag: str, kind: str, message: str, *, text: str = "") -> None:
    end = ElementTree.SubElement(case, tag, type=kind, message=_allowed(message))
    end.text = _allowed(text) or None


def _count(element: ElementTree.Element) -> None:
    for attribute, tag in _COUNTED.items():
        element.set(attribute, str(sum(1 for _ in element.iter(tag))))


def _allowed(text: str) -> str:
    """Spells out the characters that XML 1.0 cannot hold: most control characters, halves of pairs."""
    return "".join(letter if _is_allowed(ord(letter)) else _spelt(letter) for letter in text)


def _is_allowed(code: int) -> bool:
    return code in (0x9, 0xA) or 0x20 <= code < 0x7F or 0xA0 <= code < 0xD800 or _is_high(code)


def _is_high(code: int) -> bool:
    return 0xE000 <= code < 0xFFFE or code >= 0x10000


def _spelt(letter: str) -> str:
    return letter.encode("unicode-escape").decode("ascii")
