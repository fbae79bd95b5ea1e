"""The default mix: every operation reads or writes a key of one table (Table I of Li et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from isoscope.workloads.keys import DISTRIBUTIONS, drawing, weights
from isoscope.workloads.parameters import require_choice, require_least, require_lengths, require_ratio
from isoscope.workloads.streams import fractions, lengths, plans, values, write_registers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.workloads.clients import Insert, Program
    from isoscope.workloads.keys import Draw, Fraction
    from isoscope.workloads.mixes import Distribution

__all__ = ["KeyValue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValue:
    """Reads and blind writes of registers; the keys of a transaction may repeat."""

    sessions: int = 4
    min_txn_length: int = 1
    max_txn_length: int = 4
    keys: int = 100
    read_ratio: float = 0.5
    distribution: Distribution = "uniform"
    seed: int = 0

    def __post_init__(self) -> None:
        require_least(1, sessions=self.sessions, keys=self.keys)
        require_least(0, seed=self.seed)
        require_lengths(self.min_txn_length, self.max_txn_length)
        require_ratio(read_ratio=self.read_ratio)
        require_choice(DISTRIBUTIONS, distribution=self.distribution)

    @property
    def content(self) -> Literal["register", "list"]:
        """What keys hold."""
        return "register"

    def rows(self) -> Iterable[tuple[int, int]]:
        """The whole table."""
        return ((key, 0) for key in range(self.keys))

    def clients(self, insert: Insert) -> list[Iterator[Program]]:  # noqa: ARG002 - no key is retired
        """A stream of programs for each session."""
        draws = drawing(weights(self.distribution, self.keys))
        fraction = [fractions(self.seed, session) for session in range(self.sessions)]
        return [self._client(session, own, draws(own)) for session, own in enumerate(fraction)]

    def _client(self, session: int, fraction: Fraction, draw: Draw) -> Iterator[Program]:
        length = lengths(fraction, self.min_txn_length, self.max_txn_length)
        fresh = values(session, self.sessions)
        for plan in plans(fraction, draw, length, self.read_ratio):
            yield partial(write_registers, plan, fresh)
