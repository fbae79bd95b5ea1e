"""Seeded histories for the engine that judges parts: registers and lists, faulty and correct, with and
without timestamps, names of sessions, aborted transactions, ties, unknown initial values.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from isoscope import formats
from isoscope.history import (
    UNKNOWN,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Status,
    Timestamp,
    Transaction,
)
from isoscope.recorder import build

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

#: So many histories are compared.
COUNT = 200


def saved(folder: Path, count: int = COUNT) -> list[str]:
    """The paths of the histories of the first seeds."""
    paths = [folder / f"{seed}.parquet" for seed in range(count)]
    for seed, path in enumerate(paths):
        formats.save(generated(seed), path)
    return [*map(str, paths)]


def generated(seed: int) -> History:
    """The history of a seed; every third is one that a database with right snapshots would leave."""
    run = _Run(Random(seed), seed)
    initial: Any = UNKNOWN if seed % 4 == 1 else None if run.is_list else 0
    transactions = [run.transaction(number) for number in range(run.random.randint(4, 14))]
    return build(transactions, initial=Initial(value=initial, replaceable=seed % 4 == 2))


def with_a_fault(seed: int) -> History:
    """A long history of transactions one after the other, but for a few in its middle that overlap.

    Every fifth is one of lists; every second has timestamps, which order the versions of registers.
    """
    run = _Run(Random(seed), seed)
    run.recent = 3
    transactions = []
    for number in range(200):
        run.is_right = number // 4 != 100 // 4
        run.keys = [0, 1, 2, *(range(3, 300) if run.is_right and run.random.random() < 0.7 else ())]
        transactions.append(run.short_transaction(number))
    return build(transactions, initial=Initial(value=None if run.is_list else 0))


def with_a_hot_key(seed: int) -> History:
    """Nearly all operations are on one register: with ties, long transactions, some that commit before they
    start, repeated values, and initial values that are stated, replaced, or unknown.
    """
    run = _Run(Random(seed), seed)
    run.is_list, run.recent = False, 6
    run.keys = ["hot" if seed % 5 == 4 else 7] * 20 + [8, 9]
    run.start_at(10 if seed % 2 else 0)
    initial = (UNKNOWN, 0, 0)[seed % 3]
    transactions = [run.hot_transaction(number) for number in range(60)]
    return build(transactions, initial=Initial(value=initial, replaceable=seed % 3 == 2))


class _Run:
    def __init__(self, random: Random, seed: int) -> None:
        self.random, self.seed = random, seed
        self.is_list, self.is_right = seed % 5 == 4, seed % 3 == 0
        self.keys = [f"k{n}" if seed % 7 == 3 else n for n in range(random.randint(1, 4))]
        self.versions: dict[Any, list[int]] = {}
        self.values = 0
        #: So many versions may be shown by mistake.
        self.recent = 1000

    def transaction(self, number: int) -> Transaction:
        random, seed = self.random, self.seed
        session = None if seed % 6 == 5 else random.randrange(3)
        status = Status.ABORTED if not self.is_right and random.random() < 0.1 else Status.COMMITTED
        times: dict[str, Any] = {}
        start = 10 * number if self.is_right else random.randint(0, 28)
        commit = start + (5 if self.is_right else random.randint(-1, 4))
        if seed % 2 == 0 and (self.is_right or random.random() < 0.97):
            logical = 0 if self.is_right else 1
            times["start"] = Timestamp(start, random.randint(0, logical))
            times["commit"] = Timestamp(commit, random.randint(0, logical))
        if seed % 11 == 0:
            times["interval"] = Interval(start, commit + 1)
        operations = [self.operation() for _ in range(random.randint(0, 4))]
        if random.random() < 0.1:
            operations.insert(0, Operation(kind=OperationKind.BEGIN))
        return Transaction(
            number=number,
            id=f"tx{number}" if seed % 7 == 0 else number + 100,
            session=number if session is None else session,
            session_id=session,
            status=status,
            operations=tuple(operations),
            **times,
        )

    def start_at(self, value: int) -> None:
        """All keys hold a value that no transaction wrote, or that one writes."""
        self.versions = {key: [value] for key in self.keys}
        self.values = -1 if self.seed % 4 == 3 else 100

    def hot_transaction(self, number: int) -> Transaction:
        random, is_right = self.random, self.is_right
        start = 10 * number if is_right else random.randint(0, 60)
        length = 5 if is_right else random.choice([-3, 0, 0, 1, 2, 4, 40])
        times: dict[str, Any] = {
            "start": Timestamp(start, random.randint(0, 1)),
            "commit": Timestamp(start + length, random.randint(0, 1)),
        }
        operations = tuple(self.operation() for _ in range(random.randint(1, 3)))
        is_reader = all(one.kind is OperationKind.READ for one in operations)
        if is_reader and not is_right and random.random() < 0.1:
            times.pop(random.choice(["start", "commit"]))
        is_aborted = not is_right and random.random() < 0.1
        return Transaction(
            number=number,
            id=number + 100,
            session=number % 4,
            session_id=f"s{number % 4}" if self.seed % 7 == 0 else number % 4,
            status=Status.ABORTED if is_aborted else Status.COMMITTED,
            operations=operations,
            **times,
        )

    def short_transaction(self, number: int) -> Transaction:
        times: dict[str, Any] = {}
        if self.seed % 2 == 0:
            times = {"start": Timestamp(10 * number, 0), "commit": Timestamp(10 * number + 5, 0)}
        return Transaction(
            number=number,
            id=number,
            session=number % 3,
            session_id=number % 3,
            operations=tuple(self.operation() for _ in range(3)),
            **times,
        )

    def operation(self) -> Operation:
        random, key = self.random, self.random.choice(self.keys)
        versions = self.versions.setdefault(key, [])
        if random.random() < 0.5:
            self.values += self.is_right or random.random() > 0.05
            versions.append(self.values)
            kind = OperationKind.APPEND if self.is_list else OperationKind.WRITE
            return Operation(kind=kind, key=key, value=self.values)
        value = self.list_value(versions) if self.is_list else self.register_value(versions)
        return Operation(kind=OperationKind.READ, key=key, value=value)

    def list_value(self, versions: list[int]) -> tuple[int, ...] | None:
        shown, random = [*versions], self.random
        if not self.is_right and random.random() < 0.2:
            shown = shown[: random.randint(max(len(shown) - self.recent, 0), len(shown))]
        if not self.is_right and random.random() < 0.05:
            random.shuffle(shown)
        return tuple(shown) if shown or random.random() < 0.5 else None

    def register_value(self, versions: list[int]) -> int:
        random = self.random
        if self.is_right or random.random() < 0.75:
            return versions[-1] if versions else 0
        return random.choice([*versions[-self.recent :], *([0, 999] if self.recent > 3 else [])] or [0])
