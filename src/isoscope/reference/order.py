"""Orders of versions: what follows from a partial one, and every way to complete it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from isoscope.reference.relation import closure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Order", "Pair", "Version", "linear"]


class Version(NamedTuple):
    """What `writer` left in `key` by its operation at `place`; the initial version has the place -1."""

    key: object
    writer: int
    place: int


Pair: TypeAlias = tuple[Version, Version]


@dataclass(frozen=True)
class Order:
    """A partial order of versions, each key apart: `reasons` has the pairs that are known directly."""

    reasons: Mapping[Pair, str]

    @cached_property
    def closed(self) -> frozenset[Pair]:
        """All pairs, however far apart."""
        return closure(frozenset(self.reasons))

    @cached_property
    def neighbours(self) -> dict[Pair, str]:
        """Pairs of which the second comes right after the first, with the reason."""
        versions = {version for pair in self.closed for version in pair}
        return {
            (before, after): self.reasons[before, after]
            for before, after in self.closed
            if not any((before, v) in self.closed and (v, after) in self.closed for v in versions)
        }


def linear(versions: Sequence[Version], known: frozenset[Pair]) -> Iterator[tuple[Version, ...]]:
    """Every sequence of the versions that agrees with what is known.

    A transaction goes on with its next append, if that is allowed: no other can come in between.
    """
    if not versions:
        yield ()
        return
    free = [v for v in versions if not any((other, v) in known for other in versions)]
    for version in free:
        rest = [other for other in versions if other != version]
        for further in linear(rest, known):
            if further and further[0].writer != version.writer and _can_go_on(version, rest, known):
                continue
            yield (version, *further)


def _can_go_on(version: Version, rest: Sequence[Version], known: frozenset[Pair]) -> bool:
    mine = [other for other in rest if other.writer == version.writer]
    return any(not any((other, v) in known for other in rest) for v in mine)
