"""The formal definition of each level, in the notation of the papers.

wr, ww and rw are the dependencies between committed transactions: `after` read, overwrote, or overwrote what
was read of `before`. SO is session order, RT real-time order (one was over before the other began). `;` joins
two steps, `?` makes one optional, `+` repeats it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from isoscope.levels.definition import Level

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORMAL"]

_G1 = "No read of aborted, intermediate, future or never written values (G1a, G1b)"
_SNAPSHOT = "(wr ∪ ww{}) ; rw? has no cycle"
_AXIOM = (
    "There is a total order CO ⊇ SO ∪ wr of transactions so that t2 precedes t1 in CO wherever a "
    "transaction t3 reads x from t1, t2 ≠ t1 also writes x, and {}"
)

FORMAL: Mapping[Level, str] = MappingProxyType(
    {
        Level.CLOCK_SNAPSHOT_ISOLATION: (
            "With the start and commit timestamps of the database: SESSION (a session's transactions "
            "see one another), INT (own writes are read), EXT (a read shows the last commit before "
            "the start), NOCONFLICT (of two writers of a key one commits before the other starts), "
            "start <= commit."
        ),
        Level.CLOCK_SERIALIZABLE: (
            "Replayed one at a time in the order of the commit timestamps, every transaction reads "
            "what it read."
        ),
        Level.STRICT_SERIALIZABLE: "wr ∪ ww ∪ rw ∪ SO ∪ RT has no cycle, and PL-2 holds.",
        Level.STRONG_SNAPSHOT_ISOLATION: f"PL-2 holds, and {_SNAPSHOT.format(' ∪ SO ∪ RT')}.",
        Level.STRONG_PL_2: f"{_G1}, and wr ∪ ww ∪ SO ∪ RT has no cycle.",
        Level.STRONG_PL_1: "ww ∪ SO ∪ RT has no cycle.",
        Level.LINEARIZABLE: (
            "Single operations have a total order that contains RT and in which every read of a key "
            "returns the last write of it."
        ),
        Level.STRONG_SESSION_SERIALIZABLE: "wr ∪ ww ∪ rw ∪ SO has no cycle, and PL-2 holds.",
        Level.STRONG_SESSION_SNAPSHOT_ISOLATION: f"PL-2 holds, and {_SNAPSHOT.format(' ∪ SO')}.",
        Level.PREFIX: _AXIOM.format(
            "t2 precedes in CO, or is, a transaction that precedes t3 in SO or that t3 reads from."
        ),
        Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION: (
            "PL-2 holds, and wr ∪ ww ∪ SO ∪ rw has no cycle with at most one rw."
        ),
        Level.UPDATE_ATOMIC: (
            "Read atomic, and of two transactions that write the same key one sees the other."
        ),
        Level.CAUSAL: _AXIOM.format("t2 precedes t3 in (SO ∪ wr)+."),
        Level.READ_ATOMIC: _AXIOM.format("t2 precedes t3 in SO ∪ wr."),
        Level.READ_COMMITTED: _AXIOM.format("t3 read something from t2 before it read x."),
        Level.STRONG_SESSION_PL_2: f"{_G1}, and wr ∪ ww ∪ SO has no cycle.",
        Level.STRONG_SESSION_PL_1: "ww ∪ SO has no cycle.",
        Level.READ_YOUR_WRITES: (
            "If t1 writes x and t2, later in SO, reads x, then t2 does not read a version of x older "
            "than that of t1."
        ),
        Level.MONOTONIC_READS: (
            "If t1 reads a version of x and t2, later in SO, reads x, then t2 does not read an older version."
        ),
        Level.MONOTONIC_WRITES: (
            "If t1 writes x and t2, later in SO, writes x, then the version of t1 is the older."
        ),
        Level.WRITES_FOLLOW_READS: (
            "If t1 reads a version of x and t2, later in SO, writes x, then the version read is the older."
        ),
        Level.SESSION_SERIALIZABLE: "One-copy serializable by an order that contains SO.",
        Level.SEQUENTIAL: (
            "Single operations have a total order that contains SO and in which every read of a key "
            "returns the last write of it."
        ),
        Level.CAUSAL_MEMORY: (
            "For every session there is an order of its operations and of all writes that contains "
            "(SO ∪ wr)+ of operations and in which its reads return the last write."
        ),
        Level.PRAM: (
            "For every session there is an order of its operations and of all writes that contains SO"
            " and in which its reads return the last write."
        ),
        Level.SERIALIZABLE: (
            "PL-2 holds, and wr ∪ ww ∪ rw has no cycle, where wr and rw also count reads of search "
            "conditions (G2)."
        ),
        Level.SNAPSHOT_ISOLATION: f"PL-2 holds, and {_SNAPSHOT.format('')}.",
        Level.REPEATABLE_READ: (
            "PL-2 holds, and wr ∪ ww ∪ rw has no cycle, where rw counts reads of single rows, not of "
            "search conditions (G2-item)."
        ),
        Level.UPDATE_SERIALIZABLE: (
            "PL-2 holds, and wr ∪ ww ∪ rw has no cycle among the transactions that write and any "
            "single other transaction (G-update)."
        ),
        Level.PARALLEL_SNAPSHOT_ISOLATION: "PL-2 holds, and wr ∪ ww ∪ rw has no cycle with at most one rw.",
        Level.FORWARD_CONSISTENT_VIEW: (
            "PL-2 holds, and no cycle has one rw where start dependencies count, too (G-SIb)."
        ),
        Level.CONSISTENT_VIEW: "PL-2 holds, and wr ∪ ww ∪ rw has no cycle with at most one rw (G-single).",
        Level.CURSOR_STABILITY: (
            "PL-2 holds, and no other version of x comes between the one that a transaction read and "
            "the one that it wrote (G-cursor)."
        ),
        Level.MONOTONIC_VIEW: (
            "PL-2 holds, and no read misses what an earlier operation of its transaction depends on "
            "by (wr ∪ ww)+ (G-monotonic)."
        ),
        Level.MONOTONIC_SNAPSHOT_READ: (
            "PL-2 holds, and every read shows a snapshot that is no older than those of earlier reads"
            " (G-MSR)."
        ),
        Level.MONOTONIC_ATOMIC_VIEW: (
            "PL-2 holds, and no read misses a write of a transaction that an earlier operation of its"
            " transaction read from."
        ),
        Level.PL_2: f"{_G1}, and wr ∪ ww has no cycle (G1c).",
        Level.PL_1: "ww has no cycle (G0).",
        Level.CUT_ISOLATION: "Two external reads of x in one transaction return the same version.",
        Level.VIEW_SERIALIZABLE: (
            "Some serial order has the same wr and the same last version of every key."
        ),
        Level.ONE_COPY_SERIALIZABLE: "Some serial order on a single copy has the same wr.",
    }
)
