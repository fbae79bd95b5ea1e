"""What happened, for people who know databases and have not read the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain import conflicts, dependencies, reads, versions

if TYPE_CHECKING:
    from isoscope.verdict import Anomaly

__all__ = ["message"]

_SENTENCES = {
    **reads.SENTENCES,
    **conflicts.SENTENCES,
    **dependencies.SENTENCES,
    **versions.SENTENCES,
}


def message(anomaly: Anomaly) -> str:
    """What happened, in one or two sentences."""
    sentence = _SENTENCES.get(anomaly.name)
    if sentence is None:
        return f"{anomaly.name} between {', '.join(anomaly.transactions)}."
    return sentence(anomaly)
