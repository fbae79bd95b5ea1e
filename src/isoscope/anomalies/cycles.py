"""Cycles of writes and reads, plain, with session order and with real time.

A cycle has the name of the weakest order that closes it: a cycle that closes without a session is no
`-session` one, and a cycle that sessions close is no `-real-time` one.
"""

from isoscope.anomalies.entry import COMPONENTS, NEW_COMPONENTS, CatalogueEntry, jepsen
from isoscope.levels import Level

__all__ = ["ENTRIES"]

ENTRIES = (
    CatalogueEntry(
        name="write-cycle",
        title="Write cycle",
        meaning="The writes of several transactions are interleaved: by the order of the versions "
        "each comes before the others.",
        aliases=("G0", "dirty-write", "P0"),
        breaks=(Level.PL_1,),
        counted=COMPONENTS,
        source="Adya 1999 (G0)",
        example=jepsen(
            "ok 0 [:append :x 1] [:append :y 1]",
            "ok 1 [:append :x 2] [:append :y 2]",
            "ok 2 [:r :x [1 2]] [:r :y [2 1]]",
            note="The first transaction comes first in x and last in y.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1] [:append :y 1]",
            "ok 1 [:append :x 2] [:append :y 2]",
            "ok 2 [:r :x [1 2]] [:r :y [1 2]]",
            note="The first transaction comes first in x and in y.",
        ),
    ),
    CatalogueEntry(
        name="write-cycle-session",
        title="Write cycle (session order)",
        meaning="A session's writes take effect against its order: by the versions, and by the order of "
        "each session, a write comes before itself.",
        aliases=("G0-process",),
        breaks=(Level.STRONG_SESSION_PL_1,),
        counted=NEW_COMPONENTS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "ok 0 [:append :x 1]",
            "ok 0 [:append :x 2]",
            "ok 1 [:r :x [2 1]]",
            note="Process 0 appended 1 and then 2, and the list has them the other way round.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1]",
            "ok 0 [:append :x 2]",
            "ok 1 [:r :x [1 2]]",
            note="The list has them in the order of the process.",
        ),
    ),
    CatalogueEntry(
        name="write-cycle-real-time",
        title="Write cycle (real time)",
        meaning="A write takes effect before one that had finished when it began: by the versions, and by "
        "real time, a write comes before itself.",
        aliases=("G0-realtime",),
        breaks=(Level.STRONG_PL_1,),
        counted=NEW_COMPONENTS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "invoke 0 [:append :x 1]",
            "ok 0 [:append :x 1]",
            "invoke 1 [:append :x 2]",
            "ok 1 [:append :x 2]",
            "invoke 2 [:r :x nil]",
            "ok 2 [:r :x [2 1]]",
            note="The append of 1 had finished before that of 2 began, yet 2 stands first.",
        ),
        allowed=jepsen(
            "invoke 0 [:append :x 1]",
            "invoke 1 [:append :x 2]",
            "ok 0 [:append :x 1]",
            "ok 1 [:append :x 2]",
            "invoke 2 [:r :x nil]",
            "ok 2 [:r :x [2 1]]",
            note="The two appends overlap, so that either may come first.",
        ),
    ),
    CatalogueEntry(
        name="circular-information-flow",
        title="Circular information flow",
        meaning="By reads and overwritten versions, a transaction comes before itself.",
        aliases=("G1c",),
        breaks=(Level.PL_2,),
        counted=COMPONENTS,
        source="Adya 1999 (G1c)",
        example=jepsen(
            "ok 0 [:append :x 1] [:r :y [1]]",
            "ok 1 [:append :x 2] [:append :y 1]",
            "ok 2 [:r :x [1 2]]",
            note="The first transaction reads y from the second, which appended to x after it.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1] [:r :y [1]]",
            "ok 1 [:append :x 2] [:append :y 1]",
            "ok 2 [:r :x [2 1]]",
            note="The first transaction reads y from the second, which appended to x before it.",
        ),
    ),
    CatalogueEntry(
        name="circular-information-flow-session",
        title="Circular information flow (session order)",
        meaning="By reads, overwritten versions and the order of each session, a transaction comes "
        "before itself.",
        aliases=("G1c-process",),
        breaks=(Level.STRONG_SESSION_PL_2,),
        counted=NEW_COMPONENTS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "ok 0 [:r :x [1]]",
            "ok 0 [:append :x 1]",
            note="Process 0 reads the 1 that it appends only in its next transaction.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1]",
            "ok 0 [:r :x [1]]",
            note="Process 0 appends 1 and reads it in its next transaction.",
        ),
    ),
    CatalogueEntry(
        name="circular-information-flow-real-time",
        title="Circular information flow (real time)",
        meaning="By reads, overwritten versions and real time, a transaction comes before itself.",
        aliases=("G1c-realtime",),
        breaks=(Level.STRONG_PL_2,),
        counted=NEW_COMPONENTS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "invoke 0 [:r :x nil]",
            "ok 0 [:r :x [1]]",
            "invoke 1 [:append :x 1]",
            "ok 1 [:append :x 1]",
            note="The read had finished before the append of what it shows began.",
        ),
        allowed=jepsen(
            "invoke 0 [:r :x nil]",
            "invoke 1 [:append :x 1]",
            "ok 0 [:r :x [1]]",
            "ok 1 [:append :x 1]",
            note="The append had begun before the read finished.",
        ),
    ),
)
