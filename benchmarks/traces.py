"""Files of formats that are only read, and realistic ones of those that our own writer keeps short.

Each writer is seeded and runs a serial store, so that what it writes is a valid history.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["grail", "leopard", "viper"]


def leopard(path: Path, transactions: int) -> None:
    """Traces of statements on rows of one table, from 24 threads, sorted by time."""
    with path.open("w", encoding="ascii") as file:
        for trace in _traces(transactions):
            file.write(json.dumps(trace, separators=(",", ":")) + "\n")


def _traces(transactions: int) -> Iterator[dict[str, Any]]:
    random, now = Random(4), 1_663_798_322_622_208_619
    store: dict[int, int] = {}
    for number in range(transactions):
        thread = f"0-0-{random.randrange(24)}"
        name = f"{thread},{number}"
        for place in range(6):
            now += random.randrange(1000, 900_000)
            trace: dict[str, Any] = {
                "threadID": thread,
                "transactionID": name,
                "operationID": f"{name},{place}",
                "operationTraceType": "COMMIT",
                "startTimestamp": now,
                "finishTimestamp": now + 500,
                "predicateLock": None,
            }
            if place < 5:
                trace |= _statement(random, store, value=number * 5 + place + 1)
            yield trace


def _statement(random: Random, store: dict[int, int], *, value: int) -> dict[str, Any]:
    row = random.randrange(1000)
    is_read = random.random() < 0.5
    if not is_read:
        store[row] = value
    tuples = [{"table": "0", "primaryKey": str(row), "valueMap": {"v": store.get(row, 0)}}]
    return {
        "operationTraceType": "SELECT" if is_read else "UPDATE",
        "traceLockMode": "NON_LOCK" if is_read else "EXCLUSIVE_LOCK",
        "readMode": "CONSISTENT_READ" if is_read else "LOCKING_READ",
        "readTupleList" if is_read else "writeTupleList": tuples,
    }


def viper(path: Path, transactions: int) -> None:
    """One session of reads, writes, inserts, deletes and range reads."""
    random, store = Random(5), dict.fromkeys(range(1000), 0)
    with path.open("w", encoding="ascii") as file:
        for number in range(transactions):
            operations = [_micro(random, store, value=number * 8 + place + 1) for place in range(8)]
            file.write(json.dumps({"value": operations}) + "\n")


def _micro(random: Random, store: dict[int, int], *, value: int) -> list[Any]:
    kind = random.choice(["r", "r", "r", "w", "w", "i", "d", "range"])
    key = random.randrange(1000)
    seen = store[key]
    if kind == "range":
        rows = [{"id": row, "sk": row, "val": store[row]} for row in range(key, min(key + 4, 1000))]
        return [kind, key, key + 3, rows, []]
    if kind == "r":
        return [kind, key, seen, False]
    store[key] = value
    return [kind, key, value, True] if kind == "w" else [kind, key, value, seen, False, True]


def grail(path: Path, transactions: int) -> None:
    """Dependencies of transactions that append to and read lists."""
    random = Random(6)
    latest: dict[int, str] = {}
    readers: dict[int, list[str]] = {}
    with path.open("w", encoding="ascii") as file:
        file.write("[")
        separator = ""
        for number in range(1, transactions + 1):
            for place in range(1, 4):
                key = random.randrange(1000)
                edges = _edges(random, f"{number},{place}", latest, readers, key=key)
                for start, end, kind in edges:
                    file.write(separator + json.dumps(_edge(start, end, kind)))
                    separator = ",\n"
        file.write("]\n")


def _edges(
    random: Random, name: str, latest: dict[int, str], readers: dict[int, list[str]], *, key: int
) -> Iterator[tuple[str, str, str]]:
    if random.random() < 0.5:
        event = f"r_evt/{name}"
        if key in latest:
            yield latest[key], event, "wr"
        readers.setdefault(key, []).append(event)
        return
    event = f"a_evt/{name}"
    if key in latest:
        yield latest[key], event, "ww"
    for reader in readers.pop(key, []):
        yield reader, event, "rw"
    latest[key] = event


def _edge(start: str, end: str, kind: str) -> dict[str, str]:
    def transaction(event: str) -> str:
        return "txn/" + event.partition("/")[2].partition(",")[0]

    return {
        "_from": transaction(start),
        "_to": transaction(end),
        "from_evt": start,
        "to_evt": end,
        "type": kind,
    }
