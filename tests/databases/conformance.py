"""What the suite of all databases needs: which there are, and a small workload to run on them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Literal

from isoscope.workloads.clients import RolledBack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.workloads.clients import Insert, Operations, Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Reads and writes of random keys, or appends; a share of transactions is rolled back."""

    content: Literal["register", "list"]
    sessions: int = 4
    keys: int = 8
    length: int = 4
    reads: float = 0.5
    rolled_back: float = 0.0
    seed: int = 0

    def rows(self) -> Iterable[tuple[int, int]]:
        return [(key, 0) for key in range(self.keys)]

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        return [self._client(session) for session in range(self.sessions)]

    def _client(self, session: int) -> Iterator[Program]:
        random = Random(f"{self.seed}/{session}")
        values = count(1 + session, self.sessions)

        def program(operations: Operations) -> None:
            for _ in range(self.length):
                key = random.randrange(self.keys)
                if random.random() < self.reads:
                    operations.read(key)
                elif self.content == "list":
                    operations.append(key, next(values))
                else:
                    operations.write(key, next(values))
            if random.random() < self.rolled_back:
                raise RolledBack

        while True:
            yield program
