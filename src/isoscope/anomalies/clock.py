"""Anomalies that contradict the database's own timestamps."""

from isoscope.anomalies.entry import PAIR_KEY, READER_KEY, CatalogueEntry, aion
from isoscope.levels import Level

__all__ = ["ENTRIES"]

ENTRIES = (
    CatalogueEntry(
        name="stale-read",
        title="Stale read",
        meaning="By the database's own clock, a read should have returned another value.",
        aliases=("EXT",),
        breaks=(Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE),
        counted=READER_KEY,
        source="Li et al. 2025 (EXT)",
        example=aion(
            "session=1 start=1 commit=2 w(1,1)",
            "session=2 start=3 commit=4 r(1,0)",
            note="Transaction 2 started after the write of 1 was committed, and reads 0.",
        ),
    ),
    CatalogueEntry(
        name="session-order",
        title="Session order violation",
        meaning="A transaction starts, by the database's clock, before its session's previous one committed.",
        aliases=("SESSION",),
        breaks=(Level.CLOCK_SNAPSHOT_ISOLATION,),
        counted="consecutive pairs of a session",
        source="Li et al. 2025 (SESSION)",
        example=aion(
            "session=1 start=1 commit=3 w(1,1)",
            "session=1 start=2 commit=4 w(2,1)",
            note="Transaction 2 follows 1 in its session, and started before 1 was committed.",
        ),
    ),
    CatalogueEntry(
        name="write-conflict",
        title="Write conflict",
        meaning="Two transactions that overlap by the database's clock wrote the same key, and "
        "both committed.",
        aliases=("NOCONFLICT",),
        breaks=(Level.CLOCK_SNAPSHOT_ISOLATION,),
        counted=PAIR_KEY,
        source="Li et al. 2025 (NOCONFLICT)",
        example=aion(
            "session=1 start=1 commit=3 w(1,1)",
            "session=2 start=2 commit=4 w(1,2)",
            note="Both wrote key 1 while the other was running.",
        ),
    ),
    CatalogueEntry(
        name="timestamp-inversion",
        title="Timestamp inversion",
        meaning="A transaction's start timestamp is later than its commit timestamp.",
        aliases=(),
        breaks=(Level.CLOCK_SNAPSHOT_ISOLATION,),
        counted="transactions",
        source="Li et al. 2025",
        example=aion("session=1 start=2 commit=1 w(1,1)", note="It committed before it started."),
    ),
)
