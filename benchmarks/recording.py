"""What recording costs: the recorder alone, and beside PostgreSQL's own benchmark.

Alone, it records what a database does that does nothing. On PostgreSQL, runs with and without recording take
turns on one server, and so does pgbench with the same statements, so that a slow minute hits all alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks import pgbench
from benchmarks.plot import Panel
from benchmarks.suite import Measurement, Plot, Suite
from isoscope.databases import connect
from isoscope.errors import DatabaseError, IsoscopeError
from isoscope.run import Limits, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmarks.suite import Measured
    from isoscope.databases.database import Content, Database, Isolation, Session
    from isoscope.history import Timestamp
    from isoscope.workloads.clients import Insert, Operations, Program

__all__ = ["SUITE", "Round", "alone", "measure_all", "plots", "summary"]

HOW = (
    "Eight sessions, 15 operations a transaction (8 reads, 7 writes), keys drawn uniformly. Begins and "
    "commits are recorded but not counted. The cost is the share of the rate that recording takes in one "
    "round, where both runs follow each other in turn; given are the median and the least and most of all "
    "rounds. The yardstick of the recorder alone is one thread that looks at the clock twice and keeps one "
    "tuple, for each operation; that of PostgreSQL is pgbench: same server, table, statements and number of "
    "clients."
)
SESSIONS, READS, WRITES = 8, 8, 7
OPERATIONS = READS + WRITES
#: So many that sessions hardly wait for each other.
KEYS = 100_000
ROUNDS, SECONDS = 5, 10.0


class Nothing:
    """A database that does nothing, and each of its sessions."""

    NAME: ClassVar[str] = "nothing"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = {}
    SETTINGS: ClassVar[Mapping[str, str]] = {}
    nodes: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, isolation: str = "", *, url: str | None = None, settings: Mapping[str, str] | None = None
    ) -> None: ...
    def open(self, content: Content) -> str:  # noqa: ARG002 - it does nothing
        return "nothing"

    def insert(self, *_: Any) -> None: ...
    def session(self) -> Session:
        return self

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        return None

    def close(self) -> None: ...
    def begin(self) -> None: ...
    def read(self, key: int) -> int | None: ...
    def write(self, key: int, value: int) -> None: ...
    def append(self, key: int, value: int) -> None: ...
    def delete(self, key: int) -> None: ...
    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:  # noqa: ARG002
        return []

    def commit(self) -> tuple[Timestamp, Timestamp] | None: ...
    def rollback(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Clients:
    """Reads, then writes; as cheap as can be."""

    keys: int = KEYS
    content: Content = "register"
    sessions: int = SESSIONS

    def rows(self) -> Iterator[tuple[int, int]]:
        return ((key, 0) for key in range(self.keys))

    def clients(self, insert: Insert) -> list[Iterator[Program]]:  # noqa: ARG002 - no key is retired
        return [self._client(session) for session in range(self.sessions)]

    def _client(self, session: int) -> Iterator[Program]:
        random, keys, values = Random(session).random, self.keys, count(session + 1, self.sessions)

        def program(operations: Operations) -> None:
            read, write = operations.read, operations.write
            for _ in range(READS):
                read(int(random() * keys))
            for _ in range(WRITES):
                write(int(random() * keys), next(values))

        while True:
            yield program


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Operations a second of runs that followed each other; None if pgbench is not there."""

    recorded: float
    plain: float
    pgbench: float | None = None

    @property
    def cost(self) -> float:
        """The share of the rate that recording takes."""
        return 1 - self.recorded / self.plain


def alone(*, rounds: int = ROUNDS, transactions: int = 40_000) -> Measurement:
    """The recorder and a database that does nothing."""
    limits = Limits(transactions=transactions)
    clients = Clients(keys=1000)
    found, yardsticks = [], []
    for number in range(rounds):
        found.append(_round(Nothing, clients, limits, number))
        yardsticks.append(_yardstick(transactions))
    recorded = median(one.recorded for one in found)
    spent = median(1 / one.recorded - 1 / one.plain for one in found)
    ratios = [1 / one.recorded / yardstick for one, yardstick in zip(found, yardsticks, strict=True)]
    figures = {
        "recorded (median)": _rate(recorded),
        "(least)": _rate(min(one.recorded for one in found)),
        "not recorded": _rate(median(one.plain for one in found)),
        "recording an operation": f"{spent * 1e6:.2f} µs",
        "asked": _rate(100_000),
        "yardstick": f"{median(yardsticks) * 1e6:.2f} µs",
        "ratio": f"{median(ratios):.2f}",
    }
    return Measurement("the recorder alone", figures)


