"""TPC-C through the recorder: what recording costs on PostgreSQL, and what the history shows."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import isoscope
from benchmarks.applications.servers import SERVERS
from benchmarks.applications.tpcc import SCHEMA, Sizes, Terminal, broken_conditions, load
from benchmarks.measure import time_of_lines
from benchmarks.suite import Measurement, Suite
from isoscope.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.applications.servers import Target

__all__ = ["SUITE", "prepare", "run"]

HOW = (
    "The standard mix of TPC-C with 10 warehouses, 1,000 items and 100 customers a district, durable commits "
    "and no think times; what the server refuses is repeated. The cost of recording is that of PostgreSQL at "
    "READ COMMITTED, in pairs of runs that take turns, as a median with the least and the most; clients are "
    "processes. The histories are those of four clients as threads of one process; interpreting turns "
    "the statements into reads and writes of rows, the check is that of the three levels named, and the "
    "yardstick is the time in which Python iterates over the lines of the saved file; the ratio is load and "
    "check by yardstick."
)
TRANSACTIONS, PAIRS = 20_000, 5
#: Of each run of a pair.
PAIRED = 5_000
QUICK_TRANSACTIONS, QUICK_PAIRS = 400, 1
GOAL = "15 %"
CLIENTS = (1, 2)
RUNS = (("postgresql", "serializable"), ("postgresql", "read-committed"), ("mariadb", "repeatable-read"))
LEVELS = ("serializable", "snapshot-isolation", "read-committed")
#: Where no lock protects the number of the next order, it may go back to one that exists.
_ATTEMPTS = 100
SMALL = Sizes(warehouses=10, items=1_000, customers=100)


def prepare(target: Target, sizes: Sizes) -> None:
    target.clear()
    with closing(target.connect("")) as connection:
        cursor = connection.cursor()
        for statement in SCHEMA:
            cursor.execute(statement)
        is_qmark = isinstance(cursor, sqlite3.Cursor)
        load(lambda sql, rows: cursor.executemany(sql.replace("%s", "?") if is_qmark else sql, rows), sizes)
        connection.commit()
    target.analyse()


class Client(threading.Thread):
    """A terminal that repeats what the server refuses."""

    def __init__(self, target: Target, sizes: Sizes, seed: str, transactions: int, level: str) -> None:
        super().__init__()
        self._connection = target.connect(level)
        self._refused = target.is_refused
        self._terminal = Terminal(self._connection.cursor(), sizes, seed)
        self._transactions = transactions
        self.repeated = 0

    def run(self) -> None:
        """All transactions, each until it commits; one that a lost update made impossible is given up."""
        for _ in range(self._transactions):
            transaction = self._terminal.choose()
            attempts = 1
            while not self._attempt(transaction) and attempts < _ATTEMPTS:
                attempts += 1
            self.repeated += attempts - 1
        self._connection.close()

    def _attempt(self, transaction: Any) -> bool:
        try:
            transaction()
            self._connection.commit()
        except Exception as error:
            if not self._refused(error):
                raise
            self._connection.rollback()
            return False
        return True


def run(target: Target, sizes: Sizes, *, transactions: int, clients: int, level: str) -> tuple[float, int]:
    """Seconds, and how many attempts were repeated."""
    terminals = [
        Client(target, sizes, str(number), transactions // clients, level) for number in range(clients)
    ]
    started = perf_counter()
    for one in terminals:
        one.start()
    for one in terminals:
        one.join()
    return perf_counter() - started, sum(one.repeated for one in terminals)


def measurements(
    transactions: int = TRANSACTIONS, *, paired: int = PAIRED, pairs: int = PAIRS
) -> Iterator[Measurement]:
    with SERVERS["postgresql"](is_durable=True) as target:
        for clients in CLIENTS:
            yield overhead(target, transactions=paired, clients=clients, pairs=pairs)
    for database, level in RUNS:
        with SERVERS[database](is_durable=True) as target:
            yield history(target, database, level, transactions=transactions)


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds, and CPU seconds of all clients, of a run without recording and of one with it."""

    plain: tuple[float, float]
    recorded: tuple[float, float]

    @property
    def cost(self) -> float:
        """The share of the throughput that recording takes."""
        return 1 - self.plain[0] / self.recorded[0]


