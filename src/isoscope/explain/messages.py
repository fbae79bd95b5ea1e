"""Sentences about an anomaly, for readers that know databases but not the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain import clock, conflicts, cycles, mechanisms, reads, versions
from isoscope.explain.client_times import is_timed

if TYPE_CHECKING:
    from isoscope.verdict import Anomaly

__all__ = ["contradiction", "hint", "message"]

_WORDINGS = {
    **reads.WORDINGS,
    **conflicts.WORDINGS,
    **cycles.WORDINGS,
    **versions.WORDINGS,
    **clock.WORDINGS,
    **mechanisms.WORDINGS,
}


def message(anomaly: Anomaly) -> str:
    """What happened, in one or two sentences."""
    is_untimed = anomaly.name in mechanisms.WORDINGS and not is_timed(anomaly)
    if anomaly.name not in _WORDINGS or is_untimed:
        return f"{anomaly.name} between {', '.join(anomaly.transactions)}."
    return _WORDINGS[anomaly.name].message(anomaly)


def contradiction(anomaly: Anomaly) -> str:
    """Why the steps cannot all be true, in one sentence; without steps, what happened."""
    wording = _WORDINGS.get(anomaly.name)
    if wording is None or wording.contradiction is None or not anomaly.steps:
        return message(anomaly)
    return wording.contradiction(anomaly)


def hint(name: str) -> str:
    """What to make sure of before a database is blamed for anomalies of this name; empty for most."""
    return _WORDINGS[name].hint if name in _WORDINGS else ""
