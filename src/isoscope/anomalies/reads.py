"""Reads that are wrong by themselves: TAP-a to TAP-f."""

from isoscope.anomalies.entry import READS, CatalogueEntry, plume
from isoscope.levels import Level

__all__ = ["ENTRIES"]

ENTRIES = (
    CatalogueEntry(
        name="thin-air-read",
        title="Thin-air read",
        meaning="A transaction reads a value that no transaction wrote.",
        aliases=("TAP-a", "ThinAirRead", "garbage-read"),
        breaks=(Level.PL_2,),
        counted=READS,
        source="Liu et al. 2024; Kingsbury and Alvaro 2020 (garbage read)",
        example=plume("w(1,1,1,1) r(1,2,2,2)", "Transaction 2 reads 2; only 1 was ever written."),
        allowed=plume("w(1,1,1,1) r(1,1,2,2)", "Transaction 2 reads the 1 that was written."),
    ),
    CatalogueEntry(
        name="aborted-read",
        title="Aborted read",
        meaning="A transaction reads a value whose writer aborted.",
        aliases=("TAP-b", "G1a", "AbortedRead"),
        breaks=(Level.PL_2,),
        counted=READS,
        source="Adya 1999 (G1a); Liu et al. 2024",
        example=plume("w(1,1,1,-1) r(1,1,2,2)", "The write of 1 aborted, yet 2 reads it."),
        allowed=plume("w(1,1,1,-1) r(1,0,2,2)", "The write of 1 aborted, and no transaction saw it."),
    ),
    CatalogueEntry(
        name="future-read",
        title="Future read",
        meaning="A transaction reads a value that it writes itself only later.",
        aliases=("TAP-c", "FutureRead"),
        breaks=(Level.PL_2,),
        counted=READS,
        source="Liu et al. 2024",
        example=plume("r(1,1,1,1) w(1,1,1,1)", "Transaction 1 reads its write before making it."),
        allowed=plume("w(1,1,1,1) r(1,1,1,1)", "Transaction 1 reads its write after making it."),
    ),
    CatalogueEntry(
        name="not-my-own-write",
        title="Not my own write",
        meaning="A transaction wrote a key and then reads a value of it that it did not write.",
        aliases=("TAP-d", "NotMyOwnWrite"),
        breaks=(Level.PL_2,),
        counted=READS,
        source="Liu et al. 2024",
        example=plume(
            "w(1,1,1,1) w(1,2,2,2) r(1,1,2,2)",
            "Transaction 2 writes 2 and then reads transaction 1's value.",
        ),
        allowed=plume(
            "w(1,1,1,1) r(1,1,2,2) w(1,2,2,2)",
            "Transaction 2 reads transaction 1's value and then writes 2.",
        ),
    ),
    CatalogueEntry(
        name="not-my-last-write",
        title="Not my last write",
        meaning="A transaction wrote a key several times and then reads one of its earlier values.",
        aliases=("TAP-e", "NotMyLastWrite"),
        breaks=(Level.PL_2,),
        counted=READS,
        source="Liu et al. 2024",
        example=plume("w(1,1,1,1) w(1,2,1,1) r(1,1,1,1)", "Transaction 1 wrote 1, then 2, and reads 1."),
        allowed=plume("w(1,1,1,1) w(1,2,1,1) r(1,2,1,1)", "Transaction 1 wrote 1, then 2, and reads 2."),
    ),
    CatalogueEntry(
        name="intermediate-read",
        title="Intermediate read",
        meaning="A transaction reads a value that its writer overwrote before committing.",
        aliases=("TAP-f", "G1b", "IntermediateRead"),
        breaks=(Level.PL_2,),
        counted=READS,
        source="Adya 1999 (G1b); Liu et al. 2024",
        example=plume("w(1,1,1,1) w(1,2,1,1) r(1,1,2,2)", "Transaction 2 sees transaction 1's first write."),
        allowed=plume("w(1,1,1,1) w(1,2,1,1) r(1,2,2,2)", "Transaction 2 sees transaction 1's last write."),
    ),
)
