"""The search for single anomalies, each by the method that reports it."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope.checkers import assumptions, intervals, method_judgement
from isoscope.checkers.history_summary import summary
from isoscope.checkers.itemised import of_ranges, with_range_reads_as_reads
from isoscope.checkers.method_judgement import chosen_method
from isoscope.verdict import Search, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.profiles import Profile
    from isoscope.verdict import Claim, Method, Sighting

__all__ = ["search", "select"]


def search(  # noqa: PLR0913 - the question, and the assumptions of the answer
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
    claims = assumptions.parse_claims(assume)
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
    recorded, history = history, with_range_reads_as_reads(history)
    found: dict[str, Sighting] = {}
    for checker in method_judgement.CHECKERS:
        if names := [name for name in chosen if chosen[name] is checker]:
            sightings = checker.find(history, names, max_anomalies=max_anomalies, assume=claims)
            found |= {sighting.name: sighting for sighting in sightings}
    return Search(
        history=summary(recorded),
        sightings=tuple(found[name] for name in chosen),
        assumptions=(
            *assumptions.of_all(history, claims, history.columns.ties),
            *of_ranges(recorded, history),
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
    only = chosen_method(method, profile)
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
    chosen = [
        checker
        for checker in method_judgement.CHECKERS
        if name in checker.NAMES and method in (None, checker.METHOD)
    ]
    if not chosen:
        none = (
            "no method of this version reports" if method is None else f"the method {method} does not report"
        )
        raise ValueError(f"{none} `{name}`")
    breaks = chosen[-1].NAMES[name]
    if levels is not None and not any(breaks in lattice.implied(level) for level in levels):
        asked = " or ".join(f"`{level}`" for level in levels)
        raise ValueError(f"`{name}` does not count against {asked}: it breaks `{breaks}`")
    return chosen[-1]