def _yardstick(transactions: int) -> float:
    """Seconds in which one thread notes one operation."""
    started = perf_counter()
    for _ in range(transactions):
        rows: list[tuple[int, ...]] = []
        for key in range(OPERATIONS):
            rows.append((0, key, 0, perf_counter_ns(), perf_counter_ns()))  # noqa: PERF401 - as a recorder does
    return (perf_counter() - started) / (transactions * OPERATIONS)


def _round(database: Any, clients: Clients, limits: Limits, number: int) -> Round:
    """One run of each kind; the order alternates from round to round."""
    rates = {record: _measured(database(), clients, limits, record) for record in _order(number)}
    return Round(recorded=rates[True], plain=rates[False])


def _order(number: int) -> tuple[bool, bool]:
    return (True, False) if number % 2 else (False, True)


def _measured(database: Database, clients: Clients, limits: Limits, record: bool) -> float:  # noqa: FBT001
    found = run(database, clients, limits, record=record)
    if found.problem is not None:
        raise DatabaseError(found.problem)
    return found.progress.operations / found.progress.seconds


def measure_all(
    *, rounds: int = ROUNDS, seconds: float = SECONDS, clients: Clients | None = None
) -> Iterator[Round]:
    """Rounds on PostgreSQL; raises `IsoscopeError` with the reason if it is not there."""
    clients = clients or Clients()
    limits, script = Limits(seconds=seconds), pgbench.script(clients.keys, READS, WRITES)
    with pgbench.server() as where:
        url = "postgresql://{user}:{password}@{host}:{port}/{dbname}".format_map(where)
        # The first run warms up.
        _measured(connect(url, isolation="read-committed"), clients, limits, record=False)
        for number in range(rounds):
            found = _round(lambda: connect(url, isolation="read-committed"), clients, limits, number)
            rate = pgbench.rate(where, script, keys=clients.keys, clients=SESSIONS, seconds=seconds)
            yield Round(recorded=found.recorded, plain=found.plain, pgbench=rate and rate * OPERATIONS)


def summary(rounds: list[Round]) -> Iterator[Measurement]:
    """What all rounds on PostgreSQL together say."""
    if not rounds:
        return
    costs = sorted(100 * one.cost for one in rounds)
    recorded = median(one.recorded for one in rounds)
    figures = {
        "recorded (median)": _rate(recorded),
        "not recorded": _rate(median(one.plain for one in rounds)),
        "cost of recording (median)": f"{median(costs):.1f} %",
        "(least and most)": f"{costs[0]:.1f} % to {costs[-1]:.1f} %",
        "asked": "5 %",
    }
    beside = [one.pgbench for one in rounds if one.pgbench is not None]
    if beside:
        figures["pgbench (median)"] = _rate(median(beside))
        figures["ratio to pgbench"] = f"{recorded / median(beside):.2f}"
    yield Measurement("PostgreSQL, read committed", figures)


def plots(rounds: list[Round]) -> Iterator[Plot]:
    """The rates, round by round."""
    series = {
        "recorded": [one.recorded / 1000 for one in rounds],
        "not recorded": [one.plain / 1000 for one in rounds],
    }
    if all(one.pgbench is not None for one in rounds):
        series["pgbench"] = [(one.pgbench or 0.0) / 1000 for one in rounds]
    panel = Panel(
        title="thousands of operations a second",
        across="round",
        labels=[str(number + 1) for number in range(len(rounds))],
        series=series,
        joined=False,
    )
    title = "PostgreSQL with and without recording, and pgbench"
    yield Plot(name="recording", title=title, panels=[panel])


def _rate(rate: float) -> str:
    return f"{rate:,.0f} operations/s"


def measured(one: Measurement, rounds: Iterator[Round]) -> Iterator[Measured]:
    """The recorder alone, and what all rounds together say; or why there are none."""
    yield one
    try:
        kept = [*rounds]
    except IsoscopeError as error:
        yield Measurement("PostgreSQL", {"skipped": str(error).partition("\n")[0]})
        return
    yield from summary(kept)
    yield from plots(kept)


SUITE = Suite(
    title="What recording costs",
    how=HOW,
    full=lambda: measured(alone(), measure_all()),
    quick=lambda: measured(alone(rounds=2, transactions=2_000), measure_all(rounds=1, seconds=1.0)),
)
