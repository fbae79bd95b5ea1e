"""What happened, for people who know databases and have not read the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain import clock, conflicts, dependencies, mechanisms, reads, versions
from isoscope.explain.instants import is_timed

if TYPE_CHECKING:
    from isoscope.verdict import Anomaly

__all__ = ["contradiction", "hint", "message"]

_SENTENCES = {
    **reads.SENTENCES,
    **conflicts.SENTENCES,
    **dependencies.SENTENCES,
    **versions.SENTENCES,
    **clock.SENTENCES,
    **mechanisms.SENTENCES,
}
_CONTRADICTIONS = {
    **reads.CONTRADICTIONS,
    **conflicts.CONTRADICTIONS,
    **dependencies.CONTRADICTIONS,
    **versions.CONTRADICTIONS,
    **clock.CONTRADICTIONS,
}


def message(anomaly: Anomaly) -> str:
    """What happened, in one or two sentences."""
    sentence = _SENTENCES.get(anomaly.name)
    is_untimed = anomaly.name in mechanisms.SENTENCES and not is_timed(anomaly)
    if sentence is None or is_untimed:
        return f"{anomaly.name} between {', '.join(anomaly.transactions)}."
    return sentence(anomaly)


def contradiction(anomaly: Anomaly) -> str:
    """Why what the steps show cannot be, in one sentence; without steps, what happened."""
    sentence = _CONTRADICTIONS.get(anomaly.name)
    return sentence(anomaly) if sentence and anomaly.steps else message(anomaly)


def hint(name: str) -> str:
    """What to make sure of before a database is blamed for anomalies of this name; nothing for most."""
    return reads.HINTS.get(name, "")
