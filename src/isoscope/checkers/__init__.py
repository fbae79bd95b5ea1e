"""Evidence in, verdicts out: every method that can say something is asked, the lattice does the rest.

A further method is one file with `METHOD`, `LEVELS` (the levels whose condition it looks at), `NAMES` (the
anomalies that it reports, each with the level whose condition it breaks), `check(history, levels, most,
assume)` and `find(history, names, most, assume)`, and one line in `CHECKERS`. The method of intervals judges
mechanisms before levels, and is asked with a profile alone.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from time import perf_counter
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import Builder, itemised
from isoscope.checkers import assumptions, intervals, streaming, timestamps, values, version_order
from isoscope.checkers.settling import settle
from isoscope.history import EvidenceKind, History
from isoscope.levels import DEFINITIONS, Family, Level
from isoscope.verdict import Claim, Method, Outcome, Report, Search, Sighting, Verdict, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from isoscope.checkers.online import Online, OnlineStatus
    from isoscope.history import Initial, Source
    from isoscope.profiles import Profile
    from isoscope.verdict import Ordered

__all__ = [
    "CHECKERS",
    "Report",
    "Search",
    "check",
    "check_slices",
    "default_levels",
    "online_report",
    "search",
    "select",
]

CHECKERS: tuple[ModuleType, ...] = (values, version_order, timestamps)


def check(  # noqa: PLR0913 - what is asked, and in the light of what
    history: History,
    levels: Iterable[Level | str] | None = None,
    *,
    method: Method | str | None = None,
    max_anomalies: int = 10,
    assume: Iterable[Claim | str] = (),
    profile: Profile | None = None,
    clock_error: int = 0,
) -> Report:
    """Decide which of `levels` the history satisfies (by default all that its evidence speaks of).

    `max_anomalies` bounds the counterexamples of each name; all are counted. `assume` are claims of the
    user about the order of versions (`sequential-keys`, ...), on which every verdict then rests.

    With `profile`, by the method of intervals: whether its mechanisms were at work, and the levels that it
    promises beside `levels`. Each interval is `clock_error` nanoseconds longer at both ends than recorded.
    Raises ValueError if that method is asked for without a profile, or a profile for another method.
    """
    claims = _claims(assume)
    only = _method(method, profile)
    if profile is not None:
        asked = [lattice.parse(str(level)) for level in levels or ()]
        return _by_profile(history, asked, profile, clock_error, most=max_anomalies, claims=claims)
    meant = _meant(history, levels, only)
    asked = list(meant)
    started = perf_counter()
    recorded, history = history, _itemised(history)
    own = _own_verdicts(history, list(meant.values()), only, max_anomalies, claims)
    unread = frozenset(version_order.LEVELS) if _orders_versions(history) else frozenset()
    verdicts = tuple(
        replace(_settle(looked_at, own, only, unread, max_anomalies), level=level)
        for level, looked_at in meant.items()
    )
    return Report(
        history=summary(recorded),
        verdicts=verdicts,
        assumptions=(
            *assumptions.of_all(history, claims, history.columns.ties, own),
            *assumptions.of_ranges(recorded, history),
        ),
        version_order=_version_order(history, asked, only, claims),
        seconds={"check": perf_counter() - started},
    )


def _method(method: Method | str | None, profile: Profile | None) -> Method | None:
    """The one method to use, if one was named: a profile names its own."""
    only = None if method is None else Method(method)
    if profile is None and only is intervals.METHOD:
        raise ValueError("the method intervals asks whether mechanisms were at work: a profile says which")
    if profile is not None and only not in (None, intervals.METHOD):
        raise ValueError(f"a profile is for the method intervals, not for the method {only}")
    return only if profile is None else intervals.METHOD


def _by_profile(  # noqa: PLR0913 - what is asked, and in the light of what
    history: History,
    asked: Sequence[Level],
    profile: Profile,
    clock_error: int,
    *,
    most: int,
    claims: Sequence[Claim],
) -> Report:
    """The mechanisms, and the levels by the order of versions that they show."""
    started = perf_counter()
    found, ordered = intervals.judge(history, profile, clock_error=clock_error, max_anomalies=most)
    levels = _and_promised(asked, profile)
    said = [*assumptions.of_all(history, claims, None), *assumptions.of_mechanisms(profile, clock_error)]
    verdicts = [intervals.unknown(level, str(ordered)) for level in levels]
    rows: tuple[Ordered, ...] = ()
    if isinstance(ordered, History):
        judged = _itemised(ordered)
        verdicts = [*_promised(judged, levels, most, claims, is_exact=not clock_error)]
        rows = intervals.renamed(_version_order(judged, levels, None, claims))
        said += assumptions.of_ranges(ordered, judged)
    return Report(
        history=summary(history),
        verdicts=tuple(verdicts),
        assumptions=tuple(said),
        version_order=rows,
        mechanisms=found,
        seconds={"check": perf_counter() - started},
    )


def _and_promised(asked: Sequence[Level], profile: Profile) -> list[Level]:
    """What is asked, and what the profile promises with all that follows from it."""
    promised = frozenset().union(*map(lattice.implied, profile.promises))
    return [level for level in Level if level in asked or (level in promised and DEFINITIONS[level].decided)]


def _promised(
    history: History, levels: Sequence[Level], most: int, claims: Sequence[Claim], *, is_exact: bool
) -> Iterator[Verdict]:
    """What values and the order of versions say of levels; real time only if clocks are exact."""
    own = [
        verdict
        for checker in (values, version_order)
        for verdict in checker.check(history, levels=levels, most=most, assume=claims)
    ]
    unread = frozenset(version_order.LEVELS) if _orders_versions(history) else frozenset()
    own.sort(key=lambda verdict: [*Level].index(verdict.level))
    for level in levels:
        if DEFINITIONS[level].family is Family.REAL_TIME and not is_exact:
            yield intervals.unknown(level, intervals.INEXACT)
        else:
            yield intervals.under_own_name(_settle(level, own, None, unread, most))


def check_slices(
    slices: Iterable[History], levels: Iterable[Level | str] | None = None, *, max_anomalies: int = 10
) -> Report:
    """What `check` with the method of timestamps says of a history that does not fit into memory.

    The slices, each of whole transactions, are iterated twice. Raises ValueError for a history that cannot be
    judged slice by slice, and OSError if the disk is full.
    """
    meant = _by_clock(levels)
    streamed = streaming.judge(slices, levels=list(meant.values()), most=max_anomalies)
    verdicts = tuple(
        replace(
            _settle(looked_at, streamed.verdicts, timestamps.METHOD, frozenset(), max_anomalies), level=level
        )
        for level, looked_at in meant.items()
    )
    return Report(
        history=_summary(streamed.last, streamed.sizes, streamed.evidence),
        verdicts=verdicts,
        assumptions=assumptions.of_all(streamed.last, (), streamed.ties, streamed.verdicts),
        seconds=streamed.seconds,
    )


def online_report(
    engines: Sequence[Online], *, source: Source, initial: Initial, evidence: Iterable[EvidenceKind]
) -> Report:
    """What `check` with the method of timestamps says of all that these engines took, as of now."""
    builder = Builder()
    builder.initial(initial.value, replaceable=initial.replaceable)
    nothing = History(builder.finish(), source)
    statuses, own = [engine.status() for engine in engines], [engine.verdict() for engine in engines]
    sizes = {"aborted": 0, "indeterminate": 0, **asdict(statuses[0])}
    shown = max(len(verdict.anomalies) for verdict in own)
    return Report(
        history=_summary(nothing, sizes, evidence),
        verdicts=tuple(_settle(verdict.level, own, timestamps.METHOD, frozenset(), shown) for verdict in own),
        assumptions=(
            *assumptions.of_all(nothing, (), max(status.ties for status in statuses), own),
            *_came_late(statuses),
        ),
    )


def _came_late(statuses: Sequence[OnlineStatus]) -> Iterator[str]:
    """What may be otherwise because somebody came later than the timeout allows for."""
    late, changed = (max(getattr(s, name) for s in statuses) for name in ("unverifiable", "overturned"))
    if late:
        who = "1 transaction was" if late == 1 else f"{late:,} transactions were"
        yield f"{who} too late to be judged, and so may be reads of what they wrote"
    if changed:
        answers = "1 final answer was" if changed == 1 else f"{changed:,} final answers were"
        yield f"{answers} changed by transactions that came after the timeout"


def search(  # noqa: PLR0913 - what is looked for, and in the light of what
    history: History,
    anomalies: Iterable[str],
    *,
    levels: Iterable[Level | str] | None = None,
    method: Method | str | None = None,
    max_anomalies: int = 10,
    assume: Iterable[Claim | str] = (),
    profile: Profile | None = None,
    clock_error: int = 0,
) -> Search:
    """Look for these anomalies only; with `levels`, each of them must count against one of those.

    Raises `ValueError` for a name that is unknown, that no method reports, or that does not count, and for
    one of mechanisms without the profile that has them.
    """
    claims = _claims(assume)
    chosen = select(anomalies, levels=levels, method=method, profile=profile)
    started = perf_counter()
    if profile is not None:
        sightings = intervals.find(
            history, [*chosen], profile, clock_error=clock_error, max_anomalies=max_anomalies
        )
        return Search(
            history=summary(history),
            sightings=tuple(sightings),
            assumptions=(
                *assumptions.of_all(history, (), None),
                *assumptions.of_mechanisms(profile, clock_error),
            ),
            seconds={"check": perf_counter() - started},
        )
    recorded, history = history, _itemised(history)
    found: dict[str, Sighting] = {}
    for checker in CHECKERS:
        if names := [name for name in chosen if chosen[name] is checker]:
            sightings = checker.find(history, names, most=max_anomalies, assume=claims)
            found |= {sighting.name: sighting for sighting in sightings}
    return Search(
        history=summary(recorded),
        sightings=tuple(found[name] for name in chosen),
        assumptions=(
            *assumptions.of_all(history, claims, history.columns.ties),
            *assumptions.of_ranges(recorded, history),
        ),
        seconds={"check": perf_counter() - started},
    )


def select(
    anomalies: Iterable[str],
    *,
    levels: Iterable[Level | str] | None = None,
    method: Method | str | None = None,
    profile: Profile | None = None,
) -> dict[str, ModuleType]:
    """The canonical names of these anomalies, each with the checker that reports it.

    Raises as `search` does.
    """
    only = _method(method, profile)
    asked = None if levels is None else [lattice.parse(str(level)) for level in levels]
    names = [name for given in anomalies for name in names_of(given)]
    if missing := [name for name in names if name in intervals.NAMES and profile is None]:
        raise ValueError(f"`{missing[0]}` is one of mechanisms: a profile says which there are")
    return {name: _reporting(name, only, asked) for name in names}


def _reporting(name: str, method: Method | None, levels: Sequence[Level] | None) -> ModuleType:
    """The checker that reports the anomaly."""
    if name in intervals.NAMES and levels is None:
        return intervals
    if name in intervals.NAMES:
        raise ValueError(f"`{name}` convicts a mechanism and counts against no level")
    chosen = [checker for checker in CHECKERS if name in checker.NAMES and method in (None, checker.METHOD)]
    if not chosen:
        who = (
            "no method of this version reports" if method is None else f"the method {method} does not report"
        )
        raise ValueError(f"{who} `{name}`")
    breaks = chosen[-1].NAMES[name]
    if levels is not None and not any(breaks in lattice.implied(level) for level in levels):
        asked = " or ".join(f"`{level}`" for level in levels)
        raise ValueError(f"`{name}` does not count against {asked}: it breaks `{breaks}`")
    return chosen[-1]


def default_levels(history: History) -> tuple[Level, ...]:
    """The levels that the evidence speaks of and that some method decides, in the order of the lattice."""
    present = history.evidence.present
    silent = set()
    if EvidenceKind.TIMESTAMPS not in present:
        silent.add(Family.CLOCK)
    if EvidenceKind.INTERVALS not in present:
        silent.add(Family.REAL_TIME)
    spoken_of = (level for level in Level if DEFINITIONS[level].family not in silent)
    return tuple(level for level in spoken_of if DEFINITIONS[level].decided)


def summary(history: History) -> Mapping[str, object]:
    """What the JSON document says of a history."""
    return _summary(history, history.counts, history.evidence.present)


def _summary(
    history: History, counts: Mapping[str, int], present: Iterable[EvidenceKind]
) -> Mapping[str, object]:
    names = ("sessions", "transactions", "operations", "keys", "aborted", "indeterminate")
    return {
        "path": history.source.path,
        "format": history.source.format,
        **{name: counts[name] for name in names},
        "evidence": [str(kind) for kind in present],
    }


def _claims(names: Iterable[Claim | str]) -> tuple[Claim, ...]:
    """The claims of these names, each once, in one order whatever the user's."""
    known = {claim.value: claim.value for claim in Claim}
    asked = {lattice.canonical(str(name), known, what="claim") for name in names}
    return tuple(claim for claim in Claim if claim in asked)


