"""The lattice: which levels imply which, and which of several are the strongest or weakest.

A level lists only the levels that it implies directly, each with its source in the margin; everything further
follows from `implied`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from isoscope.levels import clock, real_time, session, sessionless
from isoscope.levels.definition import Definition, Level
from isoscope.levels.names import canonical, normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "DEFINITIONS",
    "LADDER",
    "MINIMUM",
    "PLAIN_LADDER",
    "implied",
    "implying",
    "parse",
    "strongest",
    "weakest",
]

DEFINITIONS: Mapping[Level, Definition] = MappingProxyType(
    {
        definition.level: definition
        for family in (clock, real_time, session, sessionless)
        for definition in family.DEFINITIONS
    }
)
#: The best known levels with session order, each of which implies those before it: what a report leads with.
LADDER = (
    Level.READ_COMMITTED,
    Level.READ_ATOMIC,
    Level.CAUSAL,
    Level.PREFIX,
    Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
    Level.STRONG_SESSION_SERIALIZABLE,
)
#: The same without sessions: what a report adds where sessions make a difference.
PLAIN_LADDER = (
    Level.PL_1,
    Level.PL_2,
    Level.CONSISTENT_VIEW,
    Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE,
)
#: Levels that no database should break: they decide the exit status if no level is named.
MINIMUM = (Level.PL_2, Level.READ_COMMITTED, Level.CUT_ISOLATION)


def parse(name: str) -> Level:
    """The level called `name`, canonical or alias; case, underscores and spaces do not matter."""
    return Level(canonical(name, _NAMES, what="level"))


def implied(level: Level) -> frozenset[Level]:
    """The levels that hold wherever `level` holds, itself included."""
    return _IMPLIED[level]


def implying(level: Level) -> frozenset[Level]:
    """The levels that are broken wherever `level` is broken, itself included."""
    return frozenset(other for other in Level if level in _IMPLIED[other])


def strongest(levels: Iterable[Level]) -> tuple[Level, ...]:
    """Those of `levels` that no other of them implies, in the order of `Level`."""
    chosen = frozenset(levels)
    return tuple(level for level in Level if implying(level) & chosen == {level})


def weakest(levels: Iterable[Level]) -> tuple[Level, ...]:
    """Those of `levels` that imply no other of them, in the order of `Level`."""
    chosen = frozenset(levels)
    return tuple(level for level in Level if implied(level) & chosen == {level})


def _closures() -> dict[Level, frozenset[Level]]:
    """For each level all that it implies; every level stands after those that imply it."""
    closures: dict[Level, frozenset[Level]] = {}
    for level in reversed(Level):
        further = (closures[weaker] for weaker in DEFINITIONS[level].implies)
        closures[level] = frozenset({level}).union(*further)
    return closures


_IMPLIED = _closures()
_NAMES = {
    normalise(name): definition.level.value
    for definition in DEFINITIONS.values()
    for name in (definition.level.value, *definition.aliases)
}
