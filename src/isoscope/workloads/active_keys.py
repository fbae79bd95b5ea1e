"""list-append and rw-register: a few active keys, each replaced after some writes.

The generator of Kingsbury and Alvaro 2020 (Elle), with the parameters of the GRAIL runs. Lists show the order
of their versions by themselves; registers that are written a few times keep what is unknown of it small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from isoscope.workloads.keys import DISTRIBUTIONS, Pool, drawing, weights
from isoscope.workloads.parameters import require_choice, require_least, require_lengths, require_ratio
from isoscope.workloads.streams import append_lists, fractions, lengths, plans, values, write_registers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.workloads.clients import Insert, Program
    from isoscope.workloads.keys import Draw, Fraction

__all__ = ["ActiveKeys"]

_Distribution: TypeAlias = Literal["uniform", "zipfian", "hotspot", "exponential"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveKeys:
    """Reads and writes, or appends, of active keys; with `max_writes_per_key` 0 no key is ever retired."""

    content: Literal["register", "list"]
    sessions: int
    max_writes_per_key: int
    active_keys: int = 5
    min_txn_length: int = 4
    max_txn_length: int = 8
    read_ratio: float = 0.5
    distribution: _Distribution = "exponential"
    seed: int = 0

    def __post_init__(self) -> None:
        require_least(1, sessions=self.sessions, active_keys=self.active_keys)
        require_least(0, max_writes_per_key=self.max_writes_per_key, seed=self.seed)
        require_lengths(self.min_txn_length, self.max_txn_length)
        require_ratio(read_ratio=self.read_ratio)
        require_choice((*DISTRIBUTIONS, "exponential"), distribution=self.distribution)

    def rows(self) -> Iterable[tuple[int, int]]:
        """The active keys, and those that come next."""
        if self.max_writes_per_key:
            return Pool.rows(self.active_keys)
        return ((key, 0) for key in range(self.active_keys))

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        """A stream of programs for each session."""
        pool = Pool(self.active_keys, self.max_writes_per_key, insert) if self.max_writes_per_key else None
        draws = drawing(weights(self.distribution, self.active_keys))
        fraction = [fractions(self.seed, session) for session in range(self.sessions)]
        return [self._client(session, own, draws(own), pool) for session, own in enumerate(fraction)]

    def _client(self, session: int, fraction: Fraction, draw: Draw, pool: Pool | None) -> Iterator[Program]:
        length = lengths(fraction, self.min_txn_length, self.max_txn_length)
        fresh = values(session, self.sessions)
        perform = append_lists if self.content == "list" else write_registers
        for plan in plans(fraction, draw, length, self.read_ratio):
            yield partial(perform, plan if pool is None else pool.keys_of(plan), fresh)
