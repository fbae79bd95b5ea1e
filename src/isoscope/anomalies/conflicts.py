"""Conflicts between transactions that values alone show: TAP-g to TAP-n."""

from isoscope.anomalies.entry import COMPONENTS, READER_KEY, CatalogueEntry, plume
from isoscope.levels import Level

__all__ = ["ENTRIES"]

ENTRIES = (
    CatalogueEntry(
        name="cyclic-causal-order",
        title="Cyclic causal order",
        meaning="By reads and the order of each session, a transaction comes before itself.",
        aliases=("TAP-g", "CyclicCO"),
        # A commit order must contain session order and reads-from: no read-committed order exists.
        # A cycle of reads alone breaks pl-2 as well; one that needs a session may leave it whole,
        # but not pl-2 with session order.
        breaks=(Level.READ_COMMITTED, Level.STRONG_SESSION_PL_2),
        counted=COMPONENTS,
        source="Bouajjani et al. 2017; Liu et al. 2024",
        example=plume(
            "r(2,1,1,1) w(1,1,1,2) r(1,1,2,3) w(2,1,2,3)",
            "Transaction 3 reads from 2, which follows 1 in its session, and 1 reads from 3.",
        ),
        allowed=plume(
            "r(2,0,1,1) w(1,1,1,2) r(1,1,2,3) w(2,1,2,3)",
            "Transaction 1 reads key 2 before 3 writes it.",
        ),
    ),
    CatalogueEntry(
        name="non-monotonic-read-co",
        title="Non-monotonic read (causal order)",
        meaning="A transaction sees another's write and later reads a key from before the other's "
        "write of it; that the value is older follows from causal order.",
        aliases=("TAP-h", "NonMonoReadCO"),
        breaks=(Level.READ_COMMITTED,),
        counted=READER_KEY,
        source="Biswas and Enea 2019; Liu et al. 2024",
        example=plume(
            "w(1,1,1,1) w(2,1,1,1) r(2,1,2,2) r(1,0,2,2)",
            "Transaction 2 sees transaction 1 in key 2, and then the initial value of key 1.",
        ),
        allowed=plume(
            "w(1,1,1,1) w(2,1,1,1) r(2,1,2,2) r(1,1,2,2)",
            "Transaction 2 sees transaction 1 in key 2, and then in key 1.",
        ),
    ),
    CatalogueEntry(
        name="non-monotonic-read-cm",
        title="Non-monotonic read (commit order)",
        meaning="A transaction sees another's write and later reads a key from before the other's "
        "write of it; that the value is older follows from other reads.",
        aliases=("TAP-i", "NonMonoReadCM", "NonMonoReadAO"),
        breaks=(Level.READ_COMMITTED,),
        counted=READER_KEY,
        source="Biswas and Enea 2019; Liu et al. 2024",
        example=plume(
            "w(1,1,1,1) w(2,1,1,1) w(1,2,2,2) w(2,2,2,2) r(2,2,3,3) r(1,1,3,3) r(2,2,3,3)",
            "Transaction 3 sees 2, then a key from 1, then a key from 2 again: each must be older.",
        ),
        allowed=plume(
            "w(1,1,1,1) w(2,1,1,1) w(1,2,2,2) w(2,2,2,2) r(2,2,3,3) r(1,2,3,3) r(2,2,3,3)",
            "Transaction 3 sees 2 in both keys.",
        ),
    ),
    CatalogueEntry(
        name="non-repeatable-read",
        title="Non-repeatable read",
        meaning="A transaction reads one key twice, without writing it, and sees different values.",
        aliases=("TAP-j", "NonRepeatableRead", "fuzzy-read", "A2"),
        breaks=(Level.CUT_ISOLATION,),
        counted=READER_KEY,
        source="Berenson et al. 1995 (A2); Liu et al. 2024",
        example=plume("w(1,1,1,1) r(1,0,2,2) r(1,1,2,2)", "Transaction 2 reads 0 and then 1 from key 1."),
        allowed=plume("w(1,1,1,1) r(1,1,2,2) r(1,1,2,2)", "Transaction 2 reads 1 both times."),
    ),
    CatalogueEntry(
        name="fractured-read-co",
        title="Fractured read (causal order)",
        meaning="A transaction sees one write of another and misses another write of it; that it "
        "was missed follows from causal order.",
        aliases=("TAP-k", "FracturedReadCO"),
        breaks=(Level.READ_ATOMIC,),
        counted=READER_KEY,
        source="Bailis et al. 2014; Liu et al. 2024",
        example=plume(
            "w(1,1,1,1) w(2,1,1,1) r(1,0,2,2) r(2,1,2,2)",
            "Transaction 2 misses transaction 1 in key 1 and then sees it in key 2.",
        ),
        allowed=plume(
            "w(1,1,1,1) w(2,1,1,1) r(1,0,2,2) r(2,0,2,2)",
            "Transaction 2 misses transaction 1 in both keys.",
        ),
    ),
    CatalogueEntry(
        name="fractured-read-cm",
        title="Fractured read (commit order)",
        meaning="A transaction sees one write of another and misses another write of it; that it "
        "was missed follows from other reads.",
        aliases=("TAP-l", "FracturedReadCM", "FracturedReadAO"),
        breaks=(Level.READ_ATOMIC,),
        counted=READER_KEY,
        source="Bailis et al. 2014; Liu et al. 2024",
        example=plume(
            "w(1,1,1,1) w(2,1,1,1) w(1,2,2,2) w(3,2,2,2) r(1,1,3,3) r(3,2,3,3) r(1,2,4,4) r(2,1,4,4)",
            "Readers 3 and 4 each see both writers of key 1, and disagree on which came last.",
        ),
        allowed=plume(
            "w(1,1,1,1) w(2,1,1,1) w(1,2,2,2) w(3,2,2,2) r(1,1,3,3) r(3,2,3,3) r(1,2,4,4) r(2,0,4,4)",
            "Reader 4 has not seen 1, so only reader 3 knows which came last.",
        ),
    ),
    CatalogueEntry(
        name="causal-conflict",
        title="Causality violation",
        meaning="A transaction sees an indirect consequence of a write, but not the write.",
        aliases=("TAP-m", "COConflictCM", "COConflictAO"),
        breaks=(Level.CAUSAL,),
        counted=READER_KEY,
        source="Lloyd et al. 2011; Liu et al. 2024",
        example=plume(
            "w(1,1,1,1) r(1,1,2,2) w(2,1,2,2) r(2,1,3,3) r(1,0,3,3)",
            "Transaction 3 sees transaction 2, which had read from 1, but does not see 1.",
        ),
        allowed=plume(
            "w(1,1,1,1) r(1,1,2,2) w(2,1,2,2) r(2,1,3,3) r(1,1,3,3)",
            "Transaction 3 sees transaction 2, and 1 as well.",
        ),
    ),
    CatalogueEntry(
        name="commit-order-conflict",
        title="Conflicting commit orders",
        meaning="Concurrent writes of one key are seen in opposite orders, so that the views of "
        "two clients never converge.",
        aliases=("TAP-n", "ConflictCM", "ConflictAO"),
        breaks=(Level.CAUSAL,),
        counted=READER_KEY,
        source="Biswas and Enea 2019; Liu et al. 2024",
        example=plume(
            "w(1,1,1,1) w(1,2,2,2) r(1,1,3,3) r(1,2,3,4) r(1,2,4,5) r(1,1,4,6)",
            "Session 3 sees 1 and then 2; session 4 sees 2 and then 1.",
        ),
        allowed=plume(
            "w(1,1,1,1) w(1,2,2,2) r(1,1,3,3) r(1,2,3,4) r(1,2,4,5) r(1,2,4,6)",
            "Session 3 sees 1 and then 2; session 4 sees 2 and stays with it.",
        ),
    ),
)
