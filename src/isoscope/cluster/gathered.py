"""Everything that the parts of one history showed, made one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isoscope.cluster.findings import DistributedReads, merged_clock, merged_reads
from isoscope.cluster.key_part import KeyPart
from isoscope.cluster.problem import Problem
from isoscope.cluster.session_part import SessionPart
from isoscope.cluster.spans import merged
from isoscope.cluster.tasks import TiedTimestamps
from isoscope.errors import UsageError
from isoscope.history import EvidenceKind
from isoscope.verdict import Ordered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.cluster.findings import DistributedClock
    from isoscope.cluster.part_history import RawNames
    from isoscope.cluster.spans import Span
    from isoscope.history import Source
    from isoscope.levels import Level

__all__ = ["DistributedOrder", "Gathered"]

#: Sources of the order of versions, the strongest first; keys without one last.
_STRENGTH = ("list read", "log", "declared", "timestamps", "initial", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedOrder:
    """What all parts say of the order of versions and transactions; all cycles lie within the spans."""

    spans: tuple[Span, ...]
    is_open: bool
    is_doubtful: bool
    is_untimed: bool
    has_appends: bool
    has_repeated_values: bool
    ordered: tuple[Ordered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """One history: its sizes and evidence, and what was found."""

    sizes: Mapping[str, int]
    evidence: tuple[EvidenceKind, ...]
    has_versions: bool
    clock: tuple[DistributedClock, ...]
    reads: DistributedReads | None
    order: DistributedOrder | None
    ties: int

    @classmethod
    def of(
        cls,
        results: Sequence[Any],
        source: Source,
        *,
        clock_levels: Sequence[Level],
        with_order: bool,
        shown: int,
    ) -> Gathered:
        """Merges the results of parts. Raises the first error that a part met."""
        if problems := [one for one in results if isinstance(one, Problem)]:
            raise min(problems, key=lambda problem: problem.position).error(source)
        keys = [one for one in results if isinstance(one, KeyPart)]
        sessions = [one for one in results if isinstance(one, SessionPart)]
        sizes = _sizes(keys, sessions)
        if count := sizes["indeterminate"]:
            have = "1 transaction is" if count == 1 else f"{count:,} transactions are"
            raise UsageError(
                f"{source.path}: {have} indeterminate, which --engine spark does not judge\n\n"
                "hint: check it without --engine, on one machine"
            )
        present = {"values", *(name for part in keys for name in part.evidence)}
        present |= {name for part in sessions for name in part.evidence}
        ties = sum(one.count for one in results if isinstance(one, TiedTimestamps))
        reads = [part.reads for part in keys if part.reads is not None]
        return cls(
            sizes=sizes,
            evidence=tuple(kind for kind in EvidenceKind if str(kind) in present),
            has_versions=any(part.has_versions for part in keys),
            clock=tuple(
                merged_clock(
                    [one for part in keys for one in part.clock if one.level == level],
                    [one for part in sessions for one in part.clock if one.level == level],
                    level=str(level),
                    ties=ties,
                    shown=shown,
                )
                for level in clock_levels
            ),
            reads=merged_reads(reads, shown=shown) if reads or not clock_levels else None,
            order=_order(keys, sessions) if with_order else None,
            ties=ties,
        )

    @property
    def named(self) -> set[RawNames]:
        """The transactions that the findings name."""
        by_clock = {names for judged in self.clock for one in judged.findings for names in one.ids}
        wrong = self.reads.read_findings if self.reads else []
        return by_clock | {names for one in wrong for names in one.ids}


def _order(keys: Sequence[KeyPart], sessions: Sequence[SessionPart]) -> DistributedOrder:
    parts = [part.order for part in keys if part.order is not None]
    ordered: dict[str, Ordered] = {}
    for source, count, whole in (row for part in parts for row in part.ordered):
        known = ordered.get(source, Ordered(source=source, keys=0, whole=0))
        ordered[source] = replace(known, keys=known.keys + count, whole=known.whole + whole)
    by_session = [part.order for part in sessions if part.order is not None]
    of_keys = (span for part in parts for span in part.spans)
    of_sessions = (span for part in by_session for span in part.spans)
    return DistributedOrder(
        spans=merged([*of_keys, *of_sessions]),
        is_open=any(part.is_open for part in parts),
        is_doubtful=any(part.is_doubtful for part in parts)
        or any(part.has_timed_operations for part in by_session),
        is_untimed=any(part.is_untimed for part in by_session),
        has_appends=any(part.has_appends for part in parts),
        has_repeated_values=any(part.has_repeated_values for part in parts),
        ordered=tuple(sorted(ordered.values(), key=lambda row: _STRENGTH.index(row.source))),
    )


def _sizes(keys: Sequence[KeyPart], sessions: Sequence[SessionPart]) -> dict[str, int]:
    statuses: Counter[str] = Counter()
    for part in sessions:
        statuses.update(part.statuses)
    return {
        "sessions": sum(part.sessions for part in sessions),
        "transactions": sum(part.transactions for part in sessions),
        "operations": sum(part.operations for part in sessions),
        "keys": sum(part.keys for part in keys),
        "aborted": statuses["aborted"],
        "indeterminate": statuses["indeterminate"],
    }
