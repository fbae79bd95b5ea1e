"""The isolation levels: their names, what they promise, and which of them imply which.

The lattice is data. A level lists only the levels that it implies directly, each with its source in
the margin; everything further follows from `implied`. Levels with session order and levels without
are two families: nothing without sessions implies anything with them.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

__all__ = [
    "DEFINITIONS",
    "LADDER",
    "MINIMUM",
    "PLAIN_LADDER",
    "Definition",
    "Family",
    "Level",
    "canonical",
    "implied",
    "implying",
    "normalise",
    "parse",
    "strongest",
    "weakest",
]


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
    stronger level does, and is violated only because a weaker one is.
    """

    level: Level
    family: Family
    meaning: str
    implies: tuple[Level, ...]
    aliases: tuple[str, ...]
    source: str
    decided: bool = True


def parse(name: str) -> Level:
    """The level called `name`, canonical or alias; case, underscores and spaces do not matter."""
    return Level(canonical(name, _NAMES, what="level"))


def implied(level: Level) -> frozenset[Level]:
    """The levels that hold wherever `level` holds, itself included."""
    return _IMPLIED[level]


def implying(level: Level) -> frozenset[Level]:
    """The levels that are broken wherever `level` is broken, itself included."""
    return frozenset(other for other in Level if level in _IMPLIED[other])


def strongest(levels: Iterable[Level]) -> tuple[Level, ...]:
    """Those of `levels` that no other of them implies, in the order of `Level`."""
    chosen = frozenset(levels)
    return tuple(level for level in Level if implying(level) & chosen == {level})


def weakest(levels: Iterable[Level]) -> tuple[Level, ...]:
    """Those of `levels` that imply no other of them, in the order of `Level`."""
    chosen = frozenset(levels)
    return tuple(level for level in Level if implied(level) & chosen == {level})


def canonical(name: str, names: Mapping[str, str], *, what: str) -> str:
    """The canonical name for `name`; `names` maps every normalised spelling to its canonical one.

    Raises `ValueError` with the closest names; `what` says there what was looked for.
    """
    spelling = normalise(name)
    if spelling in names:
        return names[spelling]
    close = dict.fromkeys(names[near] for near in difflib.get_close_matches(spelling, names))
    problem = f"unknown {what} `{name}`"
    if close:
        problem += f"; did you mean {' or '.join(f'`{near}`' for near in close)}?"
    raise ValueError(problem)


def normalise(name: str) -> str:
    """`name` in lower case, with hyphens for underscores and spaces."""
    return "-".join(name.lower().replace("_", " ").split())


_CLOCK = (
    Definition(
        level=Level.CLOCK_SNAPSHOT_ISOLATION,
        family=Family.CLOCK,
        meaning="Every transaction reads the snapshot of its start timestamp, none that overlap "
        "write the same key, and a session's transactions follow one another in time.",
        implies=(Level.STRONG_SESSION_SNAPSHOT_ISOLATION,),  # Li et al. 2025
        aliases=("clock-si",),
        source="Li et al. 2025 (CHRONOS and AION: SESSION, INT, EXT, NOCONFLICT)",
    ),
    Definition(
        level=Level.CLOCK_SERIALIZABLE,
        family=Family.CLOCK,
        meaning="Running the transactions one by one in the order of their commit timestamps "
        "gives every read the value that it returned.",
        implies=(Level.SERIALIZABLE,),  # Li et al. 2025: the replay is the serial order
        aliases=("clock-ser",),
        source="Li et al. 2025 (CHRONOS-SER and AION-SER)",
    ),
)

_REAL_TIME = (
    Definition(
        level=Level.STRICT_SERIALIZABLE,
        family=Family.REAL_TIME,
        meaning="The transactions seem to run one at a time, in an order in which each comes after "
        "all those that had finished before it began.",
        implies=(
            Level.STRONG_SESSION_SERIALIZABLE,  # Daudjee-Salem 2004
            Level.STRONG_SNAPSHOT_ISOLATION,  # Daudjee-Salem 2006
        ),
        aliases=(
            "sser",
            "pl-ss",
            "strict-serializability",
            "strong-serializable",
            "elle:pl-ss",
            "elle:strict-serializable",
            "elle:strong-serializable",
        ),
        source="Papadimitriou 1979; Herlihy and Wing 1990",
    ),
    Definition(
        level=Level.STRONG_SNAPSHOT_ISOLATION,
        family=Family.REAL_TIME,
        meaning="Snapshot isolation in which a snapshot shows everything that had been committed "
        "when the transaction began.",
        implies=(
            Level.STRONG_SESSION_SNAPSHOT_ISOLATION,  # Daudjee-Salem 2006
            Level.STRONG_PL_2,  # Kingsbury-Alvaro 2020
        ),
        aliases=("strong-si", "elle:strong-snapshot-isolation"),
        source="Daudjee and Salem 2006",
    ),
    Definition(
        level=Level.STRONG_PL_2,
        family=Family.REAL_TIME,
        meaning="Only committed final values are read, and neither writes nor information flow "
        "run in a circle or against real time.",
        implies=(
            Level.STRONG_SESSION_PL_2,  # Kingsbury-Alvaro 2020
            Level.STRONG_PL_1,  # Kingsbury-Alvaro 2020
        ),
        aliases=("elle:strong-pl-2", "elle:strong-read-committed"),
        source="Kingsbury and Alvaro 2020, after Adya 1999",
    ),
    Definition(
        level=Level.STRONG_PL_1,
        family=Family.REAL_TIME,
        meaning="Writes of different transactions take effect in one order that agrees with real time.",
        implies=(Level.STRONG_SESSION_PL_1,),  # Kingsbury-Alvaro 2020
        aliases=("elle:strong-pl-1", "elle:strong-read-uncommitted"),
        source="Kingsbury and Alvaro 2020, after Adya 1999",
    ),
    Definition(
        level=Level.LINEARIZABLE,
        family=Family.REAL_TIME,
        meaning="Single operations on one object seem to take effect one at a time, each at a moment "
        "between its invocation and its completion.",
        implies=(),
        aliases=("linearizability", "elle:linearizable"),
        source="Herlihy and Wing 1990",
        decided=False,
    ),
)

