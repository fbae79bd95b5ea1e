"""Cycles in which a read missed a write (rw): plain, with session order and with real time."""

from isoscope.anomalies.entry import (
    COMPONENTS,
    NEW_COMPONENTS,
    NEW_READER_KEY,
    READER_KEY,
    CatalogueEntry,
    jepsen,
)
from isoscope.levels import Level

__all__ = ["ENTRIES"]

ENTRIES = (
    CatalogueEntry(
        name="lost-update",
        title="Lost update",
        meaning="Two transactions read the same version of a key and both overwrite it, so that "
        "one update was made in ignorance of the other.",
        aliases=("P4",),
        breaks=(Level.CURSOR_STABILITY,),
        counted="(transaction, key) pairs: of those that started from one version, all but the next one",
        source="Berenson et al. 1995 (P4); Adya 1999",
        example=jepsen(
            "ok 0 [:r :x []] [:append :x 1]",
            "ok 1 [:r :x []] [:append :x 2]",
            "ok 2 [:r :x [1 2]]",
            note="Both writers started from the empty list.",
        ),
        allowed=jepsen(
            "ok 0 [:r :x []] [:append :x 1]",
            "ok 1 [:r :x [1]] [:append :x 2]",
            "ok 2 [:r :x [1 2]]",
            note="The second writer started from what the first had left.",
        ),
    ),
    CatalogueEntry(
        name="read-skew",
        title="Read skew",
        meaning="A transaction sees an update and misses something that the update builds on: a "
        "cycle with exactly one read of an overwritten version.",
        aliases=("G-single", "G-single-item", "A5A"),
        breaks=(Level.CONSISTENT_VIEW,),
        counted=f"{READER_KEY} that are no lost update",
        source="Adya 1999 (G-single); Berenson et al. 1995 (A5A)",
        example=jepsen(
            "ok 0 [:append :x 1] [:append :y 1]",
            "ok 1 [:r :x []] [:r :y [1]]",
            note="The reader misses the update of x and sees that of y.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1] [:append :y 1]",
            "ok 1 [:r :x [1]] [:r :y [1]]",
            note="The reader sees both updates.",
        ),
    ),
    CatalogueEntry(
        name="read-skew-session",
        title="Read skew (session order)",
        meaning="A transaction misses what its own session did or saw before, or what that builds on: a "
        "cycle with session order and exactly one read of an overwritten version.",
        aliases=("G-single-process", "G-single-item-process"),
        breaks=(Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,),
        counted=NEW_READER_KEY,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "ok 0 [:append :x 1]",
            "ok 0 [:r :x []]",
            note="Process 0 does not see what it appended before.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1]",
            "ok 0 [:r :x [1]]",
            note="Process 0 sees what it appended before.",
        ),
    ),
    CatalogueEntry(
        name="read-skew-real-time",
        title="Read skew (real time)",
        meaning="A transaction misses an update that had finished before it began, or what such an update "
        "builds on: a cycle with real time and exactly one read of an overwritten version.",
        aliases=("G-single-realtime", "G-single-item-realtime"),
        breaks=(Level.STRONG_SNAPSHOT_ISOLATION,),
        counted=NEW_READER_KEY,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "invoke 0 [:append :x 1]",
            "ok 0 [:append :x 1]",
            "invoke 1 [:r :x nil]",
            "ok 1 [:r :x []]",
            note="The append had finished before the read began, and the read misses it.",
        ),
        allowed=jepsen(
            "invoke 0 [:append :x 1]",
            "invoke 1 [:r :x nil]",
            "ok 0 [:append :x 1]",
            "ok 1 [:r :x []]",
            note="The read began before the append had finished, and may miss it.",
        ),
    ),
    CatalogueEntry(
        name="long-fork",
        title="Long fork",
        meaning="Transactions see independent updates appear in orders that contradict each other: a cycle "
        "with several reads of overwritten versions, no two of them in a row. The smallest has two readers.",
        aliases=("G-nonadjacent", "G-nonadjacent-item"),
        # Every such cycle has an anti-dependency between single rows, hence repeatable-read. Prefix
        # is broken by a fork proper; a cycle that only writes hold together can leave it whole.
        breaks=(Level.SNAPSHOT_ISOLATION, Level.REPEATABLE_READ),
        counted=COMPONENTS,
        source="Sovran et al. 2011; Cerone and Gotsman 2018; Kingsbury and Alvaro 2020",
        example=jepsen(
            "ok 0 [:append :x 1]",
            "ok 1 [:append :y 1]",
            "ok 2 [:r :x [1]] [:r :y []]",
            "ok 3 [:r :x []] [:r :y [1]]",
            note="One reader sees x before y, the other y before x.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1]",
            "ok 1 [:append :y 1]",
            "ok 2 [:r :x [1]] [:r :y []]",
            "ok 3 [:r :x [1]] [:r :y [1]]",
            note="One reader sees x before y, and the other sees both.",
        ),
    ),
    CatalogueEntry(
        name="long-fork-session",
        title="Long fork (session order)",
        meaning="Sessions go on from their own updates and do not see each other's: a cycle with session "
        "order and several reads of overwritten versions, no two of them in a row.",
        aliases=("G-nonadjacent-process", "G-nonadjacent-item-process"),
        breaks=(Level.STRONG_SESSION_SNAPSHOT_ISOLATION,),
        counted=NEW_COMPONENTS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "ok 0 [:append :x 1]",
            "ok 0 [:r :y []]",
            "ok 1 [:append :y 1]",
            "ok 1 [:r :x []]",
            note="Each process has appended, and then misses what the other appended.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1]",
            "ok 0 [:r :y []]",
            "ok 1 [:append :y 1]",
            "ok 1 [:r :x [1]]",
            note="Process 1 has appended, and then sees what process 0 appended.",
        ),
    ),
    CatalogueEntry(
        name="long-fork-real-time",
        title="Long fork (real time)",
        meaning="Transactions see updates in orders that contradict each other, one of them by real time: a "
        "cycle with real time and several reads of overwritten versions, no two of them in a row.",
        aliases=("G-nonadjacent-realtime", "G-nonadjacent-item-realtime"),
        breaks=(Level.STRONG_SNAPSHOT_ISOLATION,),
        counted=NEW_COMPONENTS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "invoke 0 [:append :x 1]",
            "invoke 1 [:r :x nil] [:r :y nil]",
            "invoke 2 [:append :y 1]",
            "ok 2 [:append :y 1]",
            "invoke 3 [:r :x nil]",
            "ok 3 [:r :x []]",
            "ok 0 [:append :x 1]",
            "ok 1 [:r :x [1]] [:r :y []]",
            note="Reader 1 sees x before y; reader 3 began after the append to y, and misses that to x.",
        ),
        allowed=jepsen(
            "invoke 0 [:append :x 1]",
            "invoke 1 [:r :x nil] [:r :y nil]",
            "invoke 2 [:append :y 1]",
            "ok 2 [:append :y 1]",
            "invoke 3 [:r :x nil]",
            "ok 3 [:r :x [1]]",
            "ok 0 [:append :x 1]",
            "ok 1 [:r :x [1]] [:r :y []]",
            note="Reader 1 sees x before y, and reader 3 sees x.",
        ),
    ),
    CatalogueEntry(
        name="write-skew",
        title="Write skew",
        meaning="Transactions each read what another then changes, and none sees the other's "
        "change: a cycle with two reads of overwritten versions in a row.",
        aliases=("G2-item", "G2", "A5B"),
        breaks=(Level.REPEATABLE_READ,),
        counted=COMPONENTS,
        source="Adya 1999 (G2-item); Berenson et al. 1995 (A5B)",
        example=jepsen(
            "ok 0 [:r :y []] [:append :x 1]",
            "ok 1 [:r :x []] [:append :y 1]",
            note="Each transaction read the key that the other changed, before the change.",
        ),
        allowed=jepsen(
            "ok 0 [:r :y []] [:append :x 1]",
            "ok 1 [:r :x [1]] [:append :y 1]",
            note="The second transaction saw the change of the first.",
        ),
    ),
    CatalogueEntry(
        name="write-skew-session",
        title="Write skew (session order)",
        meaning="Transactions each read what another then changes, and a session's order closes the "
        "circle: a cycle with session order and two reads of overwritten versions in a row.",
        aliases=("G2-item-process", "G2-process"),
        breaks=(Level.STRONG_SESSION_SERIALIZABLE,),
        counted=NEW_COMPONENTS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "ok 0 [:append :y 1]",
            "ok 0 [:r :x []]",
            "ok 1 [:r :y []] [:append :x 1]",
            note="By what they read, process 1 comes before the append of process 0 and after its read.",
        ),
        allowed=jepsen(
            "ok 0 [:append :y 1]",
            "ok 0 [:r :x []]",
            "ok 1 [:r :y [1]] [:append :x 1]",
            note="Process 1 comes after both transactions of process 0.",
        ),
    ),
    CatalogueEntry(
        name="write-skew-real-time",
        title="Write skew (real time)",
        meaning="Transactions each read what another then changes, and real time closes the circle: a "
        "cycle with real time and two reads of overwritten versions in a row.",
        aliases=("G2-item-realtime", "G2-realtime"),
        breaks=(Level.STRICT_SERIALIZABLE,),
        counted=NEW_COMPONENTS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "invoke 2 [:r :y nil] [:append :x 1]",
            "invoke 0 [:append :y 1]",
            "ok 0 [:append :y 1]",
            "invoke 1 [:r :x nil]",
            "ok 1 [:r :x []]",
            "ok 2 [:r :y []] [:append :x 1]",
            note="By what they read, 2 comes before 0 and after 1; but 0 had finished before 1 began.",
        ),
        allowed=jepsen(
            "invoke 2 [:r :y nil] [:append :x 1]",
            "invoke 0 [:append :y 1]",
            "ok 0 [:append :y 1]",
            "invoke 1 [:r :x nil]",
            "ok 1 [:r :x []]",
            "ok 2 [:r :y [1]] [:append :x 1]",
            note="By what they read, 2 comes after 0 and after 1.",
        ),
    ),
    CatalogueEntry(
        name="phantom",
        title="Phantom",
        meaning="A search does not show a row that another transaction inserts, deletes or changes, and a "
        "circle of dependencies needs that.",
        aliases=("P3", "A3"),
        breaks=(Level.SERIALIZABLE,),
        counted=READER_KEY,
        source="Berenson et al. 1995 (P3, A3); Adya 1999 (G2)",
        example=jepsen(
            "ok 0 [:rp :true {}] [:insert :x 1]",
            "ok 1 [:rp :true {}] [:insert :y 1]",
            note="Each asks for all rows and does not see the row that the other inserts.",
        ),
        allowed=jepsen(
            "ok 0 [:rp :true {}] [:insert :x 1]",
            "ok 1 [:rp :true {:x 1}] [:insert :y 1]",
            note="Process 1 sees the row, so it comes after process 0.",
        ),
    ),
    CatalogueEntry(
        name="predicate-read-miss",
        title="Predicate read miss",
        meaning="A search misses a row although every version of it that the search could have met fits "
        "the condition.",
        aliases=(),
        breaks=(Level.PL_2,),
        counted=READER_KEY,
        source="Kingsbury and Alvaro 2020 (closed predicates)",
        example=jepsen(
            "init 0 {:x 1}",
            "ok 1 [:w :x 3]",
            "ok 2 [:rp [:mod 2 1] {}]",
            note="Process 2 asks for odd values and is shown none, but :x is odd from the first.",
        ),
        allowed=jepsen(
            "init 0 {:x 1}",
            "ok 1 [:w :x 2]",
            "ok 2 [:rp [:mod 2 1] {}]",
            note="Process 2 can have read :x when it was 2.",
        ),
    ),
)
