"""Files of formats that are only read, large and seeded: a serial store behind each of them."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["bincode", "cobra", "yaml"]

SESSIONS = 20
OPERATIONS = 8

#: Whether it writes, key, value, and the transaction that wrote the value; 0 is the initial value.
_Event: TypeAlias = tuple[bool, int, int, int]


def _transactions(count: int, seed: int) -> Iterator[list[_Event]]:
    """Transactions of 8 operations, half of them writes, on 10,000 keys."""
    source = random.Random(seed)
    latest = [(0, 0)] * 10_000
    value = 0
    for transaction in range(1, count + 1):
        events: list[_Event] = []
        kinds = source.getrandbits(OPERATIONS)
        for place, key in enumerate(source.choices(range(len(latest)), k=OPERATIONS)):
            is_write = bool(kinds >> place & 1)
            if is_write:
                value += 1
                latest[key] = (value, transaction)
            events.append((is_write, key, *latest[key]))
        yield events


def bincode(path: Path, transactions: int) -> None:
    """Dbcop's bincode."""
    transaction = struct.Struct("<Q" + "BQQB" * OPERATIONS + "B")
    events = _transactions(transactions, seed=4)
    with path.open("wb") as file:
        file.write(struct.pack("<5Q", 0, SESSIONS, 10_000, transactions // SESSIONS, OPERATIONS))
        for text in (b"benchmark", b"2020-01-01T00:00:00+00:00", b"2020-01-01T00:00:09+00:00"):
            file.write(struct.pack("<Q", len(text)) + text)
        file.write(struct.pack("<Q", SESSIONS))
        for _ in range(SESSIONS):
            file.write(struct.pack("<Q", transactions // SESSIONS))
            for _ in range(transactions // SESSIONS):
                fields = [field for write, key, value, _ in next(events) for field in (write, key, value, 1)]
                file.write(transaction.pack(OPERATIONS, *fields, 1))


def yaml(path: Path, transactions: int) -> None:
    """Dbcop's YAML, in block style."""
    events = _transactions(transactions, seed=5)
    with path.open("w", encoding="ascii") as file:
        file.write("---\n")
        for _ in range(SESSIONS):
            for place in range(transactions // SESSIONS):
                file.write(f"{' ' if place else '-'} - events:\n")
                file.writelines(
                    f"      - write: {str(write).lower()}\n        variable: {key}\n"
                    f"        value: {value}\n        success: true\n"
                    for write, key, value, _ in next(events)
                )
                file.write("    success: true\n")


def cobra(folder: Path, transactions: int) -> None:
    """Cobra's logs, in a folder, with keys that are hashes."""
    folder.mkdir(exist_ok=True)
    write, read, frame = struct.Struct(">cqqq"), struct.Struct(">cqqqq"), struct.Struct(">cq")
    source = random.Random(6)
    hashes = [source.getrandbits(64) - (1 << 63) for _ in range(10_000)]
    initial = 0xBEBEEBEE
    number = 0
    events = _transactions(transactions, seed=6)
    for session in range(SESSIONS):
        with (folder / f"T{session}.log").open("wb") as file:
            for _ in range(transactions // SESSIONS):
                number += 1
                records = [frame.pack(b"S", number)]
                for is_write, key, value, writer in next(events):
                    if is_write:
                        records.append(write.pack(b"W", value, hashes[key], value))
                    else:
                        ids = (writer, value) if value else (initial, initial)
                        records.append(read.pack(b"R", *ids, hashes[key], value))
                records.append(frame.pack(b"C", number))
                file.write(b"".join(records))
