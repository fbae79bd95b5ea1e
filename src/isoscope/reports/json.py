"""The JSON document: it depends on the input and the options alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from isoscope import __version__
from isoscope.explain import because, hint, is_timed, message, one_line, whole
from isoscope.reports.mechanisms import beta
from isoscope.reports.program_text import prevention
from isoscope.reports.relations import KEYLESS
from isoscope.reports.witness import witness_documents
from isoscope.verdict import ABSENT, Report, StaleReadFacts

if TYPE_CHECKING:
    from isoscope.verdict import (
        Anomaly,
        Answer,
        Dependencies,
        Mechanisms,
        MechanismVerdict,
        Ordered,
        Participant,
        Search,
        Sighting,
        Step,
        Verdict,
        Witness,
    )

__all__ = ["document", "dumps", "render_json"]


def render_json(report: Report | Search, *, timings: bool = False) -> str:
    """The document on one line."""
    return dumps(document(report, timings=timings))


def dumps(data: object) -> str:
    """`data` as one line of JSON that can be encoded, whatever names of files it holds."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")


def document(report: Report | Search, *, timings: bool = False) -> dict[str, Any]:
    """The document as data; `seconds` only with `timings`."""
    found = {
        "isoscope": __version__,
        **({"answer": _answer(report.answer)} if isinstance(report, Report) else {}),
        "history": dict(report.history),
        "assumptions": list(report.assumptions),
        **(_answers(report) if isinstance(report, Report) else _sightings(report)),
    }
    if timings and report.seconds is not None:
        found["seconds"] = {stage: round(seconds, 6) for stage, seconds in report.seconds.items()}
    return found


def _answer(answer: Answer) -> dict[str, Any]:
    origin = answer.origin
    return {
        "outcome": str(answer.outcome),
        "sentence": answer.sentence,
        "database": origin.database if origin else None,
        "version": origin.version or None if origin else None,
        "isolation": origin.isolation if origin else None,
        "is_promise": answer.is_promise,
        "levels": [str(level) for level in answer.levels],
        "documented": origin.documented or None if origin else None,
        "transactions": answer.transactions,
        "seconds": None if origin is None or origin.seconds is None else round(origin.seconds, 6),
        "holds": [str(level) for level in answer.holds],
        "broken": [str(level) for level in answer.broken],
        "weakest_broken": [str(level) for level in answer.weakest],
        "mechanisms": [str(mechanism) for mechanism in answer.mechanisms],
        "unknown": [str(level) for level in answer.unknown],
        "reason": answer.reason,
        "broken_by": dict(answer.broken_by),
        "allowed": dict(answer.allowed),
        "example": None if answer.example is None else message(answer.example),
    }


def _answers(report: Report) -> dict[str, Any]:
    return {
        **({} if report.mechanisms is None else {"mechanisms": _mechanisms(report.mechanisms)}),
        "version_order": [_ordered(row) for row in report.version_order],
        "verdicts": [_verdict(verdict) for verdict in report.verdicts],
        "strongest_holding": [str(level) for level in report.strongest_holding],
        "strongest_possible": [str(level) for level in report.strongest_possible],
        "weakest_violated": [str(level) for level in report.weakest_violated],
        **({"witnesses": witness_documents(report)} if report.witnesses else {}),
    }


def _mechanisms(found: Mechanisms) -> dict[str, Any]:
    return {
        "profile": found.profile,
        "clock_error": found.clock_error,
        "verdicts": [_mechanism(verdict) for verdict in found.verdicts],
        "dependencies": [_dependencies(row) for row in found.dependencies],
    }


def _mechanism(verdict: MechanismVerdict) -> dict[str, Any]:
    return {
        "mechanism": str(verdict.mechanism),
        "outcome": str(verdict.outcome),
        "reason": verdict.reason,
        "checked": verdict.checked,
        "undecided": verdict.undecided,
        "anomaly_counts": dict(verdict.anomaly_counts),
        "anomalies": [_anomaly(anomaly) for anomaly in verdict.anomalies],
    }


def _dependencies(row: Dependencies) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "total": row.total,
        "overlapping": row.overlapping,
        "uncertain": row.uncertain,
        "beta": beta(row),
    }


def _ordered(row: Ordered) -> dict[str, Any]:
    return {"source": row.source, "keys": row.keys, "whole": row.whole}


def _sightings(search: Search) -> dict[str, Any]:
    return {"sightings": [_sighting(sighting) for sighting in search.sightings]}


def _sighting(sighting: Sighting) -> dict[str, Any]:
    return {
        "name": sighting.name,
        "presence": str(sighting.presence),
        "method": str(sighting.method),
        "reason": sighting.reason,
        "count": sighting.count,
        "anomalies": [_anomaly(anomaly) for anomaly in sighting.anomalies],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "level": str(verdict.level),
        "outcome": str(verdict.outcome),
        "method": str(verdict.method),
        "reason": verdict.reason,
        "anomaly_counts": dict(verdict.anomaly_counts),
        "anomalies": [_anomaly(anomaly) for anomaly in verdict.anomalies],
    }


def _anomaly(anomaly: Anomaly) -> dict[str, Any]:
    return {
        "name": anomaly.name,
        "axiom": anomaly.facts.axiom,
        "class": anomaly.facts.case,
        "expected": _expected(anomaly),
        "transactions": list(anomaly.transactions),
        "keys": [whole(key) for key in anomaly.keys],
        "steps": [_step(step) for step in anomaly.steps],
        "operations": [_operation(witness, anomaly) for witness in anomaly.witnesses],
        "participants": [_participant(participant, anomaly) for participant in anomaly.participants],
        "circle": one_line(anomaly),
        "message": message(anomaly),
        "hint": hint(anomaly.name),
        **({"prevention": advice} if (advice := prevention(anomaly)) else {}),
    }


def _expected(anomaly: Anomaly) -> Any:
    """What a stale read should have shown, if that is known."""
    facts = anomaly.facts
    expected = facts.expected if isinstance(facts, StaleReadFacts) else ABSENT
    return None if expected is ABSENT else whole(expected)


def _participant(participant: Participant, anomaly: Anomaly) -> dict[str, Any]:
    """A transaction and what it did; times by the clock that is named, if one is."""
    return {
        "transaction": participant.transaction,
        "session": "" if participant.session is None else whole(participant.session),
        **({"node": participant.node} if participant.node else {}),
        **({"faults": list(participant.faults)} if participant.faults else {}),
        "position": participant.position,
        "status": participant.status,
        "place": participant.place,
        "clock": participant.clock,
        "times": list(participant.times) if participant.clock else [],
        "operations": [
            {
                "index": operation.index,
                **_operation(operation, anomaly),
                "matters": operation.index in participant.matters,
            }
            for operation in participant.operations
        ],
        "left_out": participant.left_out,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "from": step.before,
        "to": step.after,
        "relation": step.relation,
        "key": None if step.relation in KEYLESS else whole(step.key),
        "source": step.source,
        "because": because(step),
    }


def _operation(witness: Witness, anomaly: Anomaly) -> dict[str, Any]:
    """An operation, and when it was if the anomaly is about that."""
    timed = {"interval": list(witness.interval)} if is_timed(anomaly) and witness.interval else {}
    return {
        "transaction": witness.transaction,
        "kind": witness.kind,
        "key": whole(witness.key),
        "value": whole(witness.value),
        "place": witness.place,
        **({"sql": witness.sql} if witness.sql else {}),
        **timed,
    }
