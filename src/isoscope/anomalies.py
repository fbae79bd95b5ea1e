"""The catalogue of anomalies: what each means, what it breaks, and a small history that shows it.

The catalogue names and explains. Verdicts come from each level's own condition, never from here.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from isoscope.levels import Level, canonical, implying, normalise

__all__ = ["CATALOGUE", "CatalogueEntry", "Example", "broken", "family", "find"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A whole history, ready to be saved to a file and checked."""

    format: str
    text: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One anomaly; `breaks` holds the weakest levels that forbid it, `broken` finds the others.

    `breaks` is empty if the anomaly convicts a mechanism or the evidence rather than a level.
    `allowed` is the nearest history that does not show the anomaly.
    """

    name: str
    title: str
    meaning: str
    aliases: tuple[str, ...]
    breaks: tuple[Level, ...]
    counted: str
    source: str
    example: Example | None = None
    allowed: Example | None = None


def find(name: str) -> CatalogueEntry:
    """The anomaly called `name`, by its own name or a paper's; case does not matter."""
    return CATALOGUE[canonical(name, _NAMES, what="anomaly")]


def family(name: str) -> tuple[str, ...]:
    """The names of the anomalies that `name` stands for: one, or several where a paper has one label."""
    return _FAMILIES.get(normalise(name), (find(name).name,))


def broken(entry: CatalogueEntry) -> frozenset[Level]:
    """Every level that a history with this anomaly breaks."""
    return frozenset().union(*(implying(level) for level in entry.breaks))


def _plume(operations: str, note: str) -> Example:
    """Plume text: `w(key,value,session,transaction)`, one operation a line."""
    return Example(format="plume", text="".join(f"{op}\n" for op in operations.split()), note=note)


def _jepsen(*transactions: str, note: str) -> Example:
    """Jepsen EDN from lines such as `ok 0 [:append :x 1] [:r :y [1]]`."""
    lines = []
    for transaction in transactions:
        kind, process, operations = transaction.split(maxsplit=2)
        lines.append(f"{{:type :{kind}, :process {process}, :value [{operations}]}}\n")
    return Example(format="jepsen", text="".join(lines), note=note)


def _aion(*transactions: str, note: str) -> Example:
    """AION's JSON from lines such as `session=1 start=1 commit=2 w(1,1) r(2,[1])`."""
    lines = []
    for tid, transaction in enumerate(transactions, start=1):
        session, start, commit = map(int, re.findall(r"=(\d+)", transaction))
        operations = [
            {"t": kind, "k": int(key), "v": json.loads(value)}
            for kind, key, value in re.findall(r"(\w)\((\d+),(.*?)\)", transaction)
        ]
        document = {
            "tid": tid,
            "sid": session,
            "sts": {"p": start, "l": 0},
            "cts": {"p": commit, "l": 0},
            "ops": operations,
        }
        lines.append(json.dumps(document, separators=(",", ":")) + "\n")
    return Example(format="aion", text="".join(lines), note=note)


_READS = "reads"
_READER_KEY = "(reader, key) pairs"
_PAIR_KEY = "(pair of transactions, key)"
_COMPONENTS = "components of the dependency graph"