def _meant(
    history: History, levels: Iterable[Level | str] | None, method: Method | None
) -> dict[Level, Level]:
    """Each level that is asked, and the one whose condition is looked at.

    By timestamps alone, that is the one of the database's clock, and by default nothing else is looked at.
    """
    if method is timestamps.METHOD:
        return _by_clock(levels)
    asked = default_levels(history) if levels is None else [lattice.parse(str(level)) for level in levels]
    return {level: level for level in asked}


def _by_clock(levels: Iterable[Level | str] | None) -> dict[Level, Level]:
    asked = timestamps.LEVELS if levels is None else [lattice.parse(str(level)) for level in levels]
    return {level: timestamps.ASKED_AS.get(level, level) for level in asked}


def _own_verdicts(
    history: History, asked: Sequence[Level], method: Method | None, most: int, claims: Sequence[Claim]
) -> list[Verdict]:
    """What the checkers say of the levels whose condition they decide, level by level."""
    chosen = [checker for checker in CHECKERS if method in (None, checker.METHOD)]
    if {*asked} <= {*timestamps.LEVELS}:
        # What the clock decides, it decides alone.
        own = [*timestamps.check(history, levels=asked, most=most)]
        if all(verdict.outcome is not Outcome.UNKNOWN for verdict in own):
            return own
        chosen = [checker for checker in chosen if checker is not timestamps]
    else:
        own = []
    own += (v for checker in chosen for v in checker.check(history, levels=asked, most=most, assume=claims))
    return sorted(own, key=lambda verdict: list(Level).index(verdict.level))


def _orders_versions(history: History) -> bool:
    """Whether something beside the values says in which order versions were installed."""
    return bool({EvidenceKind.VERSION_ORDER, EvidenceKind.TIMESTAMPS} & {*history.evidence.present})


def _version_order(
    history: History, asked: Sequence[Level], method: Method | None, claims: Sequence[Claim]
) -> tuple[Ordered, ...]:
    """Who orders how many keys, if the order of versions was asked for and somebody knows something of it."""
    if method not in (None, version_order.METHOD) or not version_order.concerns(asked):
        return ()
    ordered = version_order.ordered(history, claims)
    return ordered if any(row.source for row in ordered) else ()


def _settle(
    level: Level, own: Sequence[Verdict], method: Method | None, unread: frozenset[Level], most: int
) -> Verdict:
    """The verdict on `level` that follows from the checkers' own."""
    return settle(level, own, CHECKERS, method=method, unread=unread, most=most)


def _itemised(history: History) -> History:
    """The same history with reads of rows in the place of range reads, where that says the same."""
    if not history.counts["range-read"]:
        return history
    columns = itemised(history.columns)
    return history if columns is None else History(columns, history.source)
