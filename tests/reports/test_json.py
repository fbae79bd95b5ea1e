"""The JSON document: its fields, their values, the same bytes for the same input."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope import Term, __version__, check
from isoscope.levels import Level
from isoscope.reports import document, render_json, render_text
from isoscope.verdict import Method, Outcome, Report, Verdict
from tests.recorded import record
from tests.reports.histories import ABORTED, LEVELS, UNREAD
from tests.test_explain_cycles import CASES

if TYPE_CHECKING:
    from pathlib import Path

BECAUSE = "T2 read x = 1, which T1 wrote"


#: The fields of the document and their types.
DOCUMENT = {
    "isoscope": str,
    "answer": {
        "outcome": str, "sentence": str, "database": type(None), "version": type(None),
        "isolation": type(None), "is_promise": bool, "levels": [str], "documented": type(None),
        "transactions": int, "seconds": type(None), "holds": [str], "broken": [str], "weakest_broken": [str],
        "mechanisms": [str], "unknown": [str], "reason": str, "broken_by": {...: int}, "allowed": {...: int},
        "example": object,
    },
    "history": {
        "path": str, "format": str, "sessions": int, "transactions": int, "operations": int, "keys": int,
        "aborted": int, "indeterminate": int, "evidence": [str],
    },
    "assumptions": [str],
    "version_order": [{"source": str, "keys": int, "whole": int}],
    "verdicts": [
        {
            "level": str, "outcome": str, "method": str, "reason": str, "anomaly_counts": {...: int},
            "anomalies": [
                {
                    "name": str, "axiom": str, "class": str, "expected": type(None),
                    "transactions": [str], "keys": [str],
                    "steps": [
                        {"from": str, "to": str, "relation": str, "key": str, "source": str, "because": str}
                    ],
                    "operations": [{"transaction": str, "kind": str, "key": str, "value": str, "place": str}],
                    "participants": [
                        {
                            "transaction": str, "session": str, "position": int, "status": str,
                            "place": str, "clock": str, "times": [int],
                            "operations": [
                                {
                                    "index": int, "transaction": str, "kind": str, "key": str,
                                    "value": str, "place": str, "matters": bool,
                                }
                            ],
                            "left_out": int,
                        }
                    ],
                    "circle": str, "message": str, "hint": str,
                }
            ],
        }
    ],
    "strongest_holding": [str],
    "strongest_possible": [str],
    "weakest_violated": [str],
}  # fmt: skip


def assert_shape(found: Any, shape: Any) -> None:
    if isinstance(shape, list):
        assert isinstance(found, list)
        for item in found:
            assert_shape(item, shape[0])
    elif isinstance(shape, dict) and ... in shape:
        assert all(type(value) is shape[...] for value in found.values())
    elif isinstance(shape, dict):
        assert list(found) == list(shape)
        for name, value in found.items():
            assert_shape(value, shape[name])
    else:
        assert shape is object or type(found) is shape


@pytest.mark.parametrize(
    "history", [ABORTED, UNREAD, record(), record([("read", Term(":k"), 5), ("read", Term(":k"), 0)])]
)
def test_the_json_document_has_the_keys_and_types_of_the_design(history: isoscope.History) -> None:
    assert_shape(json.loads(render_json(check(history))), DOCUMENT)


def participant(name: str, status: str, *operations: dict[str, str]) -> dict[str, Any]:
    return {
        "transaction": name,
        "session": "",
        "position": 0,
        "status": status,
        "place": "",
        "clock": "",
        "times": [],
        "operations": [
            {"index": index, "transaction": name, "place": "", "matters": True, **operation}
            for index, operation in enumerate(operations)
        ],
        "left_out": 0,
    }


def test_the_json_document_has_the_anomalies_that_were_found() -> None:
    found = document(check(ABORTED, LEVELS))
    anomaly = {
        "name": "aborted-read",
        "axiom": "",
        "class": "",
        "expected": None,
        "transactions": ["T2", "T1"],
        "keys": ["x"],
        "steps": [{"from": "T1", "to": "T2", "relation": "wr", "key": "x", "source": "", "because": BECAUSE}],
        "operations": [
            {"transaction": "T2", "kind": "read", "key": "x", "value": "1", "place": ""},
            {"transaction": "T1", "kind": "write", "key": "x", "value": "1", "place": ""},
        ],
        "participants": [
            participant("T2", "committed", {"kind": "read", "key": "x", "value": "1"}),
            participant("T1", "aborted", {"kind": "write", "key": "x", "value": "1"}),
        ],
        "circle": "",
        "message": "T2 read x = 1, which T1 wrote and then rolled back.",
        "hint": (
            "a client that reports a time-out as a failure may have made this up; record what timed out as "
            "indeterminate (Jepsen: :info, not :fail)"
        ),
    }
    violated = {
        "outcome": "violated",
        "method": "values",
        "reason": "",
        "anomaly_counts": {"aborted-read": 1},
        "anomalies": [anomaly],
    }
    silent = {"method": "values", "anomaly_counts": {}, "anomalies": []}
    assert found == {
        "isoscope": __version__,
        "answer": {
            "outcome": "no",
            "sentence": "No. The history broke read atomicity and PL-2: 1 aborted read.",
            "database": None,
            "version": None,
            "isolation": None,
            "is_promise": False,
            "levels": ["read-atomic", "pl-2", "cut-isolation", "pl-1"],
            "documented": None,
            "transactions": 2,
            "seconds": None,
            "holds": [],
            "broken": ["read-atomic", "pl-2"],
            "weakest_broken": [],
            "mechanisms": [],
            "unknown": [],
            "reason": "",
            "broken_by": {"aborted-read": 1},
            "allowed": {},
            "example": "T2 read x = 1, which T1 wrote and then rolled back.",
        },
        "history": {
            "path": "<memory>",
            "format": "recorded",
            "sessions": 2,
            "transactions": 2,
            "operations": 2,
            "keys": 1,
            "aborted": 1,
            "indeterminate": 0,
            "evidence": ["values"],
        },
        "assumptions": ["every key holds 0 before its first write (a list: nothing)"],
        "version_order": [],
        "verdicts": [
            {"level": "read-atomic"} | violated,
            {"level": "pl-2"} | violated,
            {"level": "cut-isolation", "outcome": "holds", "reason": ""} | silent,
            {"level": "pl-1", "outcome": "holds", "reason": ""} | silent | {"method": "version-order"},
        ],
        "strongest_holding": ["pl-1", "cut-isolation"],
        "strongest_possible": ["pl-1", "cut-isolation"],
        "weakest_violated": ["pl-2"],
    }


def test_the_json_document_is_one_line_even_for_hostile_input() -> None:
    text = render_json(check(record([("read", "a\nb\u2028\x1b", "\r")])))
    assert len(text.splitlines()) == 1
    assert text.isprintable()


def both(history: isoscope.History) -> tuple[str, str]:
    report = check(history)
    return render_text(report), render_json(report)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "h.txt"
    path.write_text("".join(f"r({n % 7},{n + 5},{n % 3},{n})\n" for n in range(300)))
    assert both(isoscope.load(path)) == both(isoscope.load(path))


def timed() -> Report:
    return replace(check(ABORTED, ["pl-2"]), seconds={"load": 0.25, "check": 1.23456789})


def test_seconds_appear_only_with_timings() -> None:
    assert "seconds" not in document(timed())
    assert "1.23" not in render_text(timed())
    assert document(timed(), timings=True)["seconds"] == {"load": 0.25, "check": 1.234568}


def test_a_report_that_was_not_timed_has_no_seconds() -> None:
    assert "seconds" not in document(replace(timed(), seconds=None), timings=True)


def told(name: str) -> Report:
    """A report of that anomaly of `CASES` alone."""
    verdict = Verdict(
        level=Level.STRICT_SERIALIZABLE,
        outcome=Outcome.VIOLATED,
        method=Method.VERSION_ORDER,
        anomaly_counts={CASES[name][0].name: 1},
        anomalies=(CASES[name][0],),
    )
    return replace(check(ABORTED, ["causal"]), verdicts=(verdict,))


def test_a_step_in_the_json_document_says_how_its_order_is_known() -> None:
    [verdict] = document(told("read-skew in real time of a register"))["verdicts"]
    together, missed = verdict["anomalies"][0]["steps"]
    assert (together["relation"], together["key"], together["source"]) == ("real-time", None, "clock")
    assert (missed["relation"], missed["key"], missed["source"]) == ("rw", "x", "real-time")
    assert together["because"] == "T2 had completed 1.5 ms before T3 began"