_SESSION = (
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
            Level.STRONG_SESSION_PL_2,  # a circle of reads, writes and sessions is one of commits
        ),
        aliases=("pc", "prefix-consistency", "elle:prefix"),
        source="Burckhardt et al. 2015; Biswas and Enea 2019",
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
            Level.STRONG_SESSION_PL_2,  # the same circles are forbidden
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
            # Who updates what he read has seen all earlier updates of it: none comes in between.
            Level.CURSOR_STABILITY,
        ),
        aliases=("ua", "rola", "elle:update-atomic"),
        source="Cerone et al. 2017 (UA); Liu et al. 2018 (ROLA)",
        decided=False,
    ),
    Definition(
        level=Level.CAUSAL,
        family=Family.SESSION,
        meaning="Whoever sees a transaction also sees everything that it could have known: what "
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
    ),
    Definition(
        level=Level.READ_COMMITTED,
        family=Family.SESSION,
        meaning="Only committed final values are read, and a transaction that has seen another "
        "does not read older values than the other wrote.",
        implies=(Level.MONOTONIC_ATOMIC_VIEW,),  # Biswas-Enea 2019: PL-2, and who has seen goes on seeing
        aliases=("rc",),
        source="Biswas and Enea 2019 (RC)",
    ),
    Definition(
        level=Level.STRONG_SESSION_PL_2,
        family=Family.SESSION,
        meaning="Only committed final values are read, and neither writes nor information flow "
        "run in a circle or against a session's order.",
        implies=(
            Level.PL_2,  # Kingsbury-Alvaro 2020
            Level.STRONG_SESSION_PL_1,  # Kingsbury-Alvaro 2020
            # What was read is older than what its session writes later: else wr, session and ww in a circle.
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

_SESSIONLESS = (
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
        meaning="A row that a transaction reads and then updates is not changed by anyone else in between.",
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
    ),
    Definition(
        level=Level.ONE_COPY_SERIALIZABLE,
        family=Family.SESSIONLESS,
        meaning="The transactions on all replicas seem to run one at a time on a single copy of the data.",
        implies=(),
        aliases=("1sr", "elle:1sr"),
        source="Bernstein and Goodman 1983",
        decided=False,
    ),
)

DEFINITIONS: Mapping[Level, Definition] = MappingProxyType(
    {definition.level: definition for definition in (*_CLOCK, *_REAL_TIME, *_SESSION, *_SESSIONLESS)}
)

#: The best known levels with session order, each of which implies those before it: what a report leads with.
LADDER = (
    Level.READ_COMMITTED,
    Level.READ_ATOMIC,
    Level.CAUSAL,
    Level.PREFIX,
    Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
    Level.STRONG_SESSION_SERIALIZABLE,
)
#: The same without sessions: what a report adds where sessions make a difference.
PLAIN_LADDER = (
    Level.PL_1,
    Level.PL_2,
    Level.CONSISTENT_VIEW,
    Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE,
)
#: What no database should break: these decide where nobody names a level.
MINIMUM = (Level.PL_2, Level.READ_COMMITTED, Level.CUT_ISOLATION)

_NAMES = {
    normalise(name): definition.level.value
    for definition in DEFINITIONS.values()
    for name in (definition.level.value, *definition.aliases)
}


def _closures() -> dict[Level, frozenset[Level]]:
    """For each level all that it implies; every level stands after those that imply it."""
    closures: dict[Level, frozenset[Level]] = {}
    for level in reversed(Level):
        further = (closures[weaker] for weaker in DEFINITIONS[level].implies)
        closures[level] = frozenset({level}).union(*further)
    return closures


_IMPLIED = _closures()
