"""The judgement of one history by all methods: each judges once, and the lattice combines the verdicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isoscope._native import itemised
from isoscope.checkers import intervals, timestamps, values, version_order
from isoscope.checkers.combined_verdict import combined_verdict
from isoscope.checkers.recorded_order import is_recorded_beside_lists
from isoscope.history import EvidenceKind, History
from isoscope.levels import Level, implied
from isoscope.verdict import Method, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from isoscope.profiles import Profile
    from isoscope.verdict import Claim, Ordered

__all__ = [
    "CHECKERS",
    "Judged",
    "chosen_method",
    "combined",
    "judge",
    "judge_versions",
    "levels_by_recorded_order",
    "version_order_rows",
    "with_range_reads_as_reads",
]

CHECKERS: tuple[ModuleType, ...] = (values, version_order, timestamps)


def chosen_method(method: Method | str | None, profile: Profile | None) -> Method | None:
    """The one method to use, if one was named: a profile names its own."""
    only = None if method is None else Method(method)
    if profile is None and only is intervals.METHOD:
        raise ValueError("the method intervals asks whether mechanisms were at work: a profile says which")
    if profile is not None and only not in (None, intervals.METHOD):
        raise ValueError(f"a profile is for the method intervals, not for the method {only}")
    return only if profile is None else intervals.METHOD


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdicts of the checkers; `ordered` is None if the order of versions was not judged."""

    verdicts: list[Verdict]
    ordered: tuple[Ordered, ...] | None = None


def judge(  # noqa: PLR0913 - the question, and its limits
    history: History,
    asked: Sequence[Level],
    method: Method | None,
    max_anomalies: int,
    claims: Sequence[Claim],
    *,
    time_limit: float,
) -> Judged:
    """Each method judges once the levels whose condition it decides."""
    chosen = [checker for checker in CHECKERS if method in (None, checker.METHOD)]
    if not {*asked} <= {*timestamps.LEVELS}:
        return _judge_by(chosen, history, asked, max_anomalies, claims, time_limit=time_limit)
    # Levels of the clock need the other methods only if the clock does not decide them.
    by_clock = [*timestamps.check(history, levels=asked, max_anomalies=max_anomalies)]
    if all(verdict.outcome is not Outcome.UNKNOWN for verdict in by_clock):
        return Judged(verdicts=by_clock)
    others = [checker for checker in chosen if checker is not timestamps]
    found = _judge_by(others, history, asked, max_anomalies, claims, time_limit=time_limit)
    return replace(found, verdicts=_in_lattice_order([*by_clock, *found.verdicts]))


def judge_versions(
    history: History,
    asked: Sequence[Level],
    max_anomalies: int,
    claims: Sequence[Claim],
    *,
    time_limit: float,
) -> Judged:
    """What values and the order of versions say of the levels, without the database's clock."""
    by_versions = (values, version_order)
    return _judge_by(by_versions, history, asked, max_anomalies, claims, time_limit=time_limit)


def _judge_by(  # noqa: PLR0913 - the question, and its limits
    checkers: Sequence[ModuleType],
    history: History,
    asked: Sequence[Level],
    max_anomalies: int,
    claims: Sequence[Claim],
    *,
    time_limit: float,
) -> Judged:
    verdicts: list[Verdict] = []
    ordered: tuple[Ordered, ...] | None = None
    if version_order in checkers and values not in checkers:
        # Whatever the order of versions, a single wrong read breaks most levels.
        wrong = values.wrong_reads(history, max_anomalies=max_anomalies)
        verdicts += (replace(verdict, method=version_order.METHOD) for verdict in wrong)
    for checker in checkers:
        if checker is version_order:
            is_open = any(v.level in asked and v.outcome is Outcome.UNKNOWN for v in verdicts)
            if is_open or version_order.concerns(asked, claims):
                judgement = version_order.judge(
                    history,
                    max_anomalies=max_anomalies,
                    assume=claims,
                    time_limit=time_limit,
                    asked=asked,
                )
                verdicts += judgement.verdicts()
                ordered = judgement.ordered
            continue
        is_in_order = checker is values and version_order in checkers
        check = values.check_in_order if is_in_order else checker.check
        verdicts += check(history, levels=asked, max_anomalies=max_anomalies, assume=claims)
    return Judged(verdicts=_in_lattice_order(verdicts), ordered=ordered)


def _in_lattice_order(verdicts: Sequence[Verdict]) -> list[Verdict]:
    places = {level: place for place, level in enumerate(Level)}
    return sorted(verdicts, key=lambda verdict: places[verdict.level])


def levels_by_recorded_order(history: History, claims: Sequence[Claim] = ()) -> frozenset[Level]:
    """Levels that values alone do not prove, because an order of versions is recorded or claimed.

    Of lists they know the order, which is all that the weak levels ask for.
    """
    if claims or is_recorded_beside_lists(history):
        return frozenset(version_order.LEVELS) | implied(Level.CAUSAL) - {Level.CUT_ISOLATION}
    is_recorded = EvidenceKind.VERSION_ORDER in history.evidence.present
    return frozenset(version_order.LEVELS if is_recorded else ())


def version_order_rows(
    found: Judged,
    history: History,
    asked: Sequence[Level],
    method: Method | None,
    claims: Sequence[Claim],
) -> tuple[Ordered, ...]:
    """How many keys each source orders, if the order of versions was asked for and some source is known."""
    if method not in (None, version_order.METHOD) or not version_order.concerns(asked, claims):
        return ()
    ordered = version_order.ordered(history, claims) if found.ordered is None else found.ordered
    return ordered if any(row.source for row in ordered) else ()


def combined(
    level: Level, verdicts: Sequence[Verdict], method: Method | None, unread: frozenset[Level], shown: int
) -> Verdict:
    """The verdict on `level` that follows from the checkers' verdicts."""
    return combined_verdict(level, verdicts, CHECKERS, method=method, unread=unread, max_anomalies=shown)


def with_range_reads_as_reads(history: History) -> History:
    """The same history with reads of rows in the place of range reads, where both mean the same."""
    if not history.counts["range-read"]:
        return history
    columns = itemised(history.columns)
    return history if columns is None else History(columns, history.source)
