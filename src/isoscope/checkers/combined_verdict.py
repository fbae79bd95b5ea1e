"""The verdict on one level that follows from the verdicts of all methods by the lattice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope.checkers.recorded_order import WEAK
from isoscope.levels import DEFINITIONS, Level
from isoscope.verdict import Method, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from isoscope.verdict import Anomaly

__all__ = ["combined_verdict"]

#: Their counterexamples may have a step of a session that stronger levels, which forbid more, do not need.
_BY_SESSION = frozenset(
    {
        Level.PREFIX,
        Level.READ_YOUR_WRITES,
        Level.MONOTONIC_READS,
        Level.MONOTONIC_WRITES,
        Level.WRITES_FOLLOW_READS,
    }
)
_UNREAD = "an order of versions is recorded or claimed, which the method of values does not look at"
_BY_NAME_ONLY = "known by name, decided by no method and settled by no other level"


def combined_verdict(  # noqa: PLR0913 - the verdicts, and how to read them
    level: Level,
    verdicts: Sequence[Verdict],
    checkers: Sequence[ModuleType],
    *,
    method: Method | None,
    unread: frozenset[Level],
    max_anomalies: int,
) -> Verdict:
    """The verdict on `level`: a broken weaker level breaks it, a holding stronger one proves it.

    A level of `unread` asks for the recorded order of versions, so that a method that looks at it proves it
    best. Values know the order of lists. If there is another one, weak levels are in `unread` too: values
    then prove no level but those, and them only if other methods prove the levels that they imply.
    """
    if broken := [verdict for verdict in verdicts if _breaks(verdict, level)]:
        others = [verdict for verdict in broken if verdict.level not in _BY_SESSION - {level}]
        return _violated(level, others or broken, checkers, max_anomalies)
    violated = {verdict.level for verdict in verdicts if verdict.outcome is Outcome.VIOLATED}
    proofs = [v for v in verdicts if _proves(v, level) and violated.isdisjoint(lattice.implied(v.level))]
    by_order = [v for v in verdicts if v.method is not Method.VALUES]
    open_levels = [asked for asked in _asking(level, unread) if not _is_proved(asked, by_order)]
    is_known_to_values = not open_levels if level in WEAK else not unread & {*WEAK}
    if level not in unread:
        accepted = proofs
    else:
        others = [v for v in proofs if v.method is not Method.VALUES]
        accepted = others or (proofs if is_known_to_values else [])
    if accepted:
        return Verdict(level=level, outcome=Outcome.HOLDS, method=accepted[0].method)
    reason = _reason(level, verdicts, method)
    if proofs:
        reason = next((v.reason for v in by_order if v.level in open_levels and v.reason), _UNREAD)
    return Verdict(level=level, outcome=Outcome.UNKNOWN, method=method or Method.VALUES, reason=reason)


def _asking(level: Level, unread: frozenset[Level]) -> Iterator[Level]:
    """The levels that `level` implies and that ask for the recorded order of versions."""
    if level in unread:
        yield from (weaker for weaker in Level if weaker in lattice.implied(level) & unread - {*WEAK})


def _is_proved(level: Level, verdicts: Sequence[Verdict]) -> bool:
    return any(_proves(verdict, level) for verdict in verdicts)


def _reason(level: Level, verdicts: Sequence[Verdict], method: Method | None) -> str:
    """Why the level, or a stronger level that would have proved it, is unknown."""
    proving = (verdict.reason for verdict in verdicts if level in lattice.implied(verdict.level))
    if reasons := [reason for reason in proving if reason]:
        return reasons[-1]
    if not DEFINITIONS[level].decided:
        return _BY_NAME_ONLY
    if method is not None:
        return f"not decided by the method {method} in this version"
    return "not decided by any method of this version"


def _breaks(verdict: Verdict, level: Level) -> bool:
    return verdict.outcome is Outcome.VIOLATED and verdict.level in lattice.implied(level)


def _proves(verdict: Verdict, level: Level) -> bool:
    return verdict.outcome is Outcome.HOLDS and level in lattice.implied(verdict.level)


def _violated(
    level: Level, broken: Sequence[Verdict], checkers: Sequence[ModuleType], max_anomalies: int
) -> Verdict:
    """The anomalies of all of `broken`, in the order of the checkers' names.

    Where two methods report one name, the later checker looked at more of the evidence.
    """
    counts: dict[str, int] = {}
    anomalies: dict[str, list[Anomaly]] = {}
    for checker in checkers:
        own = [verdict for verdict in broken if verdict.method is checker.METHOD]
        names = dict.fromkeys(name for verdict in own for name in verdict.anomaly_counts)
        # A proof that was looked for one level alone counts once there; other verdicts count all of its name.
        counts |= {name: max(v.anomaly_counts.get(name, 0) for v in own) for name in names}
        anomalies |= {name: found[: min(counts[name], max_anomalies)] for name, found in _shown(own).items()}
    ordered = list(dict.fromkeys(name for checker in checkers for name in checker.NAMES if name in counts))
    return Verdict(
        level=level,
        outcome=Outcome.VIOLATED,
        method=broken[0].method,
        anomaly_counts={name: counts[name] for name in ordered},
        anomalies=tuple(anomaly for name in ordered for anomaly in anomalies[name]),
    )


def _shown(verdicts: Sequence[Verdict]) -> dict[str, list[Anomaly]]:
    """The anomalies by name, each once: two levels may have looked for the same."""
    found: dict[str, list[Anomaly]] = {}
    alike: dict[tuple[object, ...], list[Anomaly]] = {}
    for anomaly in (anomaly for verdict in verdicts for anomaly in verdict.anomalies):
        # An anomaly has no hash, and to compare each with all takes too long for many.
        known = alike.setdefault((anomaly.name, anomaly.transactions, anomaly.witnesses), [])
        if anomaly not in known:
            known.append(anomaly)
            found.setdefault(anomaly.name, []).append(anomaly)
    return found
