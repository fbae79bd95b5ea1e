"""The schema of the JSON documents, draft 2020-12; names of levels and anomalies come from the code.

A document has every field that is not optional, and no other fields.
"""

from __future__ import annotations

import json
from typing import Any

from isoscope.anomalies import CATALOGUE
from isoscope.levels import Level
from isoscope.verdict import Decision, Mechanism, Method, Outcome, Presence, WitnessForm

__all__ = ["EVIDENCE", "render_schema", "schema"]

#: The kinds of evidence that a history can have.
EVIDENCE = ("values", "version-order", "timestamps", "intervals")

_TEXT = {"type": "string"}
_NAME = {"type": "string", "minLength": 1}
_COUNT = {"type": "integer", "minimum": 0}
_OPERATION = {"transaction": _NAME, "kind": _NAME, "key": _TEXT, "value": _TEXT, "place": _TEXT}
#: What only some operations have.
_OPTIONAL = {
    "interval": {
        "description": "when its client sent it and had the answer, in nanoseconds; of mechanisms only",
        "type": "array",
        "items": {"type": ["integer", "null"]},
        "minItems": 2,
        "maxItems": 2,
    },
    "sql": {"description": "the statement of a recorded program, with its parameters", "type": "string"},
}
_SECONDS = {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}}


def render_schema() -> str:
    """The schema as it is published."""
    return json.dumps(schema(), indent=2) + "\n"


