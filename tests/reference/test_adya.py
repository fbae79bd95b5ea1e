"""The specification of the levels of versions says what brute force on values says."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, event, given, settings

from isoscope.levels import Level, implied, implying, parse
from isoscope.reference import adya, cycles, reads
from isoscope.reference.dependencies import Dependencies
from isoscope.reference.versions import Versions
from isoscope.verdict import Outcome
from tests.oracle.elle import cases, history_of, is_readable
from tests.oracle.elle import claims as elle_claims
from tests.oracle.test_elle import VALID_INSTEAD
from tests.seeds import DEEP, seeds

from . import replays
from .histories import random_history
from .version_histories import claims, random_claims, random_version_history, version_histories

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

SEEDS = seeds(300, deep=20_000)
PARTS = 2 if DEEP else 1
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


@pytest.mark.slow
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
    found, names = adya.outcomes(history, assume), cycles.names(history, assume)
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


@pytest.mark.slow
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
