"""Levels without sessions, a stronger one first."""

from isoscope.levels.definition import Definition, Family, Level

__all__ = ["DEFINITIONS"]

DEFINITIONS = (
    Definition(
        level=Level.SERIALIZABLE,
        family=Family.SESSIONLESS,
        meaning="The transactions seem to run one at a time, in some order.",
        implies=(
            Level.SNAPSHOT_ISOLATION,  # Cerone-Gotsman 2018
            Level.REPEATABLE_READ,  # Adya 1999
            Level.UPDATE_SERIALIZABLE,  # Adya 1999
        ),
        aliases=(
            "ser",
            "pl-3",
            "serializability",
            "elle:pl-3",
            "elle:serializable",
            "elle:conflict-serializable",
        ),
        source="Papadimitriou 1979; Adya 1999 (PL-3)",
        noun="serializability",
    ),
    Definition(
        level=Level.SNAPSHOT_ISOLATION,
        family=Family.SESSIONLESS,
        meaning="Every transaction reads from one consistent snapshot, and of two that overlap "
        "and write the same key only one commits.",
        implies=(
            Level.PARALLEL_SNAPSHOT_ISOLATION,  # Cerone-Gotsman 2018
            Level.FORWARD_CONSISTENT_VIEW,  # Adya 1999
            Level.MONOTONIC_SNAPSHOT_READ,  # Adya 1999
        ),
        aliases=("si", "pl-si", "elle:pl-si", "elle:snapshot-isolation"),
        source="Berenson et al. 1995; Adya 1999 (PL-SI)",
    ),
    Definition(
        level=Level.REPEATABLE_READ,
        family=Family.SESSIONLESS,
        meaning="Serializable as far as single rows go; only a search condition may find rows "
        "that were not there before.",
        implies=(Level.CONSISTENT_VIEW,),  # Adya 1999
        aliases=("rr", "pl-2.99", "elle:pl-2.99", "elle:repeatable-read"),
        source="Adya 1999 (PL-2.99)",
        noun="repeatable read (PL-2.99)",
        note="repeatable-read is Adya's PL-2.99",
    ),
    Definition(
        level=Level.UPDATE_SERIALIZABLE,
        family=Family.SESSIONLESS,
        meaning="The transactions that write are serializable, and each read-only one fits in "
        "with them, though two read-only ones may disagree.",
        # Where nothing is said to have begun late, forward consistent view asks no more than consistent view.
        implies=(Level.FORWARD_CONSISTENT_VIEW,),
        aliases=("pl-3u", "elle:pl-3u", "elle:update-serializable"),
        source="Hansdah and Patnaik 1986; Adya 1999 (PL-3U)",
        noun="update serializability",
    ),
    Definition(
        level=Level.PARALLEL_SNAPSHOT_ISOLATION,
        family=Family.SESSIONLESS,
        meaning="Snapshot isolation, except that two readers may see independent updates appear "
        "in opposite orders.",
        implies=(Level.CONSISTENT_VIEW,),  # Cerone-Gotsman 2018
        aliases=("psi", "elle:parallel-snapshot-isolation"),
        source="Sovran et al. 2011; Cerone and Gotsman 2018 (PSI)",
    ),
    Definition(
        level=Level.FORWARD_CONSISTENT_VIEW,
        family=Family.SESSIONLESS,
        meaning="A transaction may see updates that were committed after it began, but misses nothing "
        "that they build on or that was committed before it began.",
        implies=(Level.CONSISTENT_VIEW,),  # Adya 1999
        aliases=("pl-fcv", "elle:pl-fcv", "elle:forward-consistent-view"),
        source="Adya 1999 (PL-FCV)",
        decided=False,
    ),
    Definition(
        level=Level.CONSISTENT_VIEW,
        family=Family.SESSIONLESS,
        meaning="A transaction that sees an update misses nothing that the update builds on.",
        implies=(
            Level.CURSOR_STABILITY,  # Adya 1999
            Level.MONOTONIC_VIEW,  # Adya 1999
            # Two reads of one key that differ are a G-single: rw to the newer version, wr back.
            Level.CUT_ISOLATION,
        ),
        aliases=("pl-2+", "elle:pl-2+", "elle:consistent-view"),
        source="Adya 1999 (PL-2+)",
    ),
    Definition(
        level=Level.CURSOR_STABILITY,
        family=Family.SESSIONLESS,
        meaning="A row that a transaction reads and then updates is not changed by another transaction in "
        "between.",
        implies=(Level.PL_2,),  # Adya 1999
        aliases=("pl-cs", "elle:pl-cs", "elle:cursor-stability"),
        source="Berenson et al. 1995; Adya 1999 (PL-CS)",
    ),
    Definition(
        level=Level.MONOTONIC_VIEW,
        family=Family.SESSIONLESS,
        meaning="From the moment when a transaction sees an update, its later reads miss nothing "
        "that the update builds on.",
        implies=(Level.MONOTONIC_ATOMIC_VIEW,),  # the update's own other writes are the least it builds on
        aliases=("pl-2l", "elle:pl-2l", "elle:monotonic-view"),
        source="Adya 1999 (PL-2L)",
    ),
    Definition(
        level=Level.MONOTONIC_SNAPSHOT_READ,
        family=Family.SESSIONLESS,
        meaning="Every read sees a consistent snapshot, and those of later reads are no older.",
        implies=(Level.PL_2,),  # Adya 1999
        aliases=("pl-msr", "elle:pl-msr", "elle:monotonic-snapshot-read"),
        source="Adya 1999 (PL-MSR)",
        decided=False,
    ),
    Definition(
        level=Level.MONOTONIC_ATOMIC_VIEW,
        family=Family.SESSIONLESS,
        meaning="From the moment when a transaction sees a write of another, its later reads miss none "
        "of the other's writes.",
        implies=(Level.PL_2,),  # Bailis et al. 2013
        aliases=("mav", "elle:monotonic-atomic-view"),
        source="Bailis et al. 2013 (MAV)",
        decided=False,
    ),
    Definition(
        level=Level.PL_2,
        family=Family.SESSIONLESS,
        meaning="Only committed final values are read, and neither writes nor information flow "
        "run in a circle.",
        implies=(Level.PL_1,),  # Adya 1999
        aliases=("elle:pl-2", "elle:read-committed"),
        source="Adya 1999 (PL-2)",
    ),
    Definition(
        level=Level.PL_1,
        family=Family.SESSIONLESS,
        meaning="Writes of different transactions are not interleaved: on every key they take "
        "effect in the same order.",
        implies=(),
        aliases=("ru", "read-uncommitted", "elle:pl-1", "elle:read-uncommitted"),
        source="Adya 1999 (PL-1)",
    ),
    Definition(
        level=Level.CUT_ISOLATION,
        family=Family.SESSIONLESS,
        meaning="A transaction that reads a key twice without writing it sees the same value.",
        implies=(),
        aliases=("ci", "item-cut-isolation"),
        source="Bailis et al. 2013; Liu et al. 2024 (CI)",
    ),
    Definition(
        level=Level.VIEW_SERIALIZABLE,
        family=Family.SESSIONLESS,
        meaning="Some serial order gives every read the value that it returned and every key the value "
        "that it ended with.",
        implies=(),
        aliases=("elle:view-serializable",),
        source="Yannakakis 1984",
        decided=False,
        noun="view serializability",
    ),
    Definition(
        level=Level.ONE_COPY_SERIALIZABLE,
        family=Family.SESSIONLESS,
        meaning="The transactions on all replicas seem to run one at a time on a single copy of the data.",
        implies=(),
        aliases=("1sr", "elle:1sr"),
        source="Bernstein and Goodman 1983",
        decided=False,
        noun="one-copy serializability",
    ),
)
