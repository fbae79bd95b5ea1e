"""What the native core finds by the order of versions, as verdicts on levels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope.checkers import cycles
from isoscope.checkers.recorded_order import CONTRADICTORY
from isoscope.checkers.unjudged import unjudged_reason
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Method, Ordered, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope._native import OrderedKeys, OrderWitness, VersionsJudgement
    from isoscope.checkers.witnesses import Recorded

__all__ = ["LEVELS", "METHOD", "NAMES", "OF_ITEMS", "UNTIMED", "Judgement", "condition", "rows"]

METHOD = Method.VERSION_ORDER
LEVELS = (
    Level.PL_1,
    Level.STRONG_SESSION_PL_1,
    Level.STRONG_PL_1,
    Level.PL_2,
    Level.STRONG_SESSION_PL_2,
    Level.STRONG_PL_2,
    Level.CURSOR_STABILITY,
    Level.MONOTONIC_VIEW,
    Level.CONSISTENT_VIEW,
    Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,
    Level.PREFIX,
    Level.SNAPSHOT_ISOLATION,
    Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
    Level.STRONG_SNAPSHOT_ISOLATION,
    Level.UPDATE_SERIALIZABLE,
    Level.REPEATABLE_READ,
    Level.SERIALIZABLE,
    Level.STRONG_SESSION_SERIALIZABLE,
    Level.STRICT_SERIALIZABLE,
    Level.MONOTONIC_WRITES,
    Level.WRITES_FOLLOW_READS,
    Level.READ_YOUR_WRITES,
    Level.MONOTONIC_READS,
)
#: Levels that, without predicates, have the condition of another level, by which the native core knows it.
_SAME_CONDITION = {
    Level.CONSISTENT_VIEW: Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.REPEATABLE_READ: Level.SERIALIZABLE,
}
#: Levels that do not protect what range reads left out, and the weakest level above each that does.
OF_ITEMS = {
    Level.CURSOR_STABILITY: Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.MONOTONIC_VIEW: Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.CONSISTENT_VIEW: Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.REPEATABLE_READ: Level.SERIALIZABLE,
}
#: The anomalies and the weakest level that each breaks.
NAMES = {
    "write-cycle": Level.PL_1,
    "write-cycle-session": Level.STRONG_SESSION_PL_1,
    "write-cycle-real-time": Level.STRONG_PL_1,
    "circular-information-flow": Level.PL_2,
    "circular-information-flow-session": Level.STRONG_SESSION_PL_2,
    "circular-information-flow-real-time": Level.STRONG_PL_2,
    "lost-update": Level.CURSOR_STABILITY,
    "read-skew": Level.CONSISTENT_VIEW,
    "read-skew-session": Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,
    "read-skew-real-time": Level.STRONG_SNAPSHOT_ISOLATION,
    "long-fork": Level.SNAPSHOT_ISOLATION,
    "long-fork-session": Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
    "long-fork-real-time": Level.STRONG_SNAPSHOT_ISOLATION,
    "write-skew": Level.REPEATABLE_READ,
    "write-skew-session": Level.STRONG_SESSION_SERIALIZABLE,
    "write-skew-real-time": Level.STRICT_SERIALIZABLE,
    "dirty-update": Level.PL_2,
    "cyclic-versions": Level.PL_1,
    "contradictory-evidence": Level.STRICT_SERIALIZABLE,
    "no-commit-order": Level.STRICT_SERIALIZABLE,
    "phantom": Level.SERIALIZABLE,
}
#: Levels beside those of `NAMES` that an anomaly is among the weakest to break.
_ALSO = {"long-fork": (Level.REPEATABLE_READ,)}
UNTIMED = "not every transaction has a begin and an end in real time"
#: Why a level is unknown, by the outcome that the native core gives.
_REASONS = {
    "untimed": UNTIMED,
    "search-too-long": "the order of some versions is not known, "
    "and the search for one that explains all reads was too long",
    "contradictory": CONTRADICTORY,
}
_FULL = (
    "the order of some versions is not known, "
    "and the search for one that explains all reads filled the memory that it may use"
)
_UNSURE = "several transactions appended the same element to a list"
_UNSURE_ROWS = "a recorded order of versions shows values that several transactions may have written"
_FORKED = "reads of a list contradict each other, so that there is no one order of its versions"
_PREDICATES = "what breaks it may rest on rows that range reads left out, which this level does not protect"


def condition(level: Level) -> Level:
    """The level by whose name the native core knows the condition of `level`."""
    return _SAME_CONDITION.get(level, level)


def rows(found: Iterable[OrderedKeys]) -> tuple[Ordered, ...]:
    """By source, the strongest first; keys without a source last."""
    rows = sorted(found, key=lambda row: not row.source)
    return tuple(Ordered(source=row.source, keys=row.keys, whole=row.whole) for row in rows)


@dataclass(frozen=True)
class Judgement:
    """What the native core found in a history."""

    history: Recorded
    found: VersionsJudgement
    #: Whether range reads may have left something out.
    has_ranges: bool = False
    #: The judgement without what follows from that, if the levels that do not protect it need one.
    items: Judgement | None = None

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each anomaly was found."""
        return self.found.counts

    @cached_property
    def ordered(self) -> tuple[Ordered, ...]:
        """How many keys each source orders."""
        return rows(self.found.ordered_keys)

    def witnesses(self, level: Level) -> list[OrderWitness]:
        """Orders that show that a level holds; several if sources contradict each other."""
        return [witness for witness in self.found.witnesses if witness.level == condition(level)]

    @cached_property
    def unjudged(self) -> str:
        """Why the history may be wrong although nothing was found."""
        return self._unjudged(with_repeated=True)

    def _unjudged(self, *, with_repeated: bool) -> str:
        unjudged = self.found.unjudged
        reasons = [
            unjudged_reason(
                repeated_reads=unjudged.repeated_reads if with_repeated else 0,
                repeated_keys=unjudged.repeated_keys,
                deleted_keys=unjudged.deleted_keys,
                mixed_keys=unjudged.mixed_keys,
                range_reads=unjudged.range_reads,
            ),
            _UNSURE if unjudged.has_unsure_appends and with_repeated else "",
            _UNSURE_ROWS if unjudged.has_unsure_rows and with_repeated else "",
        ]
        return "; ".join(filter(None, reasons))

    def of(self, name: str) -> tuple[Anomaly, ...]:
        """The findings of a name; those that were looked for one level only if there are no others."""
        every = [(anomaly, only) for anomaly, only in self._shown if anomaly.name == name]
        return tuple(anomaly for anomaly, only in every if only is None) or tuple(a for a, _ in every)

    @property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """Everything that was found."""
        return tuple(anomaly for anomaly, _ in self._shown)

    def verdicts(self) -> Iterator[Verdict]:
        """The answer for each level, without levels that are broken only because a weaker one is."""
        return (verdict for verdict in map(self._verdict, LEVELS) if verdict is not None)

    @cached_property
    def _outcomes(self) -> dict[str, str]:
        return self.found.outcomes

    @cached_property
    def _shown(self) -> list[tuple[Anomaly, str | None]]:
        """Every finding, and the level that it was looked for, if it was for one only."""
        return [
            (
                cycles.anomaly(self.history, one.anomaly, one.steps, one.alternatives, one.level or ""),
                one.level,
            )
            for one in self.found.findings
        ]

    def _is_violated(self, level: Level) -> bool:
        return self._outcomes[condition(level)] == "violated"

    def _verdict(self, level: Level) -> Verdict | None:
        """The answer for one level; None if it is broken only because a weaker one is."""
        if level in OF_ITEMS and self.has_ranges and self._outcomes[condition(level)] != "holds":
            return self._verdict_on_items(level)
        if self._is_violated(level):
            return self._violated(level)
        outcome = self._outcomes[condition(level)]
        reason = self._doubt(level) if outcome == "holds" else self._unknown(level, outcome)
        if not reason:
            return Verdict(level=level, outcome=Outcome.HOLDS, method=METHOD)
        return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=reason)

    def _verdict_on_items(self, level: Level) -> Verdict | None:
        """The answer for a level that does not protect what range reads left out."""
        if self.items is not None:
            return self.items._verdict(level)  # noqa: SLF001 - another of this class
        return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=_PREDICATES)

    def _unknown(self, level: Level, outcome: str) -> str:
        """Why there is no answer; with how far the search for an order came, if there was one."""
        if (came := self.found.progress.get(condition(level))) is None:
            return _REASONS[outcome]
        choices, conflicts, seconds, is_full = came
        reason = _FULL if is_full and outcome == "search-too-long" else _REASONS[outcome]
        return f"{reason} ({choices:,} choices, {conflicts:,} conflicts, {seconds:,} seconds)"

    def _doubt(self, level: Level) -> str:
        """Why the level may be broken although nothing was found."""
        if condition(level) in self.found.explained:
            return self._unjudged(with_repeated=False)
        # Levels from PL-2 up are broken by such reads themselves.
        if self.found.has_incompatible_lists and Level.PL_2 not in lattice.implied(level):
            return _FORKED
        return self.unjudged

    def _violated(self, level: Level) -> Verdict | None:
        broken = [(a, only) for a, only in self._shown if self._breaks(a, only, level)]
        if not broken:
            return None
        # An anomaly that was looked for this level alone counts once, whatever other levels have.
        counts = {a.name: 1 for a, _ in broken}
        counts |= {a.name: self.counts.get(a.name) or 1 for a, only in broken if only is None}
        anomalies = tuple(anomaly for anomaly, _ in broken)
        return Verdict(
            level=level,
            outcome=Outcome.VIOLATED,
            method=METHOD,
            anomaly_counts=counts,
            anomalies=anomalies,
        )

    def _breaks(self, anomaly: Anomaly, only: str | None, level: Level) -> bool:
        if only is not None:
            return only == condition(level) and not self._has_a_name(level)
        if anomaly.name == "contradictory-evidence" or not self.counts.get(anomaly.name):
            return False
        weakest = tuple(map(self._protected, (NAMES[anomaly.name], *_ALSO.get(anomaly.name, ()))))
        # By one source it may break a level that another source saves, and a stronger one by both.
        saved = (weak for weak in weakest if not self._is_violated(weak))
        return level in weakest or any(weak in lattice.implied(level) for weak in saved)

    def _protected(self, level: Level) -> Level:
        """The level itself, or the weakest that protects what range reads left out as well."""
        is_broken = self.items is not None and self.items._is_violated(level)  # noqa: SLF001 - of this class
        return OF_ITEMS.get(level, level) if self.has_ranges and not is_broken else level

    def _has_a_name(self, level: Level) -> bool:
        """Whether a weaker level, or this one, is broken by an anomaly that has a name."""
        names = {anomaly.name for anomaly, only in self._shown if only is None} - {"contradictory-evidence"}
        named = {NAMES[name] for name in names}
        return any(self._is_violated(weak) for weak in named & lattice.implied(level))
