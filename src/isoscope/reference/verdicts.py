"""The answer for every level of the catalogue, whatever else is asked.

Each level has a definition of its own (`weak`, `adya`, `clock`), and that says: it holds if some completion
of what is known meets its condition. A completion puts the versions of all keys in order, registers and lists
together. Where a definition leaves a level open because something was set aside, another level may decide it:
a level is violated if one that it implies is, and holds if one that implies it does. Levels without a
definition are decided so or not at all. The answer takes all levels into account, asked or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import Status
from isoscope.levels import DEFINITIONS, Family, Level, implied, implying
from isoscope.reference import adya, clock, weak
from isoscope.reference.observations import Observations
from isoscope.reference.real_time import life
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.history import History

__all__ = ["by_the_lattice", "clock_outcomes", "has_times", "outcomes", "own_outcomes", "value_outcomes"]


def outcomes(history: History, assume: Iterable[str] = ()) -> dict[Level, Outcome]:
    """The answer for every level, given the user's claims."""
    return by_the_lattice(own_outcomes(history, tuple(assume)))


def own_outcomes(history: History, assume: tuple[str, ...] = ()) -> dict[Level, Outcome]:
    """What the definition of each level says; `unknown` where there is none."""
    return value_outcomes(history, assume) | clock_outcomes(history)


def clock_outcomes(history: History) -> dict[Level, Outcome]:
    """What the definitions of the clock levels say."""
    return {level: clock.judge(history, level).outcome for level in clock.LEVELS}


def value_outcomes(
    history: History, assume: tuple[str, ...] = (), *, differs: bool | None = None
) -> dict[Level, Outcome]:
    """What all definitions but those of the clock levels say; `unknown` where there is none.

    `differs`: whether a read is not repeatable, if the history does not tell that.
    """
    found = dict.fromkeys(Level, Outcome.UNKNOWN)
    found |= weak.judge(history, assume).outcomes
    found |= adya.outcomes(history, assume, differs=differs)
    in_real_time = (level for level in Level if DEFINITIONS[level].family is Family.REAL_TIME)
    for level in in_real_time if not has_times(history) else ():
        if found[level] is Outcome.HOLDS:
            found[level] = Outcome.UNKNOWN
    return found


def has_times(history: History) -> bool:
    """Whether nothing is missing of the real time of the transactions that count.

    A committed one has a begin and an end. An indeterminate one has a begin; its end matters to none.
    """
    counted = Observations(history).counted
    for t in history:
        begin, end = life(history, t)
        is_over = t.status is not Status.COMMITTED or end is not None
        if t.number in counted and (begin is None or not is_over):
            return False
    return True


def by_the_lattice(by_definition: Mapping[Level, Outcome]) -> dict[Level, Outcome]:
    """The answer for each level, given what all the definitions say."""
    return {level: _by_the_lattice(level, by_definition) for level in Level}


def _by_the_lattice(level: Level, by_definition: Mapping[Level, Outcome]) -> Outcome:
    if _is_broken(level, by_definition):
        return Outcome.VIOLATED
    # A stronger level that is itself broken, for example by another kind of evidence, proves nothing.
    proofs = (stronger for stronger in implying(level) if not _is_broken(stronger, by_definition))
    if Outcome.HOLDS in {by_definition[stronger] for stronger in proofs}:
        return Outcome.HOLDS
    return Outcome.UNKNOWN


def _is_broken(level: Level, by_definition: Mapping[Level, Outcome]) -> bool:
    return Outcome.VIOLATED in {by_definition[weaker] for weaker in implied(level)}
