"""TPC-C through the recorder: what recording costs on PostgreSQL, and what the history shows.

.venv/bin/python -m benchmarks.recorded_tpcc --transactions 20000 --isolation serializable
.venv/bin/python -m benchmarks.recorded_tpcc --database mariadb --isolation repeatable-read
.venv/bin/python -m benchmarks.recorded_tpcc --overhead
"""

from __future__ import annotations

import argparse
import threading
from contextlib import closing, nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

import isoscope
from benchmarks.applications.servers import SERVERS
from benchmarks.applications.tpcc import SCHEMA, Sizes, Terminal, broken_conditions, load
from isoscope.record import record

if TYPE_CHECKING:
    from benchmarks.applications.servers import Target

SMALL = Sizes(warehouses=10, items=1_000, customers=100)


def prepare(target: Target, sizes: Sizes) -> None:
    target.clear()
    with closing(target.connect("")) as connection:
        cursor = connection.cursor()
        for statement in SCHEMA:
            cursor.execute(statement)
        load(cursor.executemany, sizes)
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
        """All transactions, each until it commits."""
        for _ in range(self._transactions):
            transaction = self._terminal.choose()
            while not self._attempt(transaction):
                self.repeated += 1
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
    ratios = []
    for number in range(pairs):
        seconds = {}
        for is_recorded in (False, True) if number % 2 else (True, False):
            prepare(target, SMALL)
            with record() if is_recorded else nullcontext():
                seconds[is_recorded], _ = run(
                    target, SMALL, transactions=transactions, clients=clients, level="read-committed"
                )
        ratios.append(seconds[False] / seconds[True])
        print(
            f"plain {transactions / seconds[False]:,.0f}/s, recorded {transactions / seconds[True]:,.0f}/s,"
            f" {1 - ratios[-1]:.1%} less"
        )
    print(f"recording costs {1 - median(ratios):.1%} of the throughput (median of {pairs} pairs)")


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
