"""The method of version orders: Adya's levels, snapshot isolation, serializability, sessions and real time.

Where the order of a key's versions is known, dependencies between transactions are known, too: a level is
broken by a cycle that it forbids. Versions without a known order are tried in every order.
`reference/adya.py` is the specification, `rust/kernel/src/versions` the engine. Cost: linear where the order
is known; the search for an open order has a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import dependencies, judge_versions, ordered_keys
from isoscope.checkers import cycles
from isoscope.checkers.recorded_order import CONTRADICTORY, WEAK
from isoscope.checkers.unjudged import unjudged_reason
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Claim, Method, Ordered, Outcome, Presence, Sighting, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope._native import OrderedKeys, OrderWitness, VersionsJudgement
    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import History

__all__ = [
    "LEVELS",
    "METHOD",
    "NAMES",
    "TIME_LIMIT",
    "UNTIMED",
    "Judgement",
    "check",
    "concerns",
    "condition",
    "disbelieved",
    "edges",
    "find",
    "judge",
    "ordered",
]

METHOD = Method.VERSION_ORDER
#: Seconds that the search for an open order may take for each level.
TIME_LIMIT = 60.0
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
    "predicate-read-miss": Level.SERIALIZABLE,
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
_AMBIGUOUS = "reads by predicates, or of deleted keys, may have seen several states of a key ({} times)"
_FORKED = "reads of a list contradict each other, so that there is no one order of its versions"
_PREDICATES = "what breaks it may rest on reads by predicates, which this level does not protect"


def judge(  # noqa: PLR0913 - the question, and its limits
    history: History,
    *,
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),
    time_limit: float = TIME_LIMIT,
    asked: Sequence[Level] | None = None,
    witnessed: Sequence[Level] = (),
) -> Judgement:
    """What the order of versions says of all levels, and how many keys each source orders.

    The search for an open order takes at most `time_limit` seconds for each level. If all that are asked for
    are levels of versions, it is made for others only if one of these stays unknown. Of the levels
    `witnessed` that hold, an order is kept that shows it.
    """
    claims = [claim.value for claim in assume]
    is_of_versions = asked is not None and all(level in LEVELS for level in asked)
    conditions = [condition(level) for level in asked or ()] if is_of_versions else None
    found = judge_versions(
        history.columns,
        claims=claims,
        max_anomalies=max_anomalies,
        max_seconds=time_limit,
        asked=conditions,
        witnessed=[*dict.fromkeys(condition(level) for level in witnessed if level in LEVELS)],
    )
    return Judgement(history, found, has_predicates=history.counts["range-read"] > 0)


def check(
    history: History, *, levels: Sequence[Level], max_anomalies: int = 10, assume: Sequence[Claim] = ()
) -> Iterator[Verdict]:
    """What the order of versions says of the levels that `levels` depend on."""
    if concerns(levels, assume):
        yield from judge(history, max_anomalies=max_anomalies, assume=assume).verdicts()


def find(
    history: History, names: Sequence[str], *, max_anomalies: int = 10, assume: Sequence[Claim] = ()
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names."""
    found = judge(history, max_anomalies=max_anomalies, assume=assume)
    for name in names:
        if count := found.counts.get(name, 0):
            shown = found.of(name)[:max_anomalies]
            yield Sighting(name=name, presence=Presence.FOUND, method=METHOD, count=count, anomalies=shown)
        else:
            presence = Presence.UNKNOWN if found.unjudged else Presence.ABSENT
            yield Sighting(name=name, presence=presence, method=METHOD, reason=found.unjudged)


def edges(history: History) -> list[tuple[str, str, str]]:
    """The dependency graph: (before, after, relation) by the labels of transactions."""
    label = [transaction.label for transaction in history]
    found = dependencies(history.columns)
    return [(label[edge.before], label[edge.after], edge.relation) for edge in found]


def ordered(history: History, assume: Sequence[Claim] = ()) -> tuple[Ordered, ...]:
    """How many keys each source orders, without a judgement: the strongest source first."""
    return _rows(ordered_keys(history.columns, claims=[claim.value for claim in assume]))


def _rows(found: Iterable[OrderedKeys]) -> tuple[Ordered, ...]:
    """By source, the strongest first; keys without a source last."""
    rows = sorted(found, key=lambda row: not row.source)
    return tuple(Ordered(source=row.source, keys=row.keys, whole=row.whole) for row in rows)


def disbelieved(history: History, assume: Sequence[Claim] = ()) -> list[tuple[str, object]]:
    """Claims and sources that a key contradicts: the name of the anomaly, and the key."""
    found = judge(history, max_anomalies=len(history.keys), assume=assume)
    names = ("cyclic-versions", "contradictory-evidence")
    return [(name, anomaly.keys[0]) for name in names for anomaly in found.of(name)]


def concerns(levels: Sequence[Level], assume: Sequence[Claim] = ()) -> bool:
    """Whether the order of versions says anything of `levels` that values, or what is recorded, do not.

    The weak levels ask for a commit order that contains what is recorded. A claim may break PL-1, which all
    of them but cut isolation imply.
    """
    return not {*levels} <= {Level.CUT_ISOLATION, *(() if assume else WEAK)}


def condition(level: Level) -> Level:
    """The level by whose name the native core knows the condition of `level`."""
    return _SAME_CONDITION.get(level, level)


@dataclass(frozen=True)
class Judgement:
    """What the native core found in a history."""

    history: Recorded
    found: VersionsJudgement
    has_predicates: bool = False

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each anomaly was found."""
        return self.found.counts

    @cached_property
    def ordered(self) -> tuple[Ordered, ...]:
        """How many keys each source orders."""
        return _rows(self.found.ordered_keys)

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
                mixed_keys=unjudged.mixed_keys,
                range_reads=unjudged.range_reads,
            ),
            _UNSURE if unjudged.has_unsure_appends and with_repeated else "",
            _UNSURE_ROWS if unjudged.has_unsure_rows and with_repeated else "",
            _AMBIGUOUS.format(unjudged.ambiguous_states) if unjudged.ambiguous_states else "",
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
        if self._is_violated(level) and level is Level.REPEATABLE_READ and self.has_predicates:
            return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=_PREDICATES)
        if self._is_violated(level):
            return self._violated(level)
        outcome = self._outcomes[condition(level)]
        reason = self._doubt(level) if outcome == "holds" else self._unknown(level, outcome)
        if not reason:
            return Verdict(level=level, outcome=Outcome.HOLDS, method=METHOD)
        return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=reason)

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
        if anomaly.name == "contradictory-evidence":
            return False
        weakest = tuple(map(self._protected, (NAMES[anomaly.name], *_ALSO.get(anomaly.name, ()))))
        # By one source it may break a level that another source saves, and a stronger one by both.
        saved = (weak for weak in weakest if not self._is_violated(weak))
        return level in weakest or any(weak in lattice.implied(level) for weak in saved)

    def _protected(self, level: Level) -> Level:
        """The level itself, or the weakest that protects predicate reads as well."""
        return Level.SERIALIZABLE if level is Level.REPEATABLE_READ and self.has_predicates else level

    def _has_a_name(self, level: Level) -> bool:
        """Whether a weaker level, or this one, is broken by an anomaly that has a name."""
        names = {anomaly.name for anomaly, only in self._shown if only is None} - {"contradictory-evidence"}
        named = {NAMES[name] for name in names}
        return any(self._is_violated(weak) for weak in named & lattice.implied(level))
