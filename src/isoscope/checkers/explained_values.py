"""Cut isolation and the weak levels where values repeat: does some explanation of the history meet them?

`reference/explanations.py` is the specification, `rust/kernel/src/weak/explained.rs` the engine. The writers
of reads are found by a search, whatever else is open is tried; both have a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import explain_values, judge_values, sources_agree
from isoscope.checkers import cycles, reads
from isoscope.checkers.recorded_order import (
    CONTRADICTORY,
    WEAK,
    has_several_sources,
    is_recorded_beside_lists,
)
from isoscope.levels import Level
from isoscope.verdict import Method, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope._native import ExplainedValues, OrderWitness
    from isoscope.history import History

__all__ = ["Explained", "explained", "explanations"]

#: What a commit order may take of a level that a stronger one proves.
_SECONDS = 60.0
_UNTRIED = "values repeat or indeterminate transactions may have taken effect, and not all cases were tried"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """The verdicts with what explanations say in the place of what repeated values left open."""

    verdicts: list[Verdict]
    witnesses: tuple[OrderWitness, ...] = ()


def explained(
    history: History, verdicts: Sequence[Verdict], asked: Sequence[Level], *, time_limit: float
) -> Explained:
    """Decides those of `asked` that repeated values leave open, and that no verdict breaks or proves."""
    unchanged = Explained(verdicts=[*verdicts])
    has_repeated = judge_values(history.columns, strongest=None, max_anomalies=0).unjudged.repeated_reads > 0
    if not has_repeated and not _is_order_unsure(history) and not _has_open_ends(history):
        return unchanged
    open_levels = [level for level in WEAK if _matters(level, verdicts, asked) and _is_open(level, verdicts)]
    is_cut_open = Level.CUT_ISOLATION in asked and _is_cut_open(history, verdicts)
    doubtful = _in_doubt(history, verdicts, time_limit)
    if not open_levels and not is_cut_open and not doubtful:
        return unchanged
    strongest = [level.value for level in WEAK if level in open_levels or level in doubtful]
    found = explain_values(
        history.columns,
        strongest=strongest[-1] if strongest else None,
        by_recorded_order=is_recorded_beside_lists(history),
        max_seconds=time_limit,
    )
    if not found.is_ambiguous:
        return unchanged
    held = {verdict.level for verdict in verdicts if verdict.outcome is Outcome.HOLDS}
    # What holds if no indeterminate transaction took effect says nothing of the explanations that are left.
    decided = [level for level in open_levels if level in held or found.outcomes[level] != Outcome.UNKNOWN]
    if is_cut_open and found.outcomes[Level.CUT_ISOLATION] != Outcome.HOLDS:
        decided.append(Level.CUT_ISOLATION)
    kept = [verdict for verdict in verdicts if verdict.level not in decided or not _is_replaced(verdict)]
    # Where each source alone breaks a level, its counterexample stands.
    replaced = [level for level in doubtful if found.outcomes[level] != Outcome.VIOLATED]
    kept = [verdict for verdict in kept if verdict.level not in replaced]
    decided += [level for level in doubtful if level not in decided and not _is_broken(level, kept)]
    method = {verdict.level: verdict.method for verdict in verdicts}
    told = [
        _verdict(history, level, method.get(level, Method.VALUES), found) for level in _told(decided, found)
    ]
    return Explained(verdicts=[*kept, *told], witnesses=tuple(found.witnesses))


def _in_doubt(history: History, verdicts: Sequence[Verdict], time_limit: float) -> list[Level]:
    """Weak levels that an order of versions breaks, if sources contradict each other in every explanation.

    What they break together proves nothing then, nor does a list that another source contradicts.
    """
    broken = [verdict.level for verdict in verdicts if verdict.outcome is Outcome.VIOLATED]
    by_order = {level for level in broken if level in WEAK}
    surely = {*broken} - by_order
    doubtful = [
        level
        for level in WEAK
        if by_order & lattice.implied(level) and surely.isdisjoint(lattice.implied(level))
    ]
    if not doubtful or not has_several_sources(history):
        return []
    if not history.counts["append"]:
        by_values = judge_values(history.columns, strongest=doubtful[-1].value, max_anomalies=0).weak
        doubtful = [level for level in doubtful if by_values and level.value in by_values.satisfied]
    if not doubtful or sources_agree(history.columns, max_seconds=time_limit):
        return []
    return doubtful


def _is_order_unsure(history: History) -> bool:
    """Whether an order of versions may have a place for a write that no read tells from another one."""
    if history.columns.versions():
        # It may show more writes of a value than transactions that are known to have taken effect.
        return True
    is_timestamped = is_recorded_beside_lists(history)
    return is_timestamped and history.counts["append"] > 0 and history.evidence.repeated_values > 0


def _told(decided: Sequence[Level], found: ExplainedValues) -> Iterator[Level]:
    """The levels that hold or stay open, and the weakest one that is violated: it breaks the others."""
    yield from (level for level in decided if level is Level.CUT_ISOLATION)
    weak = [level for level in decided if level in WEAK]
    yield from (level for level in weak if found.outcomes[level] != Outcome.VIOLATED)
    if any(found.outcomes[level] == Outcome.VIOLATED for level in weak):
        yield next(level for level in WEAK if found.outcomes[level] == Outcome.VIOLATED)


def explanations(history: History, strongest: Level) -> list[OrderWitness]:
    """Commit orders of the weak levels up to `strongest` where values repeat."""
    by_recorded_order = is_recorded_beside_lists(history)
    return explain_values(
        history.columns,
        strongest=strongest.value,
        by_recorded_order=by_recorded_order,
        max_seconds=_SECONDS,
    ).witnesses


def _is_replaced(verdict: Verdict) -> bool:
    return verdict.outcome is not Outcome.VIOLATED


def _matters(level: Level, verdicts: Sequence[Verdict], asked: Sequence[Level]) -> bool:
    """Whether the level is asked for, would prove one that is, or would break one that nothing decides."""
    holds = any(v.level is level and v.outcome is Outcome.HOLDS for v in verdicts)
    if level in asked or (holds and not lattice.implied(level).isdisjoint(asked)):
        return True
    return any(level in lattice.implied(one) and _is_undecided(one, verdicts) for one in asked)


def _is_undecided(level: Level, verdicts: Sequence[Verdict]) -> bool:
    is_proved = any(level in lattice.implied(other) for other in _held(verdicts))
    return not is_proved and not _is_broken(level, verdicts)


def _is_open(level: Level, verdicts: Sequence[Verdict]) -> bool:
    """Whether values say that the level holds or may hold, and no verdict of another kind decides it."""
    proved = any(level in lattice.implied(other) for other in _held(verdicts) if other not in WEAK)
    is_judged = any(verdict.level is level for verdict in verdicts)
    return is_judged and not proved and not _is_broken(level, verdicts)


def _is_cut_open(history: History, verdicts: Sequence[Verdict]) -> bool:
    """Whether an indeterminate transaction may have taken effect that values alone leave out."""
    held = _held(verdicts)
    own = Level.CUT_ISOLATION in held
    others = {*held} - {Level.CUT_ISOLATION, *WEAK}
    stronger = any(Level.CUT_ISOLATION in lattice.implied(level) for level in others)
    return own and not stronger and _has_open_ends(history)


def _has_open_ends(history: History) -> bool:
    """Whether a wrong read may prove that one of several indeterminate transactions took effect."""
    return history.columns.status_counts().get("indeterminate", 0) > 0


def _held(verdicts: Sequence[Verdict]) -> list[Level]:
    """The levels that hold by some method and that no other method breaks."""
    held = (verdict.level for verdict in verdicts if verdict.outcome is Outcome.HOLDS)
    return [level for level in held if not _is_broken(level, verdicts)]


def _is_broken(level: Level, verdicts: Sequence[Verdict]) -> bool:
    return any(v.outcome is Outcome.VIOLATED and v.level in lattice.implied(level) for v in verdicts)


def _verdict(history: History, level: Level, method: Method, found: ExplainedValues) -> Verdict:
    """The answer for one level."""
    outcome = Outcome(found.outcomes[level])
    if outcome is Outcome.UNKNOWN and found.is_contradictory and level in WEAK:
        return Verdict(level=level, outcome=outcome, method=method, reason=CONTRADICTORY)
    if level is Level.CUT_ISOLATION:
        return _of_cut(history, method, outcome, found)
    if outcome is not Outcome.VIOLATED:
        reason = _UNTRIED if outcome is Outcome.UNKNOWN else ""
        return Verdict(level=level, outcome=outcome, method=method, reason=reason)
    anomaly = cycles.anomaly(history, "no-commit-order", (), (), level.value)
    counts = {anomaly.name: 1}
    return Verdict(level=level, outcome=outcome, method=method, anomaly_counts=counts, anomalies=(anomaly,))


def _of_cut(history: History, method: Method, outcome: Outcome, found: ExplainedValues) -> Verdict:
    if outcome is Outcome.UNKNOWN or found.cut_finding is None:
        return Verdict(level=Level.CUT_ISOLATION, outcome=Outcome.UNKNOWN, method=method, reason=_UNTRIED)
    anomaly = reads.anomaly(history, found.cut_finding)
    return Verdict(
        level=Level.CUT_ISOLATION,
        outcome=Outcome.VIOLATED,
        method=method,
        anomaly_counts={anomaly.name: 1},
        anomalies=(anomaly,),
    )
