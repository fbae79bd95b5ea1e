"""TPC-C through the recorder: what recording costs on PostgreSQL, and what the history shows.

.venv/bin/python -m benchmarks.recorded_tpcc --transactions 20000 --isolation serializable
.venv/bin/python -m benchmarks.recorded_tpcc --database mariadb --isolation repeatable-read
.venv/bin/python -m benchmarks.recorded_tpcc --overhead
"""

from __future__ import annotations

import argparse
import multiprocessing
import sqlite3
import threading
from contextlib import closing, nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import isoscope
from benchmarks.applications.servers import SERVERS
from benchmarks.applications.tpcc import SCHEMA, Sizes, Terminal, broken_conditions, load
from isoscope.record import record

if TYPE_CHECKING:
    from benchmarks.applications.servers import Target

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


def overhead(target: Target, *, transactions: int, clients: int, pairs: int) -> None:
    """Prints what recording costs of the throughput and of the clients' CPU, in pairs that take turns."""
    costs: list[tuple[float, float]] = []
    for number in range(pairs):
        order = (False, True) if number % 2 else (True, False)
        took = {is_recorded: _timed(target, transactions, clients, is_recorded) for is_recorded in order}
        costs.append((1 - took[False][0] / took[True][0], 1 - took[False][1] / took[True][1]))
        rates = [transactions / took[one][0] for one in (False, True)]
        cpu = [took[one][1] / transactions * 1e6 for one in (False, True)]
        print(
            f"plain {rates[0]:,.0f}/s and {cpu[0]:,.0f} us of client CPU a transaction,"
            f" recorded {rates[1]:,.0f}/s and {cpu[1]:,.0f} us: {costs[-1][0]:.1%} less by time,"
            f" {costs[-1][1]:.1%} by CPU",
            flush=True,
        )
    wall, client = (median(column) for column in zip(*costs, strict=True))
    print(
        f"recording costs {wall:.1%} of the throughput (median of {pairs} pairs of {clients} processes);"
        f" {client:.1%} if the CPU of the clients were all that counts"
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


def check(target: Target, *, transactions: int, clients: int, level: str) -> None:
    prepare(target, SMALL)
    with TemporaryDirectory() as folder:
        with record() as recorded:
            seconds, repeated = run(target, SMALL, transactions=transactions, clients=clients, level=level)
        print(f"{transactions:,} transactions in {seconds:.1f} s, {repeated:,} attempts repeated")
        started = perf_counter()
        path = recorded.save(Path(folder, "tpcc.program"))
        print(f"interpreted in {perf_counter() - started:.1f} s, {path.stat().st_size / 1e6:.1f} MB")
        started = perf_counter()
        history = isoscope.load(path)
        print(f"loaded in {perf_counter() - started:.1f} s: {history.counts['operations']:,} operations")
        started = perf_counter()
        report = isoscope.check(history, ["serializable", "snapshot-isolation", "read-committed"])
        print(f"checked in {perf_counter() - started:.1f} s")
        print(report)
    with closing(target.connect("")) as connection:
        broken = [*broken_conditions(connection.cursor())]
    print(f"consistency conditions broken: {', '.join(broken) or 'none'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--transactions", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--database", choices=sorted(SERVERS), default="postgresql")
    parser.add_argument("--isolation", default="serializable")
    parser.add_argument("--overhead", action="store_true")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--volatile", action="store_true", help="do not wait for the disk at commits")
    given = parser.parse_args()
    with SERVERS[given.database](is_durable=not given.volatile) as target:
        if given.overhead:
            overhead(target, transactions=given.transactions, clients=given.clients, pairs=given.pairs)
        else:
            check(target, transactions=given.transactions, clients=given.clients, level=given.isolation)


if __name__ == "__main__":
    main()
