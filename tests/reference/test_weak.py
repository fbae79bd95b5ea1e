"""The specification of the weak levels says what a search through all commit orders says."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, event, given, settings

from isoscope.anomalies import CATALOGUE, broken, find
from isoscope.history import Range, VersionSource
from isoscope.levels import Level
from isoscope.recorder import Recorder
from isoscope.reference import commit_order, weak
from isoscope.verdict import Outcome
from tests.oracle.test_oracle import ORACLE, load, rows
from tests.seeds import DEEP, seeds
from tests.semantics.rules import edn, read

from .weak_histories import random_weak_history, weak_histories

if TYPE_CHECKING:
    from isoscope.history import History

SEEDS = seeds(1_500, deep=60_000)
PARTS = 2
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
thorough = settings(
    max_examples=3_000 if DEEP else 150,
    deadline=None,
    derandomize=not DEEP,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
RC, RA, CC = weak.LEVELS
#: Read committed, read atomic, causal: as far as the history keeps its promises.
HOLD_NONE, HOLD_RC, HOLD_RA, HOLD_ALL = "vvv", "hvv", "hhv", "hhh"
NAMES = {
    *(name for name, entry in CATALOGUE.items() if any(a.startswith("TAP-") for a in entry.aliases)),
    *("duplicate-elements", "incompatible-order", "write-cycle", "circular-information-flow"),
}


def letters(judgement: weak.Judgement) -> str:
    """The first letters of the outcomes: holds, violated, unknown."""
    return "".join(judgement.outcomes[level][0] for level in weak.LEVELS)


def assert_agreement(history: History) -> weak.Judgement:
    """Both find the same; with repeated values, what one of them proves the other does not refute."""
    judgement = weak.judge(history)
    for level in weak.LEVELS:
        outcome = judgement.outcomes[level]
        if outcome is not Outcome.UNKNOWN:
            assert commit_order.exists(history, level) == (outcome is Outcome.HOLDS), level
    # A verdict is not made from names, but has one that explains it.
    for level, outcome in judgement.outcomes.items():
        blamed = {name for name in judgement.names if level in broken(find(name))}
        assert bool(blamed) == (outcome is Outcome.VIOLATED), (level, blamed)
    return judgement


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_the_specification_finds_what_a_search_finds_on_many_seeds_and_every_name_is_seen(part: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(part, SEEDS, PARTS):
        judgement = assert_agreement(random_weak_history(random.Random(seed)))
        assert Outcome.UNKNOWN not in judgement.outcomes.values(), "every writer is known"
        seen.update(judgement.names)
        seen[letters(judgement)] += 1
    assert seen.keys() == {*NAMES, HOLD_NONE, HOLD_RC, HOLD_RA, HOLD_ALL}
    # Agreement on what hardly ever happens would say little.
    assert min(seen.values()) >= SEEDS // PARTS // 1500, seen


@pytest.mark.slow
def test_the_specification_refutes_no_search_on_many_seeds_with_repeated_values() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS // 2):
        judgement = assert_agreement(random_weak_history(random.Random(seed), unique=False))
        seen.update({f"{level} {outcome}" for level, outcome in judgement.outcomes.items()})
    assert {f"{level} {outcome}" for level in weak.LEVELS for outcome in Outcome} <= seen.keys()
    assert min(seen.values()) > SEEDS // 40, seen


@thorough
@given(history=weak_histories())
def test_the_specification_finds_what_a_search_finds(history: History) -> None:
    event(" ".join(sorted(assert_agreement(history).names)) or "clean")


@thorough
@given(history=weak_histories(unique=False))
def test_the_specification_refutes_no_search_with_repeated_values(history: History) -> None:
    assert_agreement(history)


# The patterns of Liu et al. 2024, Table 1.


@pytest.mark.parametrize("letter", "abcdefghijklmn")
def test_a_pattern_has_its_name_and_breaks_its_levels_and_no_other(letter: str) -> None:
    entry = find(f"TAP-{letter}")
    assert entry.example is not None
    judgement = assert_agreement(read(entry.example.text.replace("\n", " ; ")))
    assert judgement.names == {entry.name}
    violated = {level for level, outcome in judgement.outcomes.items() if outcome is Outcome.VIOLATED}
    assert violated == broken(entry) & judgement.outcomes.keys()


@pytest.mark.parametrize(
    ("text", "holds", "names"),
    [
        pytest.param(
            "w(1,1,0,1) w(1,2,0,2) w(2,2,0,2) r(2,2,1,3) r(1,2,1,3) r(1,2,1,3) r(1,1,1,3)",
            HOLD_NONE,
            {"non-monotonic-read-co", "non-repeatable-read"},
            id="AWDIT loses the edge from 2 to 1 if a read is repeated",
        ),
        pytest.param("w(1,1,0,0) r(1,0,0,1)", HOLD_RC, {"fractured-read-co"}, id="one's own session, missed"),
        pytest.param("w(1,1,0,0) r(1,0,1,1)", HOLD_ALL, set(), id="another session, missed"),
        pytest.param(
            "w(1,1,0,1) w(1,2,0,2) r(1,2,1,3) r(1,1,1,3)",
            HOLD_NONE,
            {"non-monotonic-read-co", "non-repeatable-read"},
            id="one key is enough to break read committed",
        ),
        pytest.param(
            "w(1,1,0,1) w(1,2,0,2) r(1,1,1,3) r(1,2,1,3)",
            HOLD_RC,
            {"non-repeatable-read"},
            id="time may pass between two reads",
        ),
        pytest.param(
            "w(1,1,0,1) w(2,1,0,2) r(1,0,0,3)",
            HOLD_RC,
            {"fractured-read-co"},
            id="session order is transitive",
        ),
        pytest.param(
            "w(1,1,0,1) r(1,1,1,2) w(2,1,1,2) r(2,1,2,3) r(1,0,2,3)",
            HOLD_RA,
            {"causal-conflict"},
            id="read atomic knows only direct reads",
        ),
        pytest.param(
            "w(1,1,0,1) w(1,2,0,2) r(1,1,1,3) r(1,1,1,3)",
            HOLD_ALL,
            set(),
            id="the same transaction read twice",
        ),
        pytest.param(
            "w(1,1,0,1) w(1,2,0,1) w(2,1,0,1) r(1,1,1,2) r(2,0,1,2)",
            HOLD_NONE,
            {"intermediate-read", "non-monotonic-read-co"},
            id="an intermediate read is an observation",
        ),
        pytest.param(
            "w(1,1,0,1) w(1,0,1,2) r(1,1,2,3) r(1,0,2,4)",
            HOLD_ALL,
            set(),
            id="an explicit 0 is a version like any other",
        ),
        pytest.param(
            "r(1,1,0,1) w(2,1,0,1) r(2,1,1,2) w(1,1,1,2)",
            HOLD_NONE,
            {"cyclic-causal-order"},
            id="two transactions read from each other",
        ),
        pytest.param(
            "w(1,1,0,1) w(1,2,1,2) r(1,1,2,3) r(1,2,2,4)",
            HOLD_ALL,
            set(),
            id="one order of two writes",
        ),
    ],
)
def test_registers(text: str, holds: str, names: set[str]) -> None:
    judgement = assert_agreement(read(text.replace(" ", " ; ")))
    assert judgement.names == names
    assert letters(judgement) == holds


@pytest.mark.parametrize(
    ("transactions", "holds", "names"),
    [
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 0 [:r :x []]"],
            HOLD_RC,
            {"fractured-read-co"},
            id="own session missed",
        ),
        pytest.param(["ok 0 [:append :x 1]", "ok 1 [:r :x []]"], HOLD_ALL, set(), id="other session missed"),
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 1 [:append :x 2]", "ok 2 [:r :x [1 2]]", "ok 3 [:r :x [2 1]]"],
            HOLD_NONE,
            {"incompatible-order"},
            id="two orders",
        ),
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 1 [:append :x 2]", "ok 2 [:r :x [1 2]]", "ok 3 [:r :x [1]]"],
            HOLD_ALL,
            set(),
            id="one order",
        ),
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 1 [:append :x 2]", "ok 0 [:r :x [2]]"],
            HOLD_RC,
            {"fractured-read-cm"},
            id="an unread append comes last, yet its session reads past it",
        ),
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 1 [:append :x 2]", "ok 2 [:r :x [2]]"],
            HOLD_ALL,
            set(),
            id="an unread append that no read must show",
        ),
        pytest.param(
            ["ok 0 [:append :x 1] [:append :y 1]", "ok 1 [:append :x 2]", "ok 2 [:r :x [1 2]] [:r :y []]"],
            HOLD_NONE,
            {"non-monotonic-read-co"},
            id="seen in the middle, then missed",
        ),
        pytest.param(
            ["ok 0 [:append :x 1] [:append :y 1]", "ok 1 [:append :x 2]", "ok 2 [:r :y []] [:r :x [1 2]]"],
            HOLD_RC,
            {"fractured-read-co"},
            id="missed, then seen in the middle",
        ),
        pytest.param(
            ["info 0 [:append :x 1] [:append :y 1]", "ok 1 [:append :x 2]", "ok 2 [:r :y []] [:r :x [1 2]]"],
            HOLD_RC,
            {"fractured-read-co"},
            id="an indeterminate transaction seen in the middle",
        ),
        pytest.param(
            ["info 0 [:append :x 1] [:append :y 1]", "ok 1 [:append :x 2]", "ok 2 [:r :y []] [:r :x [2]]"],
            HOLD_ALL,
            set(),
            id="an indeterminate transaction that no read shows",
        ),
        pytest.param(
            ["ok 0 [:append :x 1] [:r :y [1]]", "ok 1 [:append :x 2] [:append :y 1]", "ok 2 [:r :x [1 2]]"],
            HOLD_NONE,
            {"circular-information-flow"},
            id="the first in x reads from the second",
        ),
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 0 [:append :x 2]", "ok 1 [:r :x [2 1]]"],
            HOLD_NONE,
            {"write-cycle"},
            id="a session's appends in the wrong order",
        ),
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 1 [:append :x 2] [:r :x [2]] [:r :x [1 2]]"],
            HOLD_RC,
            {"non-repeatable-read"},
            id="what stands before one's own appends changes",
        ),
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 1 [:r :x [1 1]]"], HOLD_NONE, {"duplicate-elements"}, id="duplicates"
        ),
        pytest.param(
            ["ok 0 [:append :x 1] [:append :x 2]", "ok 1 [:r :x [1 1 2]]", "ok 2 [:r :x [1 2]]"],
            HOLD_NONE,
            {"duplicate-elements"},
            id="a list with duplicates is no measure for others",
        ),
        pytest.param(["ok 0 [:r :x [9 9]]"], HOLD_NONE, {"thin-air-read"}, id="never appended, shown twice"),
        pytest.param(
            ["ok 0 [:r :x [7]] [:append :x 7]"],
            HOLD_NONE,
            {"future-read"},
            id="no transaction observes itself",
        ),
        pytest.param(
            [
                "ok 0 [:append :x 1] [:append :y 1] [:append :z 1] [:r :w [1]]",
                "ok 1 [:append :x 2] [:append :y 2]",
                "ok 2 [:append :z 2] [:append :w 1]",
                "ok 3 [:r :x [1 2]] [:r :y [2 1]] [:r :z [1 2]]",
            ],
            HOLD_NONE,
            {"write-cycle"},
            id="a cycle around a smaller one has no name of its own",
        ),
        pytest.param(
            ["ok 0 [:append :x 1]", "ok 1 [:append :x 1]", "ok 2 [:r :x [1 1]]"],
            "uuu",
            set(),
            id="appended twice, shown twice",
        ),
    ],
)
def test_lists(transactions: list[str], holds: str, names: set[str]) -> None:
    judgement = assert_agreement(edn(*transactions))
    assert judgement.names == names
    assert letters(judgement) == holds


def test_an_initial_value_that_was_also_written_has_two_possible_writers() -> None:
    recorder = Recorder(initial=0)
    for operation, value in (("write", 0), ("read", 0)):
        with recorder.transaction(session=1) as t:
            getattr(t, operation)("x", value)
    assert letters(weak.judge(recorder.history())) == "uuu"
    assert weak.Relations(recorder.history()).observed.all == ()


def test_a_log_shows_a_commit_order_that_an_indeterminate_transaction_committed() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as writer:
        writer.write("x", 1)
        writer.indeterminate()
    with recorder.transaction(session=1) as reader:
        reader.read("x", 0)
    assert commit_order.exists(recorder.history(), Level.READ_ATOMIC)
    recorder.version_order("x", [1], source=VersionSource.LOG)
    assert not commit_order.exists(recorder.history(), Level.READ_ATOMIC)


@pytest.mark.parametrize("kind", ["delete", "mixed", "range"])
@pytest.mark.parametrize(("seen", "expected"), [(1, "uuuu"), (2, "uvvv")])
def test_what_is_not_judged_leaves_levels_unknown_but_a_violation_stands(
    kind: str, seen: int, expected: str
) -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
    with recorder.transaction(session=2) as t:
        t.read("x", seen)
        if kind == "delete":
            t.append("y", 1)
            t.delete("y")
        elif kind == "mixed":
            t.append("y", 1)
            t.write("y", 2)
        else:
            t.range_read(Range(low=0.5))
    found = weak.judge(recorder.history()).outcomes
    assert "".join(found[level][0] for level in (Level.CUT_ISOLATION, *weak.LEVELS)) == expected


SMALL = 60


@pytest.mark.skipif(not ORACLE.is_dir(), reason=f"no oracle at {ORACLE}")
@pytest.mark.parametrize("path", sorted({row["path"] for row in rows() if row["path"].startswith("weak/")}))
def test_the_specification_gives_the_verdicts_of_the_oracle(path: str) -> None:
    history = load(path)
    if len(history) > SMALL:
        pytest.skip(f"{len(history)} transactions are too many for the specification")
    found = weak.judge(history).outcomes
    mine = {Level(row["level"]): row["expected"] for row in rows() if row["path"] == path}
    expected = {level: outcome for level, outcome in mine.items() if level in found}
    assert {level: str(found[level]) for level in expected} == expected
