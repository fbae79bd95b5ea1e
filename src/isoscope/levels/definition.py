"""What a level is: its name, its family, and its definition."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Definition", "Family", "Level"]


class Level(StrEnum):
    """Every level, family by family, a stronger one before the weaker ones that it implies."""

    CLOCK_SNAPSHOT_ISOLATION = "clock-snapshot-isolation"
    CLOCK_SERIALIZABLE = "clock-serializable"

    STRICT_SERIALIZABLE = "strict-serializable"
    STRONG_SNAPSHOT_ISOLATION = "strong-snapshot-isolation"
    STRONG_PL_2 = "strong-pl-2"
    STRONG_PL_1 = "strong-pl-1"
    LINEARIZABLE = "linearizable"

    STRONG_SESSION_SERIALIZABLE = "strong-session-serializable"
    STRONG_SESSION_SNAPSHOT_ISOLATION = "strong-session-snapshot-isolation"
    PREFIX = "prefix"
    STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION = "strong-session-parallel-snapshot-isolation"
    UPDATE_ATOMIC = "update-atomic"
    CAUSAL = "causal"
    READ_ATOMIC = "read-atomic"
    READ_COMMITTED = "read-committed"
    STRONG_SESSION_PL_2 = "strong-session-pl-2"
    STRONG_SESSION_PL_1 = "strong-session-pl-1"
    READ_YOUR_WRITES = "read-your-writes"
    MONOTONIC_READS = "monotonic-reads"
    MONOTONIC_WRITES = "monotonic-writes"
    WRITES_FOLLOW_READS = "writes-follow-reads"
    SESSION_SERIALIZABLE = "session-serializable"
    SEQUENTIAL = "sequential"
    CAUSAL_MEMORY = "causal-memory"
    PRAM = "pram"

    SERIALIZABLE = "serializable"
    SNAPSHOT_ISOLATION = "snapshot-isolation"
    REPEATABLE_READ = "repeatable-read"
    UPDATE_SERIALIZABLE = "update-serializable"
    PARALLEL_SNAPSHOT_ISOLATION = "parallel-snapshot-isolation"
    FORWARD_CONSISTENT_VIEW = "forward-consistent-view"
    CONSISTENT_VIEW = "consistent-view"
    CURSOR_STABILITY = "cursor-stability"
    MONOTONIC_VIEW = "monotonic-view"
    MONOTONIC_SNAPSHOT_READ = "monotonic-snapshot-read"
    MONOTONIC_ATOMIC_VIEW = "monotonic-atomic-view"
    PL_2 = "pl-2"
    PL_1 = "pl-1"
    CUT_ISOLATION = "cut-isolation"
    VIEW_SERIALIZABLE = "view-serializable"
    ONE_COPY_SERIALIZABLE = "one-copy-serializable"


class Family(StrEnum):
    """What a level orders transactions by, besides the data that they share."""

    CLOCK = "clock"  # the database's own start and commit timestamps
    REAL_TIME = "real-time"  # a finished before b began; contains session order
    SESSION = "session"  # a came before b in one session
    SESSIONLESS = "sessionless"  # nothing else


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What one level promises; `implies` holds the direct edges only.

    `decided` is false if no method looks at the level's own condition: then it holds only because a
    stronger level does, and is violated only because a weaker one is. `noun` names the level in a sentence.
    `note` says what the name means here, if vendors use the same name for other levels.
    """

    level: Level
    family: Family
    meaning: str
    implies: tuple[Level, ...]
    aliases: tuple[str, ...]
    source: str
    decided: bool = True
    noun: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if not self.noun:
            words = self.level.replace("-", " ").replace("pl ", "PL-")
            object.__setattr__(self, "noun", words)