def schema() -> dict[str, Any]:
    """The schema of `isoscope check --json` and `isoscope run --json`: one of five documents."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:isoscope:document",
        "title": "A document of isoscope check --json or isoscope run --json",
        "oneOf": [_ref(name) for name in ("report", "search", "unreadable", "summary", "unchecked")],
        "$defs": {
            **_documents(),
            "answer": _answer(),
            **_answers(),
            **_mechanisms(),
            **_proofs(),
            **_witnesses(),
            **_summary(),
            **_ran(),
            **_names(),
        },
    }


def _documents() -> dict[str, Any]:
    version = {"isoscope": _said(_NAME, "version of Isoscope")}
    head = {**version, "history": _ref("history")}
    assumptions = {"assumptions": _said(_list(_NAME), "what the answers rest on beside the operations")}
    seconds = {"seconds": _said(_SECONDS, "by stage; with --timings only")}
    levels = _list(_ref("level"))
    report = {
        **version,
        "answer": _ref("answer"),
        "history": _ref("history"),
        **assumptions,
        "version_order": _said(
            _list(_ref("ordered")), "keys by the source of their order, the strongest first"
        ),
        "verdicts": _list(_ref("verdict")),
        "strongest_holding": levels,
        "strongest_possible": levels,
        "weakest_violated": levels,
    }
    run = {"run": _said(_ref("run"), "how the history was recorded; by isoscope run only")}
    asked = {"mechanisms": _said(_ref("mechanisms"), "those of the profile; with --profile only")}
    path = {"history": _said(_object({"path": _TEXT}), "without --no-record")}
    shown = {"witnesses": _said(_list(_ref("witness")), "why levels hold; with --witness only")}
    search = {**head, **assumptions, "sightings": _list(_ref("sighting"))}
    unreadable = {**version, "history": _object({"path": _TEXT}), "error": _NAME}
    return {
        "report": _said(_object(report, {**asked, **seconds, **run, **shown}), "verdicts on one history"),
        "search": _said(_object(search, seconds), "one history, with --anomaly"),
        "unreadable": _said(_object(unreadable), "a history that could not be read"),
        "summary": _said(_object({**version, "summary": _ref("counts")}), "with --summary"),
        "unchecked": _said(_object({**version, **run}, path), "a run with --no-check or --no-record"),
    }


def _answer() -> dict[str, Any]:
    maybe = {"type": ["string", "null"]}
    levels = _list(_ref("level"))
    counts = _counts()
    answer = {
        "outcome": {"enum": [str(decision) for decision in Decision]},
        "sentence": _said(_NAME, "the answer in words; not-asked: the border of what holds"),
        "database": _said(maybe, "null for a history of unknown origin, as are the next fields"),
        "version": maybe,
        "isolation": _said(maybe, "as the vendor calls it"),
        "is_promise": _said({"type": "boolean"}, "whether `levels` are promised, not named by the user"),
        "levels": _said(levels, "the levels in question"),
        "documented": _said(maybe, "the page on which the vendor describes the promise"),
        "transactions": _said(_COUNT, "of a run: those that were committed"),
        "seconds": _said({"type": ["number", "null"], "minimum": 0}, "of a run"),
        "holds": _said(levels, "not-asked: the strongest levels that hold"),
        "broken": _said(
            levels, "levels in question that are violated; not-asked: the weakest violated levels"
        ),
        "weakest_broken": _said(levels, "the weakest violated levels below them"),
        "mechanisms": _said(_list({"enum": [str(one) for one in Mechanism]}), "those that did not work"),
        "unknown": levels,
        "reason": _said(_TEXT, "why it is not decided; empty otherwise"),
        "broken_by": _said(counts, "anomalies that break a level in question"),
        "allowed": _said(counts, "anomalies that the levels in question allow"),
        "example": _said(maybe, "the first counterexample in words"),
    }
    return _said(_object(answer), "the answer to the one question of a check or a run")


def _counts() -> dict[str, Any]:
    return {
        "type": "object",
        "propertyNames": _ref("anomaly-name"),
        "additionalProperties": {"type": "integer", "minimum": 1},
    }


def _deployment() -> dict[str, Any]:
    node = _said({"type": "array", "minItems": 2, "maxItems": 2}, "the id of a session, and its node")
    instant = {"type": ["integer", "null"]}
    fault = {"kind": _NAME, "node": _TEXT, "start": {"type": "integer"}, "stop": instant, "remark": _TEXT}
    return _said(
        _object({"nodes": _list(node), "faults": _list(_object(fault))}),
        "nodes of sessions, and faults in nanoseconds of the clock of the intervals; if there are any",
    )


def _answers() -> dict[str, Any]:
    history = {
        "path": _said(_TEXT, "the input as it was named"),
        "format": _NAME,
        **dict.fromkeys(
            ("sessions", "transactions", "operations", "keys", "aborted", "indeterminate"), _COUNT
        ),
        "evidence": _list({"enum": list(EVIDENCE)}),
    }
    verdict = {
        "level": _ref("level"),
        "outcome": {"enum": [str(outcome) for outcome in Outcome]},
        "method": _ref("method"),
        "reason": _said(_TEXT, "why it is unknown; empty otherwise"),
        **_found(),
    }
    sighting = {
        "name": _ref("anomaly-name"),
        "presence": {"enum": [str(presence) for presence in Presence]},
        "method": _ref("method"),
        "reason": _said(_TEXT, "why it is unknown; empty otherwise"),
        "count": _COUNT,
        "anomalies": _list(_ref("anomaly")),
    }
    ordered = {"source": _TEXT, "keys": _COUNT, "whole": _COUNT}
    return {
        "history": _object(history, {"deployment": _deployment()}),
        "ordered": _object(ordered),
        "verdict": _object(verdict) | _proved("outcome", Outcome.VIOLATED, Outcome.UNKNOWN),
        "sighting": _object(sighting) | _proved("presence", Presence.FOUND, Presence.UNKNOWN),
    }


def _found() -> dict[str, Any]:
    """The evidence of a violated verdict."""
    return {
        "anomaly_counts": _counts(),
        "anomalies": _list(_ref("anomaly")),
    }


def _mechanisms() -> dict[str, Any]:
    verdict = {
        "mechanism": {"enum": [str(mechanism) for mechanism in Mechanism]},
        "outcome": {"enum": [str(outcome) for outcome in Outcome]},
        "reason": _said(_TEXT, "why it is unknown; empty otherwise"),
        "checked": _said(_COUNT, "reads, or pairs of operations"),
        "undecided": _said(_COUNT, "of those checked, what overlapping intervals leave open"),
        **_found(),
    }
    dependencies = {
        "kind": {"enum": ["wr", "ww", "rw"]},
        "total": _COUNT,
        "overlapping": _said(_COUNT, "with intervals that overlap"),
        "uncertain": _said(_COUNT, "of those overlapping, what the mechanisms leave open"),
        "beta": _said({"type": "number", "minimum": 0, "maximum": 1}, "uncertain by total"),
    }
    mechanisms = {
        "profile": _NAME,
        "clock_error": _said(_COUNT, "nanoseconds by which each interval was widened at both ends"),
        "verdicts": _list(_ref("mechanism")),
        "dependencies": _list(_ref("dependencies")),
    }
    return {
        "mechanisms": _object(mechanisms),
        "mechanism": _object(verdict) | _proved("outcome", Outcome.VIOLATED, Outcome.UNKNOWN),
        "dependencies": _object(dependencies),
    }


def _proved(field: str, shown: str, unknown: str) -> dict[str, Any]:
    """A violated or found row has anomalies, an unknown one has a reason, and others have neither."""
    some, none = {"minItems": 1}, {"maxItems": 0}
    return {
        "allOf": [
            _when(field, shown, "anomalies", some, otherwise=none),
            _when(field, unknown, "reason", {"minLength": 1}, otherwise={"maxLength": 0}),
        ]
    }


def _proofs() -> dict[str, Any]:
    step = {
        "from": _NAME,
        "to": _NAME,
        "relation": _said(_NAME, "wr, ww, rw, session, real-time, clock, cm, ..."),
        "key": _said({"type": ["string", "null"]}, "null where the relation is about no key"),
        "source": _said(_TEXT, "how the order of two versions is known; empty where nothing has to be said"),
        "because": _NAME,
    }
    anomaly = {
        "name": _ref("anomaly-name"),
        "axiom": _said(_TEXT, "of the database's clock: ext, int, noconflict, session, ...; else empty"),
        "class": _said(_TEXT, "of a stale read: older-version, newer-version, ...; of mechanisms: the case"),
        "expected": _said({"type": ["string", "null"]}, "what a stale read should have shown, if known"),
        "transactions": _list(_NAME),
        "keys": _list(_TEXT),
        "steps": _list(_ref("step")),
        "operations": _said(_list(_ref("operation")), "the ones to look at"),
        "circle": _said(_TEXT, "the steps on one line if they lead back to where they begin"),
        "message": _said(_NAME, "the anomaly in words"),
        "hint": _TEXT,
        "participants": _said(_list(_ref("participant")), "what each transaction did"),
    }
    return {
        "anomaly": _object(
            anomaly, {"prevention": _said(_NAME, "what would prevent it, of recorded programs")}
        ),
        "step": _object(step),
        "operation": _object(_OPERATION, _OPTIONAL),
        **_participants(),
    }


def _participants() -> dict[str, Any]:
    participant = {
        "transaction": _NAME,
        "session": _said(_TEXT, "empty if the input does not name it"),
        "position": _said(_COUNT, "how many transactions came before it in its session"),
        "status": _NAME,
        "place": _TEXT,
        "clock": _TEXT,
        "times": _said(_list({"type": ["integer", "null"]}), "begin and end by that clock"),
        "operations": _list(_ref("act")),
        "left_out": _said(_COUNT, "operations that are not among these"),
    }
    act = {"index": _COUNT, **_OPERATION, "matters": {"type": "boolean"}}
    where = {
        "node": _said(_NAME, "the node of its session, if that is known"),
        "faults": _said(_list(_NAME), "those that went on meanwhile, if there were any"),
    }
    return {"participant": _object(participant, where), "act": _object(act, _OPTIONAL)}


def _witnesses() -> dict[str, Any]:
    transaction = {"description": "the id", "type": ["integer", "string", "object"]}
    operation = {
        "description": "the id of its transaction and its place there, from 0",
        "type": "array",
        "minItems": 2,
        "maxItems": 2,
    }
    versions = _object({"key": _TEXT, "writes": _list(operation)})
    read = {"read": operation, "writes": _list({"oneOf": [operation, {"type": "null"}]})}
    witness = {
        "level": _ref("level"),
        "form": {"enum": [str(form) for form in WitnessForm]},
        "order": _said(_list(transaction), "of events each transaction twice: its begin, its commit"),
        "versions": _said(_list(versions), "the oldest first, where the order does not say them"),
        "took_effect": _said(_list(transaction), "indeterminate transactions that took effect"),
        "reads": _said(
            _list(_object({**read, "is_list": {"type": "boolean"}})),
            "reads that several writes may explain, and what they show; null for the initial state",
        ),
        "source": _said(_TEXT, "the source of the order of versions that is believed alone, if they differ"),
    }
    return {"witness": _said(_object(witness), "an order that shows that a level holds")}


def _summary() -> dict[str, Any]:
    outcomes = {str(outcome): _COUNT for outcome in Outcome}
    anomaly = {
        "name": _ref("anomaly-name"),
        "histories": _COUNT,
        "count": _COUNT,
        "unknown": _COUNT,
        "first": _TEXT,
    }
    counts = {
        "histories": _said(_COUNT, "that could be read"),
        "unreadable": _list(_object({"path": _TEXT, "error": _NAME})),
        "levels": _list(_object({"level": _ref("level"), **outcomes})),
        "anomalies": _list(_object(anomaly)),
    }
    return {"counts": _object(counts)}


def _ran() -> dict[str, Any]:
    run = {
        "database": _said(_NAME, "what the database calls itself"),
        "isolation": _NAME,
        "settings": _said({"type": "object", "additionalProperties": _TEXT}, "those that were given"),
        "workload": _NAME,
        "sessions": _COUNT,
        "seed": _COUNT,
        "seconds": _said({"type": "number", "minimum": 0}, "from the first transaction to the last"),
        **dict.fromkeys(("committed", "aborted", "indeterminate", "operations"), _COUNT),
        "reasons": _said(
            {"type": "object", "additionalProperties": _COUNT}, "what the database said when it aborted"
        ),
        "promises": _said(_list(_ref("level")), "the strongest levels that the isolation promises"),
        "problem": _said({"type": ["string", "null"]}, "why the run ended early"),
        "interrupted": {"type": "boolean"},
        "active_sessions": _said({"type": "integer", "minimum": 0}, "at work in the end"),
        "found_violation": _said({"type": "boolean"}, "the run ended because of one"),
    }
    several = {
        "nodes": _said(_list(_NAME), "those that sessions were spread over"),
        "faults": _said(_list({"type": "object"}), "those that were injected, as in the history"),
    }
    return {"run": _object(run, several)}


def _names() -> dict[str, Any]:
    return {
        "level": {"enum": [str(level) for level in Level]},
        "method": {"enum": [str(method) for method in Method]},
        "anomaly-name": {"enum": list(CATALOGUE)},
    }


def _object(fields: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these fields, perhaps the optional ones, and no others."""
    return {
        "type": "object",
        "properties": {**fields, **(optional or {})},
        "required": list(fields),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _said(part: dict[str, Any], description: str) -> dict[str, Any]:
    return {"description": description, **part}


def _when(
    field: str, value: str, other: str, then: dict[str, Any], *, otherwise: dict[str, Any]
) -> dict[str, Any]:
    """If `field` has this value, `other` is as `then` says, else as `otherwise` says."""
    return {
        "if": {"properties": {field: {"const": str(value)}}},
        "then": {"properties": {other: then}},
        "else": {"properties": {other: otherwise}},
    }
