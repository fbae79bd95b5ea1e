"""Bytes of the binary formats that are only read, put together by hand."""

from __future__ import annotations

import struct
from typing import TypeAlias

#: Events (write, variable, value, success) and whether the transaction committed.
Transaction: TypeAlias = tuple[list[tuple[int, int, int, int]], int]

DATE = b"2020-01-01T00:00:00.5+08:00"


def bincode(
    *sessions: list[Transaction], texts: tuple[bytes, bytes, bytes] = (b"PostgreSQL", DATE, DATE)
) -> bytes:
    """dbcop's `history.bincode`."""
    parts = [struct.pack("<5Q", 0, len(sessions), 10, 2, 3)]
    parts += [struct.pack("<Q", len(text)) + text for text in texts]
    parts.append(struct.pack("<Q", len(sessions)))
    for session in sessions:
        parts.append(struct.pack("<Q", len(session)))
        for events, success in session:
            parts.append(struct.pack("<Q", len(events)))
            parts += [struct.pack("<BQQB", *event) for event in events]
            parts.append(bytes([success]))
    return b"".join(parts)


def record(tag: str, *fields: int) -> bytes:
    """A record of Cobra's logs; fields may be signed or unsigned."""
    return tag.encode() + b"".join((field % 2**64).to_bytes(8, "big") for field in fields)


INIT, NULL, DELETE, MISSING, GC_TRUE, GC_FALSE, NO_ID = (
    0xBEBEEBEE, 0xDEADBEEF, 0xABCDEFAB, 0xADEAFBEE, 0x23332333, 0x66666666, 0xABDDEFEE,
)  # fmt: skip

BINCODE = bincode(
    [([(1, 1, 5, 1), (0, 2**64 - 1, 0, 1)], 1), ([], 1)],
    [],
    [([(0, 1, 5, 1), (1, 3, 6, 0), (0, 3, 6, 0)], 0)],
)
COBRA = (
    record("S", 1)
    + record("W", 10, 5, 7)
    + record("C", 1)
    + record("S", 2)
    + record("R", 1, 10, 5, 7)
    + record("R", INIT, INIT, 2**63 + 1, 0)
    + record("A", 2)
    + record("S", 3)
    + record("W", 11, 5, 7)
)
COBRA_TIMES = (
    record("S", 1, 1_600_000_000)
    + record("W", 10, 5, 7)
    + record("C", 1, 1_600_000_001)
    + record("S", 2, 1_600_000_002)
    + record("R", NULL, NULL, 6, 0)
)
