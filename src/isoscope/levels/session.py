"""Levels with session order, a stronger one first."""

from isoscope.levels.definition import Definition, Family, Level

__all__ = ["DEFINITIONS"]

DEFINITIONS = (
    Definition(
        level=Level.STRONG_SESSION_SERIALIZABLE,
        family=Family.SESSION,
        meaning="The transactions seem to run one at a time, in an order that keeps every "
        "session's own order.",
        implies=(
            Level.STRONG_SESSION_SNAPSHOT_ISOLATION,  # Cerone-Gotsman 2018
            Level.SERIALIZABLE,  # Daudjee-Salem 2004
        ),
        aliases=("strong-session-ser", "elle:strong-session-serializable"),
        source="Daudjee and Salem 2004; Cerone and Gotsman 2018 (SER)",
        noun="strong session serializability",
    ),
    Definition(
        level=Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
        family=Family.SESSION,
        meaning="Snapshot isolation in which a snapshot shows everything that the session committed earlier.",
        implies=(
            Level.PREFIX,  # Cerone et al. 2015, Biswas-Enea 2019
            Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,  # Cerone-Gotsman 2018
            Level.SNAPSHOT_ISOLATION,  # Daudjee-Salem 2006
        ),
        aliases=("strong-session-si", "elle:strong-session-snapshot-isolation"),
        source="Daudjee and Salem 2006; Cerone and Gotsman 2018 (SI)",
    ),
    Definition(
        level=Level.PREFIX,
        family=Family.SESSION,
        meaning="Every transaction reads from a prefix of one commit order that all share, but "
        "two that overlap may write the same key.",
        implies=(
            Level.CAUSAL,  # Cerone et al. 2015, Biswas-Enea 2019
            Level.STRONG_SESSION_PL_2,  # a cycle of reads, writes and sessions is one of commits
        ),
        aliases=("pc", "prefix-consistency", "elle:prefix"),
        source="Burckhardt et al. 2015; Biswas and Enea 2019",
        noun="prefix consistency",
    ),
    Definition(
        level=Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,
        family=Family.SESSION,
        meaning="Parallel snapshot isolation in which a snapshot shows everything that the session "
        "committed earlier.",
        implies=(
            Level.CAUSAL,  # Cerone et al. 2015
            Level.UPDATE_ATOMIC,  # Cerone et al. 2017
            Level.PARALLEL_SNAPSHOT_ISOLATION,  # Cerone-Gotsman 2018, without session order
            # An older version than the session wrote or read before is a read skew: rw, then session.
            Level.READ_YOUR_WRITES,
            Level.MONOTONIC_READS,
            Level.STRONG_SESSION_PL_2,  # the same cycles are forbidden
        ),
        aliases=("strong-session-psi",),
        source="Sovran et al. 2011; Cerone and Gotsman 2018 (PSI)",
    ),
    Definition(
        level=Level.UPDATE_ATOMIC,
        family=Family.SESSION,
        meaning="Read atomic, and of two transactions that write the same key one sees the other.",
        implies=(
            Level.READ_ATOMIC,  # Cerone et al. 2017
            # A transaction that updates what it read has seen all earlier updates: none comes in between.
            Level.CURSOR_STABILITY,
        ),
        aliases=("ua", "rola", "elle:update-atomic"),
        source="Cerone et al. 2017 (UA); Liu et al. 2018 (ROLA)",
        decided=False,
        noun="update atomicity",
    ),
    Definition(
        level=Level.CAUSAL,
        family=Family.SESSION,
        meaning="A transaction that sees another also sees everything that the other could have known: what "
        "it read, what its session did before, and so on back.",
        implies=(Level.READ_ATOMIC,),  # Biswas-Enea 2019
        aliases=(
            "tcc",
            "cc",
            "causal-consistency",
            "transactional-causal-consistency",
            "elle:causal-cerone",
        ),
        source="Lloyd et al. 2011; Biswas and Enea 2019 (CC)",
        noun="causal consistency",
    ),
    Definition(
        level=Level.READ_ATOMIC,
        family=Family.SESSION,
        meaning="A transaction sees all of another's writes or none of them, and all the writes "
        "of its own session's earlier transactions.",
        implies=(
            Level.READ_COMMITTED,  # Biswas-Enea 2019
            Level.CUT_ISOLATION,  # Liu et al. 2024, theorem 1
        ),
        aliases=("ra", "read-atomicity", "elle:read-atomic"),
        source="Bailis et al. 2014; Biswas and Enea 2019 (RA)",
        noun="read atomicity",
    ),
    Definition(
        level=Level.READ_COMMITTED,
        family=Family.SESSION,
        meaning="Only committed final values are read, and a transaction that has seen another "
        "does not read older values than the other wrote.",
        implies=(Level.MONOTONIC_ATOMIC_VIEW,),  # Biswas-Enea 2019: PL-2, and later reads go on seeing
        aliases=("rc",),
        source="Biswas and Enea 2019 (RC)",
        noun="read committed",
        note="read-committed is the level of Biswas and Enea",
    ),
    Definition(
        level=Level.STRONG_SESSION_PL_2,
        family=Family.SESSION,
        meaning="Only committed final values are read, and neither writes nor information flow "
        "run in a circle or against a session's order.",
        implies=(
            Level.PL_2,  # Kingsbury-Alvaro 2020
            Level.STRONG_SESSION_PL_1,  # Kingsbury-Alvaro 2020
            # What was read is older than what its session writes later: else wr, session and ww are a cycle.
            Level.WRITES_FOLLOW_READS,
        ),
        aliases=("elle:strong-session-pl-2", "elle:strong-session-read-committed"),
        source="Kingsbury and Alvaro 2020, after Adya 1999",
    ),
    Definition(
        level=Level.STRONG_SESSION_PL_1,
        family=Family.SESSION,
        meaning="Writes of different transactions take effect in one order that agrees with "
        "every session's own.",
        implies=(
            Level.PL_1,  # Kingsbury-Alvaro 2020
            Level.MONOTONIC_WRITES,  # a session's writes of one key are writes in its order
        ),
        aliases=("elle:strong-session-pl-1", "elle:strong-session-read-uncommitted"),
        source="Kingsbury and Alvaro 2020, after Adya 1999",
    ),
    Definition(
        level=Level.READ_YOUR_WRITES,
        family=Family.SESSION,
        meaning="A session that wrote a key does not later read an older version of it.",
        implies=(),
        aliases=("ryw", "elle:read-your-writes"),
        source="Terry et al. 1994",
    ),
    Definition(
        level=Level.MONOTONIC_READS,
        family=Family.SESSION,
        meaning="A session that read a version of a key does not later read an older one.",
        implies=(),
        aliases=("mr", "elle:monotonic-reads"),
        source="Terry et al. 1994",
    ),
    Definition(
        level=Level.MONOTONIC_WRITES,
        family=Family.SESSION,
        meaning="A session's writes of one key take effect in its order.",
        implies=(),
        aliases=("mw", "elle:monotonic-writes"),
        source="Terry et al. 1994",
    ),
    Definition(
        level=Level.WRITES_FOLLOW_READS,
        family=Family.SESSION,
        meaning="What a session writes to a key comes after the versions of it that the session read before.",
        implies=(),
        aliases=("wfr", "elle:writes-follow-reads"),
        source="Terry et al. 1994",
    ),
    Definition(
        level=Level.SESSION_SERIALIZABLE,
        family=Family.SESSION,
        meaning="One-copy serializable, in an order that keeps every session's own order.",
        implies=(),
        aliases=("elle:session-serializable",),
        source="Daudjee and Salem 2004",
        decided=False,
        noun="session serializability",
    ),
    Definition(
        level=Level.SEQUENTIAL,
        family=Family.SESSION,
        meaning="Single operations seem to take effect one at a time, in an order that keeps every "
        "session's own order.",
        implies=(),
        aliases=("sequential-consistency", "elle:sequential"),
        source="Lamport 1979",
        decided=False,
        noun="sequential consistency",
    ),
    Definition(
        level=Level.CAUSAL_MEMORY,
        family=Family.SESSION,
        meaning="Every session sees single operations that depend on one another in the same order.",
        implies=(),
        aliases=("elle:causal",),
        source="Ahamad et al. 1995",
        decided=False,
    ),
    Definition(
        level=Level.PRAM,
        family=Family.SESSION,
        meaning="Every session sees the single writes of each other session in the order of that session.",
        implies=(),
        aliases=("fifo", "elle:pram"),
        source="Lipton and Sandberg 1988",
        decided=False,
    ),
)