def overhead(target: Target, *, transactions: int, clients: int, pairs: int) -> Measurement:
    """What recording costs of the throughput, in pairs that take turns."""
    found: list[Pair] = []
    for number in range(pairs):
        order = (False, True) if number % 2 else (True, False)
        took = {is_recorded: _timed(target, transactions, clients, is_recorded) for is_recorded in order}
        found.append(Pair(took[False], took[True]))
    costs = sorted(one.cost for one in found)

    def per_second(runs: list[tuple[float, float]]) -> str:
        return f"{transactions / median(seconds for seconds, _ in runs):,.0f}/s"

    def cpu(runs: list[tuple[float, float]]) -> str:
        return f"{median(spent for _, spent in runs) / transactions * 1e6:,.0f} us"

    plain, recorded = [one.plain for one in found], [one.recorded for one in found]
    return Measurement(
        f"recording on PostgreSQL, {clients} client{'s' if clients > 1 else ''}",
        {
            "transactions": f"{transactions:,}",
            "plain": per_second(plain),
            "recorded": per_second(recorded),
            "cost": f"{median(costs):.1%}",
            "least": f"{costs[0]:.1%}",
            "most": f"{costs[-1]:.1%}",
            "goal": GOAL,
            "CPU of the clients for a transaction": cpu(plain),
            "with recording": cpu(recorded),
        },
    )


def _timed(target: Target, transactions: int, clients: int, is_recorded: bool) -> tuple[float, float]:  # noqa: FBT001
    """Seconds, and CPU seconds of all clients, which are processes: threads would wait for each other."""
    prepare(target, SMALL)
    forked = multiprocessing.get_context("fork")
    ready = forked.Barrier(clients + 1)
    used = forked.SimpleQueue()

    def terminal(number: int) -> None:
        client = Client(target, SMALL, str(number), transactions // clients, "read-committed")
        ready.wait()
        before = process_time()
        client.run()
        used.put(process_time() - before)

    with record() if is_recorded else nullcontext():
        processes = [forked.Process(target=terminal, args=(number,)) for number in range(clients)]
        for one in processes:
            one.start()
        ready.wait()
        started = perf_counter()
        cpu = sum(used.get() for _ in processes)
        seconds = perf_counter() - started
        for one in processes:
            one.join()
    return seconds, cpu


def history(target: Target, database: str, level: str, *, transactions: int) -> Measurement:
    """What the history of four clients shows."""
    prepare(target, SMALL)
    with TemporaryDirectory() as folder:
        with record() as recorded:
            seconds, repeated = run(target, SMALL, transactions=transactions, clients=4, level=level)
        started = perf_counter()
        path = recorded.save(Path(folder, "tpcc.program"))
        interpreted = perf_counter() - started
        yardstick = time_of_lines(path)
        started = perf_counter()
        loaded = isoscope.load(path)
        loading = perf_counter() - started
        started = perf_counter()
        report = isoscope.check(loaded, [*LEVELS])
        checking = perf_counter() - started
        with closing(target.connect("")) as connection:
            broken = [*broken_conditions(connection.cursor())]
        return Measurement(
            f"{database}, {level}",
            {
                "transactions": f"{transactions:,}",
                "run": f"{seconds:.1f} s",
                "repeated": f"{repeated:,}",
                "interpreted": f"{interpreted:.1f} s",
                "operations": f"{loaded.counts['operations']:,}",
                "file": f"{path.stat().st_size / 1e6:.0f} MB",
                "load": f"{loading:.1f} s",
                "check": f"{checking:.1f} s",
                "yardstick": f"{yardstick:.2f} s",
                "ratio": f"{(loading + checking) / yardstick:.1f}",
                **{name: report[name].outcome.value for name in LEVELS},
                "broken conditions": ", ".join(broken) or "none",
            },
        )


SUITE = Suite(
    title="Programs through the recorder: TPC-C",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(QUICK_TRANSACTIONS, paired=QUICK_TRANSACTIONS, pairs=QUICK_PAIRS),
)
