"""The judgement of one history by all methods: each judges once, and the lattice combines the verdicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isoscope.checkers import intervals, timestamps, values, version_order
from isoscope.checkers.combined_verdict import combined_verdict
from isoscope.checkers.explained_values import Explained, explained
from isoscope.checkers.recorded_order import is_recorded_beside_lists
from isoscope.history import EvidenceKind, History
from isoscope.levels import Level, implied
from isoscope.verdict import Method, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from isoscope._native import OrderWitness
    from isoscope.profiles import Profile
    from isoscope.verdict import Claim, Ordered

__all__ = [
    "CHECKERS",
    "Judged",
    "chosen_method",
    "combined",
    "judge",
    "judge_versions",
    "levels_by_order",
    "levels_by_recorded_order",
    "version_order_rows",
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
    """The verdicts of the checkers; `ordered` is None if the order of versions was not judged.

    `by_versions` is the judgement by the order of versions, if witnesses were asked for; `explained` are
    commit orders of weak levels that explanations of repeated values gave, `commit_orders` those that values
    gave, None if they were not looked for.
    """

    verdicts: list[Verdict]
    ordered: tuple[Ordered, ...] | None = None
    by_versions: version_order.Judgement | None = None
    explained: tuple[OrderWitness, ...] = ()
    commit_orders: dict[str, list[int]] | None = None


def judge(  # noqa: PLR0913 - the question, and its limits
    history: History,
    asked: Sequence[Level],
    method: Method | None,
    max_anomalies: int,
    claims: Sequence[Claim],
    *,
    time_limit: float,
    witness: bool = False,
    covering: bool = False,
) -> Judged:
    """Each method judges once the levels whose condition it decides."""
    if method is timestamps.METHOD:
        alone = timestamps.check_alone(history, levels=asked, max_anomalies=max_anomalies)
        return Judged(verdicts=_in_lattice_order([*alone]))
    chosen = [checker for checker in CHECKERS if method in (None, checker.METHOD)]
    if not {*asked} <= {*timestamps.LEVELS}:
        return _judge_by(
            chosen,
            history,
            asked,
            max_anomalies,
            claims,
            time_limit=time_limit,
            witness=witness,
            covering=covering,
        )
    # Levels of the clock need the other methods only if the clock does not decide them.
    by_clock = [*timestamps.check(history, levels=asked, max_anomalies=max_anomalies)]
    is_decided = all(verdict.outcome is not Outcome.UNKNOWN for verdict in by_clock)
    if is_decided and not claims and not timestamps.leaves_order_open(history):
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


def _left_to_versions(asked: Sequence[Level], verdicts: Sequence[Verdict]) -> tuple[Level, ...]:
    """The levels that are asked of the order of versions.

    A level of commit orders that values decide is none of them: it would have every other level searched for.
    """
    decided = {verdict.level for verdict in verdicts if verdict.outcome is not Outcome.UNKNOWN}
    return tuple(level for level in asked if level in version_order.LEVELS or level not in decided)


def _judge_by(  # noqa: PLR0913 - the question, and its limits
    checkers: Sequence[ModuleType],
    history: History,
    asked: Sequence[Level],
    max_anomalies: int,
    claims: Sequence[Claim],
    *,
    time_limit: float,
    witness: bool = False,
    covering: bool = False,
) -> Judged:
    verdicts: list[Verdict] = []
    kept: version_order.Judgement | None = None
    told: Explained | None = None
    orders: dict[str, list[int]] | None = None
    is_explained = values in checkers and not claims
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
                    asked=_left_to_versions(asked, verdicts),
                    witnessed=_witnessed(asked, covering=covering) if witness else (),
                )
                verdicts += judgement.verdicts()
                ordered = judgement.ordered
                kept = judgement if witness else None
            continue
        if checker is values and version_order in checkers:
            by_values = values.judge_in_order(
                history, levels=asked, max_anomalies=max_anomalies, assume=claims, keeps_orders=witness
            )
            verdicts += by_values.verdicts
            orders = by_values.commit_orders
        else:
            verdicts += checker.check(history, levels=asked, max_anomalies=max_anomalies, assume=claims)
        if checker is values and is_explained and not version_order.concerns(asked):
            told = explained(history, verdicts, asked, time_limit=time_limit)
            verdicts = told.verdicts
    if is_explained and version_order.concerns(asked):
        # Whatever the order of versions proves needs no explanation.
        told = explained(history, verdicts, asked, time_limit=time_limit)
        verdicts = told.verdicts
    return Judged(
        verdicts=_in_lattice_order(verdicts),
        ordered=ordered,
        by_versions=kept,
        explained=told.witnesses if told else (),
        commit_orders=orders,
    )


def _witnessed(asked: Sequence[Level], *, covering: bool) -> Sequence[Level]:
    """The native core leaves out a level behind one that implies it; the weakest first, each has its own."""
    places = {level: place for place, level in enumerate(Level)}
    weaker = {level: len(implied(version_order.condition(level))) for level in asked}
    ordered = sorted(asked, key=lambda level: (-weaker[level], places[level]))
    return ordered if covering else ordered[::-1]


def _in_lattice_order(verdicts: Sequence[Verdict]) -> list[Verdict]:
    places = {level: place for place, level in enumerate(Level)}
    return sorted(verdicts, key=lambda verdict: places[verdict.level])


def levels_by_recorded_order(history: History, claims: Sequence[Claim] = ()) -> frozenset[Level]:
    """Levels that values alone do not prove, because an order of versions is recorded or claimed.

    Of lists they know the order, which is all that the weak levels ask for.
    """
    is_recorded = bool(claims) or is_recorded_beside_lists(history)
    return levels_by_order(history.evidence.present, is_recorded=is_recorded)


def levels_by_order(present: Iterable[EvidenceKind], *, is_recorded: bool) -> frozenset[Level]:
    """The same of a history with this evidence; `is_recorded`: beside lists, or by a claim."""
    if is_recorded:
        return frozenset(version_order.LEVELS) | implied(Level.CAUSAL) - {Level.CUT_ISOLATION}
    return frozenset(version_order.LEVELS if EvidenceKind.VERSION_ORDER in present else ())


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
