"""SARIF 2.1.0, for tools that show findings in the lines of a file: a result for each counterexample.

The rules are the catalogue of anomalies. A result is an error if it decides the exit status, else a
warning. Its location is the operation to look at first, its code flow the circle that proves it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from isoscope import __version__
from isoscope.anomalies import CATALOGUE
from isoscope.explain import because, message, one_line, shown, whole
from isoscope.reports.findings import Unreadable, rows
from isoscope.reports.json import dumps
from isoscope.reports.places import Place
from isoscope.verdict import Outcome, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.anomalies import CatalogueEntry
    from isoscope.reports.findings import Result
    from isoscope.verdict import Anomaly, Finding, Search, Step, Witness

__all__ = ["render_sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: In this format the number of a place is a row, not a line.
_ROWS = "parquet"
_INDEX = {name: place for place, name in enumerate(CATALOGUE)}


def render_sarif(results: Sequence[Result]) -> str:
    """One run with the findings of all histories."""
    notes = [note for result in results for note in _notes(result)]
    unread = any(isinstance(result, Unreadable) for result in results)
    invocation = {"executionSuccessful": not unread, "toolExecutionNotifications": notes}
    rules = [_rule(entry) for entry in CATALOGUE.values()]
    run = {
        "tool": {"driver": {"name": "Isoscope", "semanticVersion": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [one for result in results for one in _results(result)],
    }
    return dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(entry: CatalogueEntry) -> dict[str, Any]:
    return {
        "id": entry.name,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.meaning},
        "help": {"text": f"{entry.meaning} `isoscope explain {entry.name}` shows an example."},
        "properties": {"tags": ["isolation"], "aliases": list(entry.aliases)},
    }


def _notes(result: Result) -> Iterator[dict[str, Any]]:
    """The answer, and the reasons for which verdicts are missing."""
    if isinstance(result, Unreadable):
        yield _note("error", result.error, result.path)
        return
    path = str(result.history["path"])
    if isinstance(result, Report):
        yield _note("note", result.answer.sentence, path)
    for row in rows(result):
        if row.outcome is Outcome.UNKNOWN and row.counts:
            yield _note("warning", f"{row.name} is unknown: {row.reason}", path)


def _note(level: str, text: str, path: str) -> dict[str, Any]:
    location = {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}
    return {"level": level, "message": {"text": _plain(text)}, "locations": [location]}


def _results(result: Result) -> Iterator[dict[str, Any]]:
    if isinstance(result, Unreadable):
        return
    places, prints = _Places(result), Counter[str]()
    for finding in result.findings:
        for anomaly in finding.anomalies:
            mark = _fingerprint(anomaly)
            # A transaction may have read the same twice.
            prints[mark] += 1
            fingerprints = {"isoscope/v1": f"{mark}:{prints[mark]}"}
            yield {**places.result(finding, anomaly), "partialFingerprints": fingerprints}


class _Places:
    """The results of one history; its format says what the number behind a path means."""

    def __init__(self, report: Report | Search) -> None:
        self._path = str(report.history["path"])
        self._are_lines = report.history["format"] != _ROWS

    def result(self, finding: Finding, anomaly: Anomaly) -> dict[str, Any]:
        witnesses = _witnesses(anomaly)
        found = {
            "ruleId": anomaly.name,
            "ruleIndex": _INDEX[anomaly.name],
            "level": "error" if finding.counts else "warning",
            "message": {"text": _plain(message(anomaly))},
            "locations": [self._location(witnesses[0].place if witnesses else "")],
            "relatedLocations": [
                self._operation(one, number) for number, one in enumerate(witnesses) if number
            ],
            "properties": {"found": finding.count, "levels": [str(level) for level in finding.levels]},
        }
        if circle := one_line(anomaly):
            steps = [{"location": self._step(step)} for step in anomaly.steps]
            found["codeFlows"] = [
                {"message": {"text": _plain(circle)}, "threadFlows": [{"locations": steps}]}
            ]
        return found

    def _operation(self, witness: Witness, number: int) -> dict[str, Any]:
        text = f"{witness.transaction}: {witness.kind} {shown(witness.key)} = {shown(witness.value)}"
        return {"id": number, **self._location(witness.place), "message": {"text": _plain(text)}}

    def _step(self, step: Step) -> dict[str, Any]:
        place = step.witnesses[0].place if step.witnesses else ""
        text = f"{step.before} before {step.after} ({step.relation}), because {because(step)}"
        return {**self._location(place), "message": {"text": _plain(text)}}

    def _location(self, place: str) -> dict[str, Any]:
        """The location of a place; for an operation without one, the whole history."""
        parsed = Place.parse(place)
        path = parsed.path if parsed else place or self._path
        physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
        if parsed and parsed.unit == "byte":
            physical["region"] = {"byteOffset": int(parsed.number), "byteLength": 0}
        elif parsed and self._are_lines:
            physical["region"] = {"startLine": int(parsed.number)}
        return {"physicalLocation": physical}


def _witnesses(anomaly: Anomaly) -> list[Witness]:
    """The operations of the anomaly and of its steps, each once."""
    found: list[Witness] = []
    for witness in (*anomaly.witnesses, *(one for step in anomaly.steps for one in step.witnesses)):
        if witness not in found:
            found.append(witness)
    return found


def _fingerprint(anomaly: Anomaly) -> str:
    """Depends on the anomaly alone, not on the path of the file or on other anomalies."""
    steps = [[step.before, step.relation, step.after] for step in anomaly.steps]
    proof = [anomaly.name, list(anomaly.transactions), [whole(key) for key in anomaly.keys], steps]
    return hashlib.sha256(json.dumps(proof).encode()).hexdigest()[:32]


def _plain(text: str) -> str:
    """Escapes `[text](target)`, which SARIF reads as a link, and `{0}`, which it replaces."""
    numbers = re.sub(r"\{(\d+)\}", r"{{\1}}", text)
    return numbers.replace("[", r"\[").replace("]", r"\]") if "](" in numbers else numbers


def _uri(path: str) -> str:
    escaped = quote(os.fsencode(path))
    return f"file://{escaped}" if path.startswith("/") else escaped
