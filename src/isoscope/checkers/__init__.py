"""Evidence in, verdicts out: every method that can say something is asked, the lattice does the rest.

A further method is one file with `METHOD`, `LEVELS` (the levels whose condition it looks at), `NAMES` (the
anomalies that it reports, each with the level whose condition it breaks), `check(history, levels, most,
assume)` and `find(history, names, most, assume)`, and one line in `CHECKERS`.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from time import perf_counter
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import Builder, itemised
from isoscope.checkers import streaming, timestamps, values, version_order
from isoscope.history import UNKNOWN, EvidenceKind, History
from isoscope.levels import DEFINITIONS, Family, Level
from isoscope.verdict import Claim, Method, Outcome, Report, Search, Sighting, Verdict, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from isoscope.checkers.online import Online, OnlineStatus
    from isoscope.history import Initial, Source
    from isoscope.verdict import Anomaly, Ordered

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
_BY_NAME_ONLY = "known by name, decided by no method and settled by no other level"
_MEANINGS = {
    Claim.SEQUENTIAL_KEYS: "every session meets the versions of a key in their order",
    Claim.LINEARIZABLE_KEYS: "whoever begins later in real time meets no older version of a key",
    Claim.WRITES_FOLLOW_READS: "who reads a key and then writes it installs the later version",
}


def check(
    history: History,
    levels: Iterable[Level | str] | None = None,
    *,
    method: Method | str | None = None,
    max_anomalies: int = 10,
    assume: Iterable[Claim | str] = (),
) -> Report:
    """Decide which of `levels` the history satisfies (by default all that its evidence speaks of).

    `max_anomalies` bounds the counterexamples of each name; all are counted. `assume` are claims of the
    user about the order of versions (`sequential-keys`, ...), on which every verdict then rests.
    """
    claims = _claims(assume)
    only = None if method is None else Method(method)
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
            *_assumptions(history, claims, history.columns.ties, own),
            *_of_ranges(recorded, history),
        ),
        version_order=_version_order(history, asked, only, claims),
        seconds={"check": perf_counter() - started},
    )


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
        assumptions=_assumptions(streamed.last, (), streamed.ties, streamed.verdicts),
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
            *_assumptions(nothing, (), max(status.ties for status in statuses), own),
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
) -> Search:
    """Look for these anomalies only; with `levels`, each of them must count against one of those.

    Raises `ValueError` for a name that is unknown, that no method reports, or that does not count.
    """
    claims = _claims(assume)
    chosen = select(anomalies, levels=levels, method=method)
    started = perf_counter()
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
            *_assumptions(history, claims, history.columns.ties),
            *_of_ranges(recorded, history),
        ),
        seconds={"check": perf_counter() - started},
    )


def select(
    anomalies: Iterable[str],
    *,
    levels: Iterable[Level | str] | None = None,
    method: Method | str | None = None,
) -> dict[str, ModuleType]:
    """The canonical names of these anomalies, each with the checker that reports it.

    Raises as `search` does.
    """
    only = None if method is None else Method(method)
    asked = None if levels is None else [lattice.parse(str(level)) for level in levels]
    names = [name for given in anomalies for name in names_of(given)]
    return {name: _reporting(name, only, asked) for name in names}


def _reporting(name: str, method: Method | None, levels: Sequence[Level] | None) -> ModuleType:
    """The checker that reports the anomaly."""
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
    """The verdict on `level`: a broken weaker level breaks it, a holding stronger one proves it.

    Values are content with any order of versions: they do not prove a level of `unread`, which asks for the
    one that was recorded.
    """
    if broken := [verdict for verdict in own if _breaks(verdict, level)]:
        return _violated(level, broken, most)
    heard = [verdict for verdict in own if level not in unread or verdict.method is not Method.VALUES]
    if proofs := [
        verdict for verdict in heard if _proves(verdict, level) and not _is_broken(verdict.level, own)
    ]:
        return Verdict(level=level, outcome=Outcome.HOLDS, method=proofs[0].method)
    reason = _reason(level, own, method)
    return Verdict(level=level, outcome=Outcome.UNKNOWN, method=method or Method.VALUES, reason=reason)


def _reason(level: Level, own: Sequence[Verdict], method: Method | None) -> str:
    """Why the level is unknown: what kept it, or a stronger level that would have proved it, from holding."""
    proving = [verdict.reason for verdict in own if level in lattice.implied(verdict.level)]
    kept = [reason for reason in proving if reason]
    if kept:
        return kept[-1]
    if not DEFINITIONS[level].decided:
        return _BY_NAME_ONLY
    if method is not None:
        return f"not decided by the method {method} in this version"
    return "not decided by any method of this version"


def _breaks(verdict: Verdict, level: Level) -> bool:
    return verdict.outcome is Outcome.VIOLATED and verdict.level in lattice.implied(level)


def _is_broken(level: Level, own: Sequence[Verdict]) -> bool:
    """Whether some method breaks the level, whatever another says of its own condition."""
    return any(_breaks(verdict, level) for verdict in own)


def _proves(verdict: Verdict, level: Level) -> bool:
    return verdict.outcome is Outcome.HOLDS and level in lattice.implied(verdict.level)


def _violated(level: Level, broken: Sequence[Verdict], most: int) -> Verdict:
    """The anomalies of all of `broken`, in the order of the checkers' names.

    Where two methods report one name, the later checker looked at more of the evidence.
    """
    counts: dict[str, int] = {}
    anomalies: dict[str, list[Anomaly]] = {}
    for checker in CHECKERS:
        own = [verdict for verdict in broken if verdict.method is checker.METHOD]
        names = dict.fromkeys(name for verdict in own for name in verdict.anomaly_counts)
        # A proof that was looked for one level alone counts once there, and with the others elsewhere.
        counts |= {name: max(v.anomaly_counts.get(name, 0) for v in own) for name in names}
        anomalies |= {name: found[: min(counts[name], most)] for name, found in _shown(own).items()}
    ordered = list(dict.fromkeys(name for checker in CHECKERS for name in checker.NAMES if name in counts))
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


def _assumptions(
    history: History, claims: Sequence[Claim], ties: int | None, verdicts: Sequence[Verdict] = ()
) -> tuple[str, ...]:
    """What the verdicts rest on beside the recorded operations."""
    initial = history.initial
    if initial.value is UNKNOWN:
        start = "the initial value of a key is the one value that reads show and nobody wrote"
    else:
        start = f"every key holds {initial} before its first write (a list: nothing)"
    said = [start]
    if initial.of_key:
        said.append(f"keys with an initial value of their own: {len(initial.of_key)}")
    if history.source.log:
        said.append(f"{history.source.log} is its write-ahead log")
    said += _trusted(verdicts)
    if ties:
        several = "1 timestamp belongs" if ties == 1 else f"{ties:,} timestamps belong"
        said.append(f"{several} to several transactions: commits come before starts, then sessions by name")
    said += [f"claimed: {claim}, so {_MEANINGS[claim]}" for claim in claims]
    return (*said, *(f"{note}: {count}" for note, count in history.notes.items()))


def _itemised(history: History) -> History:
    """The same history with reads of rows in the place of range reads, where that says the same."""
    if not history.counts["range-read"]:
        return history
    columns = itemised(history.columns)
    return history if columns is None else History(columns, history.source)


def _of_ranges(recorded: History, judged: History) -> Iterator[str]:
    """What it means that range reads were judged as reads of their rows."""
    if judged is recorded:
        return
    count = recorded.counts["range-read"]
    ranges = "1 range read is" if count == 1 else f"{count:,} range reads are"
    yield f"{ranges} reads of the rows: none comes or goes, and every key in the range is shown"
    yield from (f"{note}: {count}" for note, count in recorded.columns.notes())


def _trusted(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What it means that verdicts rest on the database's clock."""
    decided = {
        verdict.level for verdict in verdicts if verdict.method is timestamps.METHOD and not verdict.reason
    }
    if decided:
        yield "the database's timestamps are right: what contradicts them may hold by another order"
    if Level.CLOCK_SERIALIZABLE in decided:
        yield "clock-serializable asks for the order of commits, whenever transactions started"
