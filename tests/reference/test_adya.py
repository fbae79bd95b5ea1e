"""The specification of the levels of versions says what brute force on values says."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, event, given, settings

from isoscope.history import Range, VersionSource
from isoscope.levels import Level, implied, implying, parse
from isoscope.recorder import Recorder
from isoscope.reference import adya, reads
from isoscope.reference.dependencies import Dependencies
from isoscope.reference.versions import Versions
from isoscope.verdict import Outcome
from tests.oracle.elle import cases, history_of, is_readable
from tests.oracle.elle import claims as elle_claims
from tests.oracle.test_elle import VALID_INSTEAD

from . import replays
from .histories import random_history
from .sent_batches import told
from .version_histories import claims, random_claims, random_version_history, version_histories

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

DEEP = os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep"
SEEDS = 20_000 if DEEP else 800
PARTS = 2
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
thorough = settings(
    max_examples=3_000 if DEEP else 100,
    deadline=None,
    derandomize=not DEEP,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

#: They order sessions, dependencies and writes like `strong-session-pl-2`; the lattice does not say so.
SESSION_LEVELS = (Level.PREFIX, Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION)
#: The weakest levels that each name breaks.
WEAKEST = {
    "write-cycle": (Level.PL_1,),
    "write-cycle-session": (Level.STRONG_SESSION_PL_1, *SESSION_LEVELS),
    "write-cycle-real-time": (Level.STRONG_PL_1,),
    "circular-information-flow": (Level.PL_2,),
    "circular-information-flow-session": (Level.STRONG_SESSION_PL_2, *SESSION_LEVELS),
    "circular-information-flow-real-time": (Level.STRONG_PL_2,),
    "lost-update": (Level.CURSOR_STABILITY,),
    "read-skew": (Level.CONSISTENT_VIEW,),
    "read-skew-session": (Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,),
    "read-skew-real-time": (Level.STRONG_SNAPSHOT_ISOLATION,),
    "long-fork": (Level.SNAPSHOT_ISOLATION, Level.REPEATABLE_READ),
    "long-fork-session": (Level.STRONG_SESSION_SNAPSHOT_ISOLATION,),
    "long-fork-real-time": (Level.STRONG_SNAPSHOT_ISOLATION,),
    "write-skew": (Level.REPEATABLE_READ,),
    "write-skew-session": (Level.STRONG_SESSION_SERIALIZABLE,),
    "write-skew-real-time": (Level.STRICT_SERIALIZABLE,),
    "dirty-update": (Level.PL_2,),
    "cyclic-versions": (Level.PL_1,),
}
#: Violations of these have names of their own graphs only, or none.
UNNAMED = {
    *(Level.MONOTONIC_VIEW, Level.UPDATE_SERIALIZABLE, Level.PREFIX),
    *(Level.READ_YOUR_WRITES, Level.MONOTONIC_READS, Level.MONOTONIC_WRITES, Level.WRITES_FOLLOW_READS),
}


def by_brute_force(history: History) -> dict[Level, bool]:
    """Whether the levels hold that brute force on values decides."""
    session, real_time = replays.session_order(history), replays.real_time(history)
    return {
        Level.SERIALIZABLE: replays.is_serializable(history),
        Level.STRONG_SESSION_SERIALIZABLE: replays.is_serializable(history, session),
        Level.STRICT_SERIALIZABLE: replays.is_serializable(history, real_time),
        Level.SNAPSHOT_ISOLATION: replays.is_snapshot(history),
        Level.STRONG_SESSION_SNAPSHOT_ISOLATION: replays.is_snapshot(history, session),
        Level.STRONG_SNAPSHOT_ISOLATION: replays.is_snapshot(history, real_time),
        Level.PL_2: replays.is_committed(history),
        Level.STRONG_SESSION_PL_2: replays.is_committed(history, session),
        Level.STRONG_PL_2: replays.is_committed(history, real_time),
        Level.CURSOR_STABILITY: replays.is_cursor_stable(history),
        Level.UPDATE_SERIALIZABLE: replays.is_update_serializable(history),
        Level.PREFIX: replays.is_prefix(history),
        Level.PARALLEL_SNAPSHOT_ISOLATION: replays.is_parallel(history),
        Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION: replays.is_parallel(history, session),
    }


def guarantees(history: History) -> dict[Level, bool]:
    """Whether the session guarantees hold, if no read is wrong by itself."""
    return {
        Level.READ_YOUR_WRITES: replays.keeps(history, "write", "read"),
        Level.MONOTONIC_READS: replays.keeps(history, "read", "read"),
        Level.MONOTONIC_WRITES: replays.keeps(history, "write", "write"),
        Level.WRITES_FOLLOW_READS: replays.keeps(history, "read", "write"),
    }


def assert_agreement(history: History) -> dict[Level, Outcome]:
    """Every level that brute force can decide has its outcome, unless evidence is contradictory."""
    found = adya.outcomes(history)
    if not Versions(history).contradictions:
        is_clean = not reads.judge(history).findings
        decided = {**by_brute_force(history), **(guarantees(history) if is_clean else {})}
        for level, holds in decided.items():
            assert found[level] is (Outcome.HOLDS if holds else Outcome.VIOLATED), level
    return found


def assert_monotone(found: dict[Level, Outcome]) -> None:
    """What holds implies what is weaker, and nothing weaker is violated."""
    for level, outcome in found.items():
        for weaker in implied(level) & found.keys():
            assert outcome is not Outcome.HOLDS or found[weaker] is Outcome.HOLDS, (level, weaker)
            assert found[weaker] is not Outcome.VIOLATED or outcome is Outcome.VIOLATED, (level, weaker)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_specification_finds_what_brute_force_finds_on_many_seeds_and_both_answers_are_seen(
    part: int,
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(part, SEEDS, PARTS):
        found = assert_agreement(random_version_history(random.Random(seed)))
        seen.update(f"{level} {outcome}" for level, outcome in found.items())
    both = {f"{level} {outcome}" for level in adya.LEVELS for outcome in (Outcome.HOLDS, Outcome.VIOLATED)}
    assert both <= seen.keys()


@thorough
@given(history=version_histories())
def test_the_specification_finds_what_brute_force_finds(history: History) -> None:
    found = assert_agreement(history)
    event(f"serializable {found[Level.SERIALIZABLE]}")
    event(f"snapshot isolation {found[Level.SNAPSHOT_ISOLATION]}")


@thorough
@given(history=version_histories(unique=False), assume=claims())
def test_outcomes_are_monotone_over_the_lattice(history: History, assume: tuple[str, ...]) -> None:
    assert_monotone(adya.outcomes(history, assume))


def test_outcomes_are_monotone_over_the_lattice_on_many_seeds() -> None:
    seen: Counter[Outcome] = Counter()
    for seed in range(SEEDS):
        chooser = random.Random(seed)
        found = adya.outcomes(random_version_history(chooser, unique=False), random_claims(chooser))
        assert_monotone(found)
        seen.update(found.values())
    assert seen.keys() == {*Outcome}


def test_histories_of_every_kind_are_judged_and_what_is_set_aside_never_holds() -> None:
    seen: Counter[bool] = Counter()
    for seed in range(SEEDS):
        history = random_history(random.Random(seed))
        found = adya.outcomes(history)
        assert_monotone(found)
        is_aside = reads.judge(history).repeated_reads > 0
        assert not is_aside or Outcome.HOLDS not in found.values()
        seen[is_aside] += 1
    assert min(seen.values()) > SEEDS // 20, seen


def test_inference_decides_nothing_it_only_saves_completions() -> None:
    """The opposite of what a level infers breaks that level anyhow; so do pairs that contradict a source."""
    saved = 0
    for seed in range(SEEDS // 2):
        versions = Versions(random_version_history(random.Random(seed)))
        if versions.contradictions:
            continue
        dependencies = Dependencies(versions)
        graphs = {
            rules: [dependencies.under(order) for order in versions.completions(rules)]
            for rules in {(), *(definition.rules for definition in adya.DEFINITIONS.values())}
        }
        for rules, condition in adya.DEFINITIONS.values():
            assert any(map(condition, graphs[rules])) == any(map(condition, graphs[()]))
            saved += len(graphs[()]) - len(graphs[rules])
    assert saved > SEEDS // 2


def test_every_known_edge_is_there_in_every_completion() -> None:
    """Directly, or by way of versions that were not known to be in between."""
    for seed in range(SEEDS // 4):
        versions = Versions(random_version_history(random.Random(seed)))
        if versions.contradictions:
            continue
        dependencies = Dependencies(versions)
        known = dependencies.under(versions.known())
        for order in versions.completions():
            graph = dependencies.under(order)
            for level, (rules, condition) in adya.DEFINITIONS.items():
                assert rules or condition(known) or not condition(graph), level


# Names.


def assert_names_fit(history: History, assume: tuple[str, ...]) -> frozenset[str]:
    """A name that is found breaks its levels, and a level that is violated has a name or a forbidden read."""
    found, names = adya.outcomes(history, assume), adya.names(history, assume)
    if "contradictory-evidence" in names:
        return frozenset(names)
    broken = {
        level for name in names for weakest in WEAKEST.get(name, ()) for level in implying(weakest)
    } & found.keys()
    violated = {level for level, outcome in found.items() if outcome is Outcome.VIOLATED}
    assert broken <= violated
    if not reads.judge(history).findings and "no-commit-order" not in names:
        assert violated - broken <= UNNAMED
    return frozenset(names)


def test_names_break_their_levels_and_explain_violations_on_many_seeds() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        chooser = random.Random(seed)
        seen.update(assert_names_fit(random_version_history(chooser), random_claims(chooser)))
    rare = {"long-fork-session", "long-fork-real-time", "write-skew-real-time", "dirty-update", "write-cycle"}
    assert {*WEAKEST, "no-commit-order", "contradictory-evidence"} - rare <= seen.keys()


@thorough
@given(history=version_histories(unique=False), assume=claims())
def test_names_break_their_levels_and_explain_violations(history: History, assume: tuple[str, ...]) -> None:
    assert_names_fit(history, assume)


# Written by hand.


def violated(history: History, *assume: str) -> frozenset[Level]:
    found = adya.outcomes(history, assume)
    assert Outcome.UNKNOWN not in found.values()
    return frozenset(level for level, outcome in found.items() if outcome is Outcome.VIOLATED)


def breaks(*levels: Level) -> frozenset[Level]:
    return frozenset(stronger for level in levels for stronger in implying(level)) & {*adya.LEVELS}


CASES = [
    pytest.param(
        told("1: a(y,1)", "2: r(y,[1]) r(x,[])", "3: r(x,[]) a(x,1)", "4: r(y,[]) a(x,2)"),
        {"write-skew": 1, "no-commit-order": 3},
        breaks(Level.SNAPSHOT_ISOLATION, Level.UPDATE_SERIALIZABLE, Level.REPEATABLE_READ),
        id="unread appends: no order of them explains both reads of y at one time",
    ),
    pytest.param(
        told("1: a(y,1)", "2: r(y,[1]) r(x,[])", "3: r(x,[]) a(x,1)", "4: a(x,2)"),
        {},
        frozenset(),
        id="nearly the same, without the second read of y",
    ),
    pytest.param(
        told("1: a(x,1) a(y,1)", "2: a(x,2) a(y,2)", "3: r(x,[1;2]) r(y,[2;1])"),
        {"write-cycle": 1},
        breaks(Level.PL_1),
        id="write cycle",
    ),
    pytest.param(
        told("1: w(x,1) r(y,1)", "2: r(x,1) w(y,1)"),
        {"circular-information-flow": 1},
        breaks(Level.PL_2),
        id="two read from each other",
    ),
    pytest.param(
        told("1: r(x,1) w(x,2) w(y,1)", "2: r(y,1) w(y,2) w(x,1)"),
        {"circular-information-flow": 1},
        breaks(Level.PL_2),
        id="two read from each other and write: what is inferred from reads does not make it a write cycle",
    ),
    pytest.param(
        told("1: r(x,0) w(x,1)", "2: r(x,0) w(x,2)"),
        {"lost-update": 1},
        breaks(Level.CURSOR_STABILITY),
        id="two update what both read, in whatever order",
    ),
    pytest.param(
        told("1: r(x,0) w(x,1)", "2: r(x,0) w(x,2)", "3: r(x,0) w(x,3)", x=[3, 1]),
        {"lost-update": 2},
        breaks(Level.CURSOR_STABILITY),
        id="one of three can be the first",
    ),
    pytest.param(
        told("1: r(x,3) w(x,1)", "2: r(x,3) w(x,2)", "3: w(x,3)", x=[1, 2, 3]),
        {"circular-information-flow": 1},
        breaks(Level.PL_2),
        id="what came only after the own version is no version that was updated",
    ),
    pytest.param(
        told("1: r(x,3) w(x,1)", "2: r(x,3) w(x,2)", "3: r(x,1) w(x,3)"),
        {"circular-information-flow": 1, "lost-update": 1},
        breaks(Level.PL_2),
        id="two update what both read, though its writer had read from one of them",
    ),
    pytest.param(
        told("1: r(x,0) w(x,1)", "2: r(x,1) w(x,2)"),
        {},
        frozenset(),
        id="one update after the other",
    ),
    pytest.param(
        told("1: w(x,1) w(y,1)", "2: r(x,0) r(y,1)"),
        {"read-skew": 1},
        breaks(Level.CONSISTENT_VIEW, Level.PREFIX),
        id="one half is seen, too late to be blamed on an earlier read",
    ),
    pytest.param(
        told("1: w(x,1) w(y,1)", "2: r(y,1) r(x,0)"),
        {"read-skew": 1},
        breaks(Level.MONOTONIC_VIEW, Level.PREFIX),
        id="one half is seen, and then the other is not",
    ),
    pytest.param(
        told("1: w(x,1)", "2: w(y,1)", "3: r(x,1) r(y,0)", "4: r(x,0) r(y,1)"),
        {"long-fork": 1},
        breaks(Level.SNAPSHOT_ISOLATION, Level.REPEATABLE_READ, Level.PREFIX),
        id="two readers see two writes in opposite orders",
    ),
    pytest.param(
        told("1: r(x,0) r(y,0) w(x,1)", "2: r(x,0) r(y,0) w(y,1)"),
        {"write-skew": 1},
        breaks(Level.UPDATE_SERIALIZABLE, Level.REPEATABLE_READ),
        id="write skew",
    ),
    pytest.param(
        told("1: w(x,1)", "1: r(x,0)"),
        {"read-skew-session": 1},
        breaks(Level.READ_YOUR_WRITES, Level.PREFIX),
        id="one's own session's write, missed",
    ),
    pytest.param(
        told("2: w(x,1)", "1: r(x,1)", "1: r(x,0)"),
        {"read-skew-session": 1},
        breaks(Level.MONOTONIC_READS, Level.PREFIX),
        id="a session goes back",
    ),
    pytest.param(
        told("1: w(x,1)", "1: w(x,2)", x=[2, 1]),
        {"write-cycle-session": 1},
        breaks(Level.MONOTONIC_WRITES, Level.PREFIX, Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION),
        id="a session's writes the wrong way round",
    ),
    pytest.param(
        told("2: w(x,1)", "1: r(x,1)", "1: w(x,2)", x=[2, 1]),
        {"circular-information-flow-session": 1},
        breaks(Level.WRITES_FOLLOW_READS, Level.PREFIX, Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION),
        id="a session writes before what it read",
    ),
    pytest.param(
        told("1: w(x,1)", "1: r(y,0)", "2: w(y,1)", "2: r(x,0)"),
        {"long-fork-session": 1},
        breaks(Level.STRONG_SESSION_SNAPSHOT_ISOLATION, Level.PREFIX),
        id="two sessions, each of which misses the other's write",
    ),
    pytest.param(
        told("1: w(y,1)", "1: r(x,0)", "2: r(y,0) w(x,1)"),
        {"write-skew-session": 1},
        breaks(Level.STRONG_SESSION_SERIALIZABLE),
        id="a session reads before what is before its own write",
    ),
    pytest.param(
        told("1: w(x,1)", "1: w(x,2)", "2: r(x,2)", "2: r(x,1)"),
        {"read-skew-session": 1},
        breaks(Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION, Level.PREFIX),
        id="a session goes back, if the other's writes are in its order",
    ),
]


@pytest.mark.parametrize(("history", "names", "levels"), CASES)
def test_a_case_has_its_names_and_breaks_its_levels(
    history: History, names: dict[str, int], levels: frozenset[Level]
) -> None:
    assert violated(history) == levels
    assert adya.names(history) == names
    assert_agreement(history)


def test_a_dirty_update_stands_behind_what_was_taken_back() -> None:
    recorder = Recorder()
    with recorder.transaction() as aborted:
        aborted.append("x", 1)
        aborted.abort()
    with recorder.transaction() as behind:
        behind.append("x", 2)
    with recorder.transaction() as reader:
        reader.read("x", [1, 2])
    assert adya.names(recorder.history()) == {"dirty-update": 1}
    assert violated(recorder.history()) == breaks(Level.PL_2)


def test_a_claim_decides_what_no_level_infers() -> None:
    """Who reads and then writes comes later: that is inferred from `pl-2` up, and claimed at every level."""
    history = told("1: r(x,1) w(x,2) w(y,1)", "2: r(y,1) w(y,2) w(x,1)")
    assert adya.outcome(history, Level.PL_1) is Outcome.HOLDS
    assert adya.outcome(history, Level.PL_1, ["writes-follow-reads"]) is Outcome.VIOLATED
    assert adya.names(history, ["writes-follow-reads"])["write-cycle"] == 1


def test_versions_that_claims_put_before_themselves_break_every_level_but_the_guarantees() -> None:
    history = told("1: w(x,1)", "2: w(x,2)", "3: r(x,1)", "3: r(x,2)", "3: r(x,1)")
    assert Level.PL_1 not in violated(history)
    assert violated(history, "sequential-keys") >= breaks(Level.PL_1)
    assert adya.names(history, ["sequential-keys"])["cyclic-versions"] == 1


def test_real_time_orders_what_was_over_and_nothing_else() -> None:
    """A write, another one, and then a read of the first: only a level of real time minds."""
    ticks = iter(range(6))
    recorder = Recorder(initial=0, clock=lambda: next(ticks))
    for kind, value in (("write", 1), ("write", 2), ("read", 1)):
        with recorder.transaction() as transaction:
            getattr(transaction, kind)("x", value)
    assert violated(recorder.history()) == breaks(Level.STRONG_SNAPSHOT_ISOLATION)
    assert adya.names(recorder.history()) == {"read-skew-real-time": 1}


def test_where_sources_contradict_each_other_a_level_is_decided_if_all_of_them_agree() -> None:
    """Declared is that 2 was first, the clock says 1: a session that reads 1 and then 2 went on or back."""
    recorder = Recorder(initial=0)
    for number in (1, 2):
        with recorder.transaction() as transaction:
            transaction.write("x", number)
            transaction.timestamps(2 * number, 2 * number + 1)
    for number in (1, 2):
        with recorder.transaction(session=1) as transaction:
            transaction.read("x", number)
    recorder.version_order("x", [2, 1])
    found = adya.outcomes(recorder.history())
    assert found[Level.MONOTONIC_READS] is Outcome.UNKNOWN
    assert found[Level.SERIALIZABLE] is Outcome.HOLDS
    assert adya.names(recorder.history()) == {"contradictory-evidence": 1, "read-skew-session": 1}


def test_an_append_that_may_be_another_s_leaves_undecided_what_is_not_violated() -> None:
    """Two lost updates, if the elements were different: they have no versions, so nobody may say `holds`."""
    history = told("1: r(x,[]) a(x,1)", "2: r(x,[]) a(x,1)")
    assert set(adya.outcomes(history).values()) == {Outcome.UNKNOWN}
    assert adya.outcome(told("1: r(x,[]) a(x,1)", "2: a(x,2)"), Level.SERIALIZABLE) is Outcome.HOLDS


@pytest.mark.parametrize("kind", ["delete", "mixed", "range"])
@pytest.mark.parametrize(("seen", "expected"), [(1, Outcome.UNKNOWN), (2, Outcome.VIOLATED)])
def test_what_is_not_judged_leaves_levels_unknown_but_a_violation_stands(
    kind: str, seen: int, expected: Outcome
) -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction() as writer:
        writer.write("x", 1)
    with recorder.transaction() as reader:
        reader.read("x", seen)
        if kind == "delete":
            reader.delete("y")
        elif kind == "mixed":
            reader.append("y", 1)
            reader.write("y", 2)
        else:
            reader.range_read(Range(low=0))
    found = adya.outcomes(recorder.history())
    assert (found[Level.PL_1], found[Level.PL_2]) == (Outcome.UNKNOWN, expected)


def test_a_log_proves_that_an_indeterminate_transaction_committed() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as writer:
        writer.write("x", 1)
        writer.indeterminate()
    with recorder.transaction(session=1) as reader:
        reader.read("x", 0)
    assert violated(recorder.history()) == frozenset()
    recorder.version_order("x", [1], source=VersionSource.LOG)
    assert Level.READ_YOUR_WRITES in violated(recorder.history())


# Elle.

ELLE = [
    pytest.param(case, id=f"{number}-{case['name']}")
    for number, case in enumerate(cases())
    if case["level"] == "check" and case["options"].get("consistency-models") and case["ops"]
    if isinstance(case["expected_valid"], bool) and is_readable(case)
]


@pytest.mark.parametrize("case", ELLE)
def test_a_case_of_elle_gets_the_right_answer(case: dict[str, Any], tmp_path: Path) -> None:
    """Where Elle is known to be wrong, it calls valid what is not."""
    history = history_of(case, tmp_path)
    claimed = elle_claims(case)
    models = [parse(f"elle:{model}") for model in case["options"]["consistency-models"]]
    found = [adya.outcome(history, level, claimed) for level in models]
    is_wrong = {"known_bug", "known_gap"} & case.keys()
    is_valid = not is_wrong and VALID_INSTEAD.get(case["name"], case["expected_valid"])
    assert (Outcome.VIOLATED in found) is not is_valid
    assert Outcome.UNKNOWN not in found
