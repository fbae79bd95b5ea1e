"""The report on one history from what its parts showed: the words of the check on one machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.checkers import assumptions, levels_by_clock, values, version_order
from isoscope.checkers.clock import Judged, untimed
from isoscope.checkers.history_summary import summary_of
from isoscope.checkers.method_judgement import combined, levels_by_order
from isoscope.cluster.small_history import Located
from isoscope.history import EvidenceKind
from isoscope.levels import Level
from isoscope.verdict import Method, Outcome, Report, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.checkers.witnesses import Recorded
    from isoscope.cluster.excerpt import Excerpt
    from isoscope.cluster.gathered import Gathered
    from isoscope.cluster.remainder import Remainder
    from isoscope.cluster.small_history import SmallHistory
    from isoscope.history import History
    from isoscope.verdict import Ordered

__all__ = ["report_on"]

_TOO_MUCH = "{:,} rows may matter to the order of transactions, and the driver of Spark takes {:,}"


def report_on(  # noqa: PLR0913 - what was found, and the question
    found: Gathered,
    excerpt: Excerpt | None,
    empty: History,
    *,
    small: SmallHistory | None,
    rest: Remainder,
    levels: Sequence[Level] | None,
    asked: Sequence[Level],
    method: Method,
    shown: int,
    limit: int,
) -> Report:
    """The report on a history of which `empty` has all but the rows, and `excerpt` the named transactions.

    `small` are those that may stand on a cycle, judged, and `rest` is what is not decided.
    """
    recorded: Recorded = empty if excerpt is None else excerpt
    ties: int | None = None
    unread: frozenset[Level] = frozenset()
    rows: tuple[Ordered, ...] = ()
    meant = {level: level for level in asked}
    if method is Method.TIMESTAMPS:
        meant = levels_by_clock(levels)
        verdicts = [*_by_clock(found, recorded, [*meant.values()])]
        if any(judged.level == Level.CLOCK_SNAPSHOT_ISOLATION for judged in found.clock):
            ties = found.ties
    else:
        verdicts = _by_order(found, recorded, excerpt, small)
        is_recorded = EvidenceKind.TIMESTAMPS in found.evidence or found.has_versions
        unread = levels_by_order(found.evidence, is_recorded=is_recorded)
        rows = _version_order(found, asked, method)
    said = (
        replace(combined(looked_at, verdicts, method, unread, shown), level=level)
        for level, looked_at in meant.items()
    )
    return Report(
        history=summary_of(empty, found.sizes, found.evidence),
        verdicts=tuple(_decided(verdict, rest, method, limit) for verdict in said),
        assumptions=assumptions.of_all(empty, (), ties, verdicts),
        version_order=rows,
        asked=() if levels is None else tuple(meant),
    )


def _decided(verdict: Verdict, rest: Remainder, method: Method, limit: int) -> Verdict:
    """The verdict; of a level that rows decide which were too many, why it is unknown."""
    if verdict.level not in rest.undecided:
        return verdict
    reason = _TOO_MUCH.format(rest.excess, limit)
    return Verdict(level=verdict.level, outcome=Outcome.UNKNOWN, method=method, reason=reason)


def _version_order(found: Gathered, asked: Sequence[Level], method: Method) -> tuple[Ordered, ...]:
    if found.order is None or method is not Method.VERSION_ORDER or not version_order.concerns(asked):
        return ()
    return found.order.ordered if any(row.source for row in found.order.ordered) else ()


def _by_order(
    found: Gathered, recorded: Recorded, excerpt: Excerpt | None, small: SmallHistory | None
) -> list[Verdict]:
    assert found.reads is not None
    if small is None:
        return [*values.verdicts_of(recorded, found.reads, None, recorded)]
    located = Located(small.part, excerpt) if small.part is not None and excerpt is not None else None
    return small.verdicts(found.reads, recorded, located)


def _by_clock(found: Gathered, excerpt: Recorded, asked: Sequence[Level]) -> Iterator[Verdict]:
    """The verdicts of `timestamps.check`."""
    is_timed = EvidenceKind.TIMESTAMPS in found.evidence
    for judgement in found.clock:
        judged = Judged(excerpt, judgement)
        if is_timed:
            yield judged.verdict()
        elif judged.level in asked:
            yield untimed(judged.verdict())
