"""The description of a history in reports and in the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.history import EvidenceKind, History

__all__ = ["summary", "summary_of"]


def summary(history: History) -> Mapping[str, object]:
    """The description of a history in the JSON document."""
    return summary_of(history, history.counts, history.evidence.present)


def summary_of(
    history: History, counts: Mapping[str, int], present: Iterable[EvidenceKind]
) -> Mapping[str, object]:
    """The description of a history with these counts and this evidence."""
    names = ("sessions", "transactions", "operations", "keys", "aborted", "indeterminate")
    return {
        "path": history.source.path,
        "format": history.source.format,
        **{name: counts[name] for name in names},
        "evidence": [str(kind) for kind in present],
        # Only where there are any: most histories are of one node without faults.
        **({"deployment": history.deployment.document()} if history.deployment else {}),
    }
