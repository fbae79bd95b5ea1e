"""Evidence in, verdicts out: each method that applies judges the history, and the lattice combines them.

A further method is one file with `METHOD`, `LEVELS` (the levels whose condition it looks at), `NAMES` (the
anomalies that it reports, each with the level whose condition it breaks), `check(history, levels,
max_anomalies, assume)` and `find(history, names, max_anomalies, assume)`, and one line in `CHECKERS`. The
method of intervals judges mechanisms before levels, and only with a profile.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from time import perf_counter
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import Builder
from isoscope.checkers import assumptions, intervals, streaming, timestamps
from isoscope.checkers.anomaly_search import search, select
from isoscope.checkers.history_summary import summary, summary_of
from isoscope.checkers.itemised import of_ranges, with_range_reads_as_reads
from isoscope.checkers.method_judgement import (
    CHECKERS,
    chosen_method,
    combined,
    judge,
    judge_versions,
    levels_by_recorded_order,
    version_order_rows,
)
from isoscope.checkers.version_order import TIME_LIMIT
from isoscope.checkers.witness_orders import witnesses
from isoscope.history import EvidenceKind, History, Range
from isoscope.levels import DEFINITIONS, Family, Level
from isoscope.profiles import parse_level
from isoscope.verdict import Method, Origin, Report, Search, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.checkers.method_judgement import Judged
    from isoscope.checkers.online import OnlineLevel, OnlineStatus
    from isoscope.history import Initial, Source
    from isoscope.profiles import Profile
    from isoscope.verdict import Claim, Ordered

__all__ = [
    "CHECKERS",
    "TIME_LIMIT",
    "Report",
    "Search",
    "check",
    "check_slices",
    "default_levels",
    "levels_by_clock",
    "levels_with",
    "online_report",
    "search",
    "select",
]

_ABSENT_ROWS = "rows come and go, and their first state and locks are not recorded: ask without --profile"
#: Features of a history that shows more than plain reads and writes of registers.
_NOT_OF_REGISTERS = frozenset(
    {
        "lists",
        "inserts",
        "deletes",
        "range reads",
        "lock modes",
        "read modes",
        "statement kinds",
        "predicates",
    }
)


def check(  # noqa: PLR0913 - the question, and the assumptions of the answer
    history: History,
    levels: Iterable[Level | str] | None = None,
    *,
    method: Method | str | None = None,
    max_anomalies: int = 10,
    assume: Iterable[Claim | str] = (),
    profile: Profile | None = None,
    clock_error: int = 0,
    time_limit: float = TIME_LIMIT,
    witness: bool = False,
    covering: bool = False,
) -> Report:
    """Decide which of `levels` the history satisfies (by default all that its evidence is about).

    `max_anomalies` bounds the counterexamples of each name; all are counted. `assume` are claims of the
    user about the order of versions (`sequential-keys`, ...), on which every verdict then rests.

    Where the order of some versions is open, the search for one takes at most `time_limit` seconds for each
    level; a level that is not decided then is unknown.

    With `witness`, the report has an order for each level that holds, as far as there is one, that shows it;
    if `covering`, not for levels that the order of a stronger one shows too.

    With `profile`, by the method of intervals: whether its mechanisms were at work, `levels`, and the levels
    that the profile promises. Each interval is `clock_error` nanoseconds longer at both ends than recorded.
    Raises ValueError if that method is asked for without a profile, or a profile for another method.
    """
    claims = assumptions.parse_claims(assume)
    only = chosen_method(method, profile)
    if profile is not None:
        asked = _parsed(levels or ())
        return _by_profile(
            history,
            asked,
            profile,
            clock_error,
            max_anomalies=max_anomalies,
            claims=claims,
            time_limit=time_limit,
        )
    meant = _meant(history, levels, only)
    asked = list(meant)
    started = perf_counter()
    recorded, history = history, with_range_reads_as_reads(history)
    found = judge(
        history,
        list(meant.values()),
        only,
        max_anomalies,
        claims,
        time_limit=time_limit,
        witness=witness,
        covering=covering,
    )
    unread = levels_by_recorded_order(history, claims)
    verdicts = tuple(
        replace(combined(looked_at, found.verdicts, only, unread, max_anomalies), level=level)
        for level, looked_at in meant.items()
    )
    return Report(
        history=summary(recorded),
        verdicts=verdicts,
        assumptions=(
            *assumptions.of_all(history, claims, history.columns.ties, found.verdicts),
            *of_ranges(recorded, history),
        ),
        version_order=version_order_rows(found, history, asked, only, claims),
        asked=() if levels is None else tuple(meant),
        seconds={"check": perf_counter() - started},
        witnesses=tuple(witnesses(history, verdicts, found, covering=covering)) if witness else (),
    )


def _by_profile(  # noqa: PLR0913 - the question, and the assumptions of the answer
    history: History,
    asked: Sequence[Level],
    profile: Profile,
    clock_error: int,
    *,
    max_anomalies: int,
    claims: Sequence[Claim],
    time_limit: float,
) -> Report:
    """The mechanisms, and the levels by the order of versions that they show."""
    started = perf_counter()
    mechanisms, ordered = intervals.judge(
        history, profile, clock_error=clock_error, max_anomalies=max_anomalies
    )
    promises = profile.promised(registers=_is_of_registers(history))
    levels = _and_promised(asked, promises)
    said = [*assumptions.of_all(history, claims, None), *assumptions.of_mechanisms(profile, clock_error)]
    verdicts = [intervals.unknown(level, str(ordered)) for level in levels]
    rows: tuple[Ordered, ...] = ()
    if isinstance(ordered, History) and _has_absent_rows(ordered):
        verdicts = [intervals.unknown(level, _ABSENT_ROWS) for level in levels]
    elif isinstance(ordered, History):
        judged = with_range_reads_as_reads(ordered)
        found = judge_versions(judged, levels, max_anomalies, claims, time_limit=time_limit)
        verdicts = [*_promised(found, judged, levels, max_anomalies, is_exact=not clock_error)]
        rows = intervals.renamed(version_order_rows(found, judged, levels, None, claims))
        said += of_ranges(ordered, judged)
    return Report(
        history=summary(history),
        verdicts=tuple(verdicts),
        assumptions=tuple(said),
        version_order=rows,
        mechanisms=mechanisms,
        promises=promises,
        origin=Origin(database=profile.database, isolation=profile.isolation, documented=profile.documented),
        asked=tuple(asked),
        seconds={"check": perf_counter() - started},
    )


def _has_absent_rows(history: History) -> bool:
    """Whether rows come and go: a trace does not say which rows there were at first, nor what locks hid."""
    if history.counts["delete"]:
        return True
    judged = with_range_reads_as_reads(history)
    if judged is history:
        return False
    single = judged.columns.operations - history.columns.operations + history.counts["range-read"]
    return single != sum(
        len(o.value.rows) for t in history for o in t.operations if isinstance(o.value, Range)
    )


def _is_of_registers(history: History) -> bool:
    """Whether transactions only overwrite whole rows and read them without locks, as far as is recorded."""
    return not _NOT_OF_REGISTERS & {*history.columns.features()}


def _and_promised(asked: Sequence[Level], promises: Sequence[Level]) -> list[Level]:
    """The levels that were asked for, and those that are promised with all that follows from them."""
    promised = frozenset().union(*map(lattice.implied, promises))
    return [level for level in Level if level in asked or (level in promised and DEFINITIONS[level].decided)]


def _promised(
    found: Judged, history: History, levels: Sequence[Level], max_anomalies: int, *, is_exact: bool
) -> Iterator[Verdict]:
    """What values and the order of versions say of levels; real time only if clocks are exact."""
    unread = levels_by_recorded_order(history)
    for level in levels:
        if DEFINITIONS[level].family is Family.REAL_TIME and not is_exact:
            yield intervals.unknown(level, intervals.INEXACT)
        else:
            verdict = combined(level, found.verdicts, None, unread, max_anomalies)
            yield intervals.under_own_name(verdict)


def check_slices(
    slices: Iterable[History], levels: Iterable[Level | str] | None = None, *, max_anomalies: int = 10
) -> Report:
    """What `check` with the method of timestamps says of a history that does not fit into memory.

    The slices, each of whole transactions, are iterated twice. Raises ValueError for a history that cannot be
    judged slice by slice, and OSError if the disk is full.
    """
    meant = levels_by_clock(levels)
    streamed = streaming.judge(slices, levels=list(meant.values()), max_anomalies=max_anomalies)
    verdicts = tuple(
        replace(
            combined(looked_at, streamed.verdicts, timestamps.METHOD, frozenset(), max_anomalies),
            level=level,
        )
        for level, looked_at in meant.items()
    )
    return Report(
        history=summary_of(streamed.last, streamed.sizes, streamed.evidence),
        verdicts=verdicts,
        assumptions=assumptions.of_all(streamed.last, (), streamed.ties, streamed.verdicts),
        asked=() if levels is None else tuple(meant),
        seconds=streamed.seconds,
    )


def online_report(
    engines: Sequence[OnlineLevel], *, source: Source, initial: Initial, evidence: Iterable[EvidenceKind]
) -> Report:
    """What `check` with the method of timestamps says of all transactions that these engines took so far."""
    builder = Builder()
    builder.initial(initial.value, replaceable=initial.replaceable)
    empty = History(builder.finish(), source)
    statuses, verdicts = [engine.status() for engine in engines], [engine.verdict() for engine in engines]
    sizes = {"aborted": 0, "indeterminate": 0, **asdict(statuses[0])}
    shown = max(len(verdict.anomalies) for verdict in verdicts)
    return Report(
        history=summary_of(empty, sizes, evidence),
        verdicts=tuple(
            combined(verdict.level, verdicts, timestamps.METHOD, frozenset(), shown) for verdict in verdicts
        ),
        assumptions=(
            *assumptions.of_all(empty, (), max(status.ties for status in statuses), verdicts),
            *_late_arrivals(statuses),
        ),
        asked=tuple(verdict.level for verdict in verdicts),
    )


def _late_arrivals(statuses: Sequence[OnlineStatus]) -> Iterator[str]:
    """What may be wrong because transactions arrived after the timeout."""
    late, changed = (max(getattr(s, name) for s in statuses) for name in ("unverifiable", "overturned"))
    if late:
        transactions = "1 transaction was" if late == 1 else f"{late:,} transactions were"
        yield f"{transactions} too late to be judged, and so may be reads of what they wrote"
    if changed:
        answers = "1 final answer was" if changed == 1 else f"{changed:,} final answers were"
        yield f"{answers} changed by transactions that came after the timeout"


def default_levels(history: History) -> tuple[Level, ...]:
    """The levels that the evidence is about and that some method decides, in the order of the lattice."""
    return levels_with(history.evidence.present)


def levels_with(present: Iterable[EvidenceKind]) -> tuple[Level, ...]:
    """The same for a history with this evidence."""
    known = {*present}
    silent = set()
    if EvidenceKind.TIMESTAMPS not in known:
        silent.add(Family.CLOCK)
    if EvidenceKind.INTERVALS not in known:
        silent.add(Family.REAL_TIME)
    spoken_of = (level for level in Level if DEFINITIONS[level].family not in silent)
    return tuple(level for level in spoken_of if DEFINITIONS[level].decided)


def _meant(
    history: History, levels: Iterable[Level | str] | None, method: Method | None
) -> dict[Level, Level]:
    """Each level that is asked, and the one whose condition is looked at.

    By timestamps alone, that is the one of the database's clock, and by default nothing else is looked at.
    """
    if method is timestamps.METHOD:
        return levels_by_clock(levels)
    asked = default_levels(history) if levels is None else _parsed(levels)
    return {level: level for level in asked}


def _parsed(names: Iterable[Level | str]) -> list[Level]:
    return [*dict.fromkeys(level for name in names for level in parse_level(str(name)))]


def levels_by_clock(levels: Iterable[Level | str] | None) -> dict[Level, Level]:
    """Each level that is asked, and the one of the clock that it means to the method of timestamps."""
    asked = timestamps.LEVELS if levels is None else _parsed(levels)
    return {level: timestamps.ASKED_AS.get(level, level) for level in asked}