_SINGLE_READS = (
    CatalogueEntry(
        name="thin-air-read",
        title="Thin-air read",
        meaning="A transaction reads a value that nobody wrote.",
        aliases=("TAP-a", "ThinAirRead", "garbage-read"),
        breaks=(Level.PL_2,),
        counted=_READS,
        source="Liu et al. 2024; Kingsbury and Alvaro 2020 (garbage read)",
        example=_plume("w(1,1,1,1) r(1,2,2,2)", "Transaction 2 reads 2; only 1 was ever written."),
        allowed=_plume("w(1,1,1,1) r(1,1,2,2)", "Transaction 2 reads the 1 that was written."),
    ),
    CatalogueEntry(
        name="aborted-read",
        title="Aborted read",
        meaning="A transaction reads a value whose writer aborted.",
        aliases=("TAP-b", "G1a", "AbortedRead"),
        breaks=(Level.PL_2,),
        counted=_READS,
        source="Adya 1999 (G1a); Liu et al. 2024",
        example=_plume("w(1,1,1,-1) r(1,1,2,2)", "The write of 1 aborted, yet 2 reads it."),
        allowed=_plume("w(1,1,1,-1) r(1,0,2,2)", "The write of 1 aborted, and nobody saw it."),
    ),
    CatalogueEntry(
        name="future-read",
        title="Future read",
        meaning="A transaction reads a value that it writes itself only later.",
        aliases=("TAP-c", "FutureRead"),
        breaks=(Level.PL_2,),
        counted=_READS,
        source="Liu et al. 2024",
        example=_plume("r(1,1,1,1) w(1,1,1,1)", "Transaction 1 reads its write before making it."),
        allowed=_plume("w(1,1,1,1) r(1,1,1,1)", "Transaction 1 reads its write after making it."),
    ),
    CatalogueEntry(
        name="not-my-own-write",
        title="Not my own write",
        meaning="A transaction wrote a key and then reads a value of it that it did not write.",
        aliases=("TAP-d", "NotMyOwnWrite"),
        breaks=(Level.PL_2,),
        counted=_READS,
        source="Liu et al. 2024",
        example=_plume(
            "w(1,1,1,1) w(1,2,2,2) r(1,1,2,2)",
            "Transaction 2 writes 2 and then reads transaction 1's value.",
        ),
        allowed=_plume(
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
        counted=_READS,
        source="Liu et al. 2024",
        example=_plume("w(1,1,1,1) w(1,2,1,1) r(1,1,1,1)", "Transaction 1 wrote 1, then 2, and reads 1."),
        allowed=_plume("w(1,1,1,1) w(1,2,1,1) r(1,2,1,1)", "Transaction 1 wrote 1, then 2, and reads 2."),
    ),
    CatalogueEntry(
        name="intermediate-read",
        title="Intermediate read",
        meaning="A transaction reads a value that its writer overwrote before committing.",
        aliases=("TAP-f", "G1b", "IntermediateRead"),
        breaks=(Level.PL_2,),
        counted=_READS,
        source="Adya 1999 (G1b); Liu et al. 2024",
        example=_plume("w(1,1,1,1) w(1,2,1,1) r(1,1,2,2)", "Transaction 2 sees transaction 1's first write."),
        allowed=_plume("w(1,1,1,1) w(1,2,1,1) r(1,2,2,2)", "Transaction 2 sees transaction 1's last write."),
    ),
)

_WEAK = (
    CatalogueEntry(
        name="cyclic-causal-order",
        title="Cyclic causal order",
        meaning="Following what was read from whom, and each session's order, a transaction comes "
        "before itself.",
        aliases=("TAP-g", "CyclicCO"),
        # A commit order must contain session order and reads-from: no read-committed order exists.
        # A circle of reads alone breaks pl-2 as well; one that needs a session may leave it whole,
        # but not pl-2 with session order.
        breaks=(Level.READ_COMMITTED, Level.STRONG_SESSION_PL_2),
        counted=_COMPONENTS,
        source="Bouajjani et al. 2017; Liu et al. 2024",
        example=_plume(
            "r(2,1,1,1) w(1,1,1,2) r(1,1,2,3) w(2,1,2,3)",
            "Transaction 3 reads from 2, which follows 1 in its session, and 1 reads from 3.",
        ),
        allowed=_plume(
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
        counted=_READER_KEY,
        source="Biswas and Enea 2019; Liu et al. 2024",
        example=_plume(
            "w(1,1,1,1) w(2,1,1,1) r(2,1,2,2) r(1,0,2,2)",
            "Transaction 2 sees transaction 1 in key 2, and then the initial value of key 1.",
        ),
        allowed=_plume(
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
        counted=_READER_KEY,
        source="Biswas and Enea 2019; Liu et al. 2024",
        example=_plume(
            "w(1,1,1,1) w(2,1,1,1) w(1,2,2,2) w(2,2,2,2) r(2,2,3,3) r(1,1,3,3) r(2,2,3,3)",
            "Transaction 3 sees 2, then a key from 1, then a key from 2 again: each must be older.",
        ),
        allowed=_plume(
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
        counted=_READER_KEY,
        source="Berenson et al. 1995 (A2); Liu et al. 2024",
        example=_plume("w(1,1,1,1) r(1,0,2,2) r(1,1,2,2)", "Transaction 2 reads 0 and then 1 from key 1."),
        allowed=_plume("w(1,1,1,1) r(1,1,2,2) r(1,1,2,2)", "Transaction 2 reads 1 both times."),
    ),
    CatalogueEntry(
        name="fractured-read-co",
        title="Fractured read (causal order)",
        meaning="A transaction sees one write of another and misses another write of it; that it "
        "was missed follows from causal order.",
        aliases=("TAP-k", "FracturedReadCO"),
        breaks=(Level.READ_ATOMIC,),
        counted=_READER_KEY,
        source="Bailis et al. 2014; Liu et al. 2024",
        example=_plume(
            "w(1,1,1,1) w(2,1,1,1) r(1,0,2,2) r(2,1,2,2)",
            "Transaction 2 misses transaction 1 in key 1 and then sees it in key 2.",
        ),
        allowed=_plume(
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
        counted=_READER_KEY,
        source="Bailis et al. 2014; Liu et al. 2024",
        example=_plume(
            "w(1,1,1,1) w(2,1,1,1) w(1,2,2,2) w(3,2,2,2) r(1,1,3,3) r(3,2,3,3) r(1,2,4,4) r(2,1,4,4)",
            "Readers 3 and 4 each see both writers of key 1, and disagree on which came last.",
        ),
        allowed=_plume(
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
        counted=_READER_KEY,
        source="Lloyd et al. 2011; Liu et al. 2024",
        example=_plume(
            "w(1,1,1,1) r(1,1,2,2) w(2,1,2,2) r(2,1,3,3) r(1,0,3,3)",
            "Transaction 3 sees transaction 2, which had read from 1, but does not see 1.",
        ),
        allowed=_plume(
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
        counted=_READER_KEY,
        source="Biswas and Enea 2019; Liu et al. 2024",
        example=_plume(
            "w(1,1,1,1) w(1,2,2,2) r(1,1,3,3) r(1,2,3,4) r(1,2,4,5) r(1,1,4,6)",
            "Session 3 sees 1 and then 2; session 4 sees 2 and then 1.",
        ),
        allowed=_plume(
            "w(1,1,1,1) w(1,2,2,2) r(1,1,3,3) r(1,2,3,4) r(1,2,4,5) r(1,2,4,6)",
            "Session 3 sees 1 and then 2; session 4 sees 2 and stays with it.",
        ),
    ),
)

_CYCLES = (
    CatalogueEntry(
        name="write-cycle",
        title="Write cycle",
        meaning="The writes of several transactions are interleaved: by the order of the versions "
        "each comes before the others. A circle that needs a session breaks only levels with sessions.",
        aliases=("G0", "dirty-write", "P0"),
        breaks=(Level.PL_1,),
        counted=_COMPONENTS,
        source="Adya 1999 (G0)",
        example=_jepsen(
            "ok 0 [:append :x 1] [:append :y 1]",
            "ok 1 [:append :x 2] [:append :y 2]",
            "ok 2 [:r :x [1 2]] [:r :y [2 1]]",
            note="The first transaction comes first in x and last in y.",
        ),
        allowed=_jepsen(
            "ok 0 [:append :x 1] [:append :y 1]",
            "ok 1 [:append :x 2] [:append :y 2]",
            "ok 2 [:r :x [1 2]] [:r :y [1 2]]",
            note="The first transaction comes first in x and in y.",
        ),
    ),
    CatalogueEntry(
        name="circular-information-flow",
        title="Circular information flow",
        meaning="Following who read from whom and who overwrote whom, a transaction comes before itself. A "
        "circle that needs a session breaks only levels with sessions.",
        aliases=("G1c",),
        breaks=(Level.PL_2,),
        counted=_COMPONENTS,
        source="Adya 1999 (G1c)",
        example=_jepsen(
            "ok 0 [:append :x 1] [:r :y [1]]",
            "ok 1 [:append :x 2] [:append :y 1]",
            "ok 2 [:r :x [1 2]]",
            note="The first transaction reads y from the second, which appended to x after it.",
        ),
        allowed=_jepsen(
            "ok 0 [:append :x 1] [:r :y [1]]",
            "ok 1 [:append :x 2] [:append :y 1]",
            "ok 2 [:r :x [2 1]]",
            note="The first transaction reads y from the second, which appended to x before it.",
        ),
    ),
    CatalogueEntry(
        name="lost-update",
        title="Lost update",
        meaning="Two transactions read the same version of a key and both overwrite it, so that "
        "one update was made in ignorance of the other.",
        aliases=("P4",),
        breaks=(Level.CURSOR_STABILITY,),
        counted=_READER_KEY,
        source="Berenson et al. 1995 (P4); Adya 1999",
        example=_jepsen(
            "ok 0 [:r :x []] [:append :x 1]",
            "ok 1 [:r :x []] [:append :x 2]",
            "ok 2 [:r :x [1 2]]",
            note="Both writers started from the empty list.",
        ),
    ),
    CatalogueEntry(
        name="read-skew",
        title="Read skew",
        meaning="A transaction sees an update and misses something that the update builds on: a "
        "cycle with exactly one read of an overwritten version.",
        aliases=("G-single", "G-single-item", "A5A"),
        breaks=(Level.CONSISTENT_VIEW,),
        counted="closing rw edges",
        source="Adya 1999 (G-single); Berenson et al. 1995 (A5A)",
        example=_jepsen(
            "ok 0 [:append :x 1] [:append :y 1]",
            "ok 1 [:r :x []] [:r :y [1]]",
            note="The reader misses the update of x and sees that of y.",
        ),
    ),
    CatalogueEntry(
        name="long-fork",
        title="Long fork",
        meaning="Two readers see independent updates appear in opposite orders: a cycle with "
        "several reads of overwritten versions, no two of them in a row.",
        aliases=("G-nonadjacent", "G-nonadjacent-item"),
        # Every such cycle has an anti-dependency between single rows, hence repeatable-read. Prefix
        # is broken if each missed update was missed by someone who read from the one before, as in
        # a fork proper; a circle that only writes hold together can leave it whole.
        breaks=(Level.PREFIX, Level.SNAPSHOT_ISOLATION, Level.REPEATABLE_READ),
        counted=_COMPONENTS,
        source="Sovran et al. 2011; Cerone and Gotsman 2018; Kingsbury and Alvaro 2020",
        example=_jepsen(
            "ok 0 [:append :x 1]",
            "ok 1 [:append :y 1]",
            "ok 2 [:r :x [1]] [:r :y []]",
            "ok 3 [:r :x []] [:r :y [1]]",
            note="One reader sees x before y, the other y before x.",
        ),
    ),
    CatalogueEntry(
        name="write-skew",
        title="Write skew",
        meaning="Transactions each read what another then changes, and none sees the other's "
        "change: a cycle with two reads of overwritten versions in a row.",
        aliases=("G2-item", "A5B"),
        breaks=(Level.REPEATABLE_READ,),
        counted=_COMPONENTS,
        source="Adya 1999 (G2-item); Berenson et al. 1995 (A5B)",
        example=_jepsen(
            "ok 0 [:r :y []] [:append :x 1]",
            "ok 1 [:r :x []] [:append :y 1]",
            note="Each transaction read the key that the other changed, before the change.",
        ),
    ),
)

_VERSIONS = (
    CatalogueEntry(
        name="dirty-update",
        title="Dirty update",
        meaning="A committed transaction's update builds on a version whose writer aborted.",
        aliases=(),
        breaks=(Level.PL_2,),
        counted="(writer, key) pairs",
        source="Kingsbury and Alvaro 2020",
        example=_jepsen(
            "fail 0 [:append :x 1]",
            "ok 1 [:append :x 2]",
            "ok 2 [:r :x [1 2]]",
            note="The aborted 1 stays in the list below 2; the read of it is an aborted-read too.",
        ),
    ),
    CatalogueEntry(
        name="incompatible-order",
        title="Incompatible order",
        meaning="Two reads of a list disagree on the order of its elements, so at least one shows "
        "a state that was never committed.",
        aliases=(),
        breaks=(Level.PL_2,),
        counted=_READS,
        source="Kingsbury and Alvaro 2020",
        example=_jepsen(
            "ok 0 [:append :x 1]",
            "ok 1 [:append :x 2]",
            "ok 2 [:r :x [1]]",
            "ok 3 [:r :x [2]]",
            note="x cannot have begun with 1 and with 2.",
        ),
        allowed=_jepsen(
            "ok 0 [:append :x 1]",
            "ok 1 [:append :x 2]",
            "ok 2 [:r :x [1]]",
            "ok 3 [:r :x [1 2]]",
            note="x was [1] and then [1 2].",
        ),
    ),
    CatalogueEntry(
        name="duplicate-elements",
        title="Duplicate elements",
        meaning="A read of a list shows an element twice that was appended once.",
        aliases=(),
        breaks=(Level.PL_1,),
        counted=_READS,
        source="Kingsbury and Alvaro 2020",
        example=_jepsen("ok 0 [:append :x 1]", "ok 1 [:r :x [1 1]]", note="1 was appended once."),
        allowed=_jepsen("ok 0 [:append :x 1]", "ok 1 [:r :x [1]]", note="1 is shown once."),
    ),
    CatalogueEntry(
        name="cyclic-versions",
        title="Cyclic versions",
        meaning="What is known of a key's versions puts one of them before itself.",
        aliases=(),
        breaks=(Level.PL_1,),
        counted="keys",
        source="Kingsbury and Alvaro 2020",
        example=_plume(
            "w(1,1,1,1) w(1,2,1,2) r(1,2,2,3) r(1,1,2,4)",
            "With `--assume sequential-keys`: session 1 has 1 before 2, session 2 has 2 before 1.",
        ),
    ),
    CatalogueEntry(
        name="no-commit-order",
        title="No commit order",
        meaning="The solver tried every order of the versions and each breaks the level that was "
        "asked for; which level that is depends on the question.",
        aliases=(),
        breaks=(),
        counted="once per level",
        source="Papadimitriou 1979; Tan et al. 2020",
        example=_plume(
            "r(3,0,1,1) w(1,1,1,1) r(2,0,2,2) w(1,2,2,2) r(1,1,3,3) w(2,1,3,3) r(1,2,4,4) w(3,1,4,4)",
            "If 1 wrote key 1 before 2 did, 2 and 3 form a circle, otherwise 1 and 4 do: not serializable.",
        ),
    ),
)

_TIMESTAMPS = (
    CatalogueEntry(
        name="stale-read",
        title="Stale read",
        meaning="By the database's own clock, a read should have returned another value.",
        aliases=("EXT",),
        breaks=(Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE),
        counted=_READER_KEY,
        source="Li et al. 2025 (EXT)",
        example=_aion(
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
        example=_aion(
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
        counted=_PAIR_KEY,
        source="Li et al. 2025 (NOCONFLICT)",
        example=_aion(
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
        example=_aion("session=1 start=2 commit=1 w(1,1)", note="It committed before it started."),
    ),
)

_MECHANISMS = (
    CatalogueEntry(
        name="inconsistent-read",
        title="Inconsistent read",
        meaning="A read returned a version that could not be visible at any moment of the "
        "snapshot; it convicts the mechanism of consistent reads, not a level.",
        aliases=("CR",),
        breaks=(),
        counted=_READS,
        source="Li et al. 2023 (consistent read)",
    ),
    CatalogueEntry(
        name="lock-violation",
        title="Lock violation",
        meaning="Two transactions held conflicting locks at the same time, however their intervals "
        "are read; it convicts the mechanism of mutual exclusion, not a level.",
        aliases=("ME",),
        breaks=(),
        counted=_PAIR_KEY,
        source="Li et al. 2023 (mutual exclusion)",
    ),
    CatalogueEntry(
        name="first-updater-violation",
        title="First-updater violation",
        meaning="Two transactions that certainly overlapped updated the same key and both "
        "committed; it convicts the mechanism of first updater wins, not a level.",
        aliases=("FUW",),
        breaks=(),
        counted=_PAIR_KEY,
        source="Li et al. 2023 (first updater wins)",
    ),
    CatalogueEntry(
        name="certifier-violation",
        title="Certifier violation",
        meaning="Transactions committed with dependencies that the database's certifier should "
        "have refused; it convicts the certifier, not a level.",
        aliases=("SC",),
        breaks=(),
        counted=_COMPONENTS,
        source="Li et al. 2023 (serialization certifier)",
    ),
    CatalogueEntry(
        name="contradictory-dependencies",
        title="Contradictory dependencies",
        meaning="Two mechanisms, each taken to work, order the same two transactions differently; "
        "one of them failed, and no level is convicted by that alone.",
        aliases=(),
        breaks=(),
        counted=_PAIR_KEY,
        source="Li et al. 2023",
    ),
    CatalogueEntry(
        name="contradictory-evidence",
        title="Contradictory evidence",
        meaning="Two sources of the version order, such as list reads and timestamps, order the "
        "same two versions differently; a level is decided only if each source alone decides it.",
        aliases=(),
        breaks=(),
        counted=_PAIR_KEY,
        source="Isoscope",
        example=_aion(
            "session=1 start=1 commit=2 a(1,1)",
            "session=2 start=3 commit=4 a(1,2)",
            "session=3 start=5 commit=6 r(1,[2,1])",
            note="By the clock 1 was appended first; by the list it was 2.",
        ),
    ),
)

CATALOGUE: Mapping[str, CatalogueEntry] = MappingProxyType(
    {
        entry.name: entry
        for entries in (_SINGLE_READS, _WEAK, _CYCLES, _VERSIONS, _TIMESTAMPS, _MECHANISMS)
        for entry in entries
    }
)

#: Adya's G1c is every circle of reads and overwrites; circles that a weaker or other name fits have that.
_FAMILIES = {"g1c": ("circular-information-flow", "cyclic-causal-order", "write-cycle")}
_NAMES = {
    normalise(name): entry.name for entry in CATALOGUE.values() for name in (entry.name, *entry.aliases)
}
