"""Three definitions of snapshot isolation, written apart from one another, are one."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, event, given, settings

from isoscope.levels import Level
from isoscope.recorder import Recorder
from isoscope.reference import adya, reads, snapshot
from isoscope.reference.dependencies import Dependencies
from isoscope.reference.versions import Versions
from isoscope.verdict import Outcome
from tests.seeds import DEEP, seeds

from .version_histories import random_version_history, version_histories

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History
    from isoscope.reference.dependencies import Graph

SEEDS = seeds(300, deep=20_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
#: With more transactions there are too many orders of begins and commits.
MOST = 4
#: The levels that the variants are.
LEVELS = {
    "generalized": Level.SNAPSHOT_ISOLATION,
    "strong session": Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
    "strong": Level.STRONG_SNAPSHOT_ISOLATION,
}


def graphs(history: History) -> Iterator[Graph]:
    """A history without forbidden reads, under some complete orders of its versions."""
    versions = Versions(history)
    names = {finding.name for finding in reads.judge(history).findings}
    if names <= {"non-repeatable-read"} and not versions.contradictions:
        dependencies = Dependencies(versions)
        yield from (dependencies.under(order) for order in islice(versions.completions(), 6))


def assert_agreement(graph: Graph) -> dict[str, bool]:
    """For each variant the answer of all three."""
    found = {variant: snapshot.bc_graph(graph, variant) for variant in snapshot.VARIANTS}
    assert {variant: snapshot.adya(graph, variant) for variant in found} == found
    assert {variant: snapshot.operational(graph, variant) for variant in found} == found
    return found


def test_three_definitions_agree_on_many_seeds_and_both_answers_are_seen() -> None:
    seen: Counter[tuple[str, bool]] = Counter()
    for seed in range(SEEDS):
        for graph in graphs(random_version_history(random.Random(seed), most=MOST)):
            seen.update(assert_agreement(graph).items())
    assert seen.keys() == {(variant, holds) for variant in snapshot.VARIANTS for holds in (True, False)}
    assert min(seen.values()) > SEEDS // 20, seen


@settings(
    max_examples=2_000 if DEEP else 60,
    deadline=None,
    derandomize=not DEEP,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(history=version_histories(most=MOST))
def test_three_definitions_agree(history: History) -> None:
    for graph in graphs(history):
        event(str(assert_agreement(graph)["generalized"]))


def test_a_level_holds_if_some_completion_is_snapshot_isolated() -> None:
    seen: Counter[Outcome] = Counter()
    for seed in range(SEEDS // 2):
        history = random_version_history(random.Random(seed), most=MOST)
        complete = list(graphs(history))
        if not 0 < len(complete) < 6:
            continue
        for variant, level in LEVELS.items():
            outcome = adya.outcome(history, level)
            some = any(snapshot.operational(graph, variant) for graph in complete)
            assert outcome is (Outcome.HOLDS if some else Outcome.VIOLATED)
            seen[outcome] += 1
    assert min(seen[Outcome.HOLDS], seen[Outcome.VIOLATED]) > SEEDS // 20, seen


def test_a_recorded_order_with_a_phenomenon_is_no_violation_if_another_order_has_none() -> None:
    """The second overlaps the first in real time and reads from it: plain snapshot isolation lets it."""
    ticks = iter((0, 1, 2, 3))
    recorder = Recorder(initial=0, clock=lambda: next(ticks))
    with recorder.transaction() as reader, recorder.transaction() as writer:
        writer.write("x", 1)
        reader.read("x", 1)
    [graph] = graphs(recorder.history())
    assert assert_agreement(graph) == dict.fromkeys(snapshot.VARIANTS, True)


def test_the_variants_are_three() -> None:
    """Any transaction may read an old value; not after a write of its session; not after any write."""
    ticks = iter(range(6))
    recorder = Recorder(initial=0, clock=lambda: next(ticks))
    with recorder.transaction(session=1) as writer:
        writer.write("x", 1)
    with recorder.transaction(session=2) as reader:
        reader.read("x", 0)
    [graph] = graphs(recorder.history())
    assert assert_agreement(graph) == {"generalized": True, "strong session": True, "strong": False}
    with recorder.transaction(session=1) as reader:
        reader.read("x", 0)
    [graph] = graphs(recorder.history())
    assert assert_agreement(graph) == {"generalized": True, "strong session": False, "strong": False}
