"""Deletes, range reads and predicates: the native core against the specification, at every level."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from isoscope import check
from isoscope import levels as lattice
from isoscope.checkers import version_order
from isoscope.checkers.itemised import with_range_reads_as_reads
from isoscope.checkers.version_order import LEVELS
from isoscope.history import Range
from isoscope.levels import Level
from isoscope.recorder import Recorder
from isoscope.reference import adya, cycles, explanations
from isoscope.verdict import Outcome
from tests import range_histories_spec
from tests.seeds import DEEP, seeds

if TYPE_CHECKING:
    from isoscope.history import History

pytestmark = pytest.mark.timeout(3600 if DEEP else 300)
SEEDS = seeds(150, deep=10_000)
WEAK_LEVELS = (Level.CUT_ISOLATION, Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)
ASKED = tuple(dict.fromkeys((*LEVELS, *WEAK_LEVELS)))
#: Histories with more explanations take too long.
MOST_EXPLANATIONS = 60
#: Names of circles that reads close, by the times that they need.
SKEWS = ("read-skew", "long-fork", "write-skew")
NAMES = (
    "lost-update",
    "phantom",
    *(f"{n}{suffix}" for n in SKEWS for suffix in ("", "-session", "-real-time")),
)


def is_small(history: History) -> bool:
    return len([*islice(explanations.explanations(history), MOST_EXPLANATIONS + 1)]) <= MOST_EXPLANATIONS


@pytest.mark.parametrize("kind", ["serial", "disturbed"])
def test_every_level_is_what_the_specification_says(kind: str) -> None:
    make = getattr(range_histories_spec, kind)
    found: Counter[Outcome | str] = Counter()
    for seed in range(SEEDS):
        history = make(random.Random(seed))
        if not is_small(history):
            continue
        expected = explanations.outcomes(history)
        for verdict in check(history, ASKED).verdicts:
            # A search that was too long is no wrong answer.
            assert verdict.outcome in (expected[verdict.level], Outcome.UNKNOWN), (seed, verdict.level)
            found["decided" if verdict.outcome is expected[verdict.level] else "open"] += 1
            found[verdict.outcome] += 1
    assert found["open"] < found["decided"] / 500
    assert found[Outcome.HOLDS] > 1_000
    assert found[Outcome.VIOLATED] > 200 or kind == "serial"


def skewed(rng: random.Random) -> History:
    """Transactions that each insert rows of their own, with unique values, and see any rows of others."""
    keys, count = (1, 2, 3, 4), rng.choice((2, 3, 3))
    recorder = Recorder(initial=None)
    for number in range(count):
        with recorder.transaction(session=rng.randrange(2)) as t:
            others = [key for key in keys if key % count != number]
            shown = tuple((key, 10 * key) for key in others if rng.random() < 0.4)
            predicate = rng.choice((None, ":true"))
            t.range_read(Range(low=None, high=None, rows=shown), predicate=predicate)
            for key in others:
                if rng.random() < 0.2:
                    t.read(key, rng.choice((None, 10 * key)))
            for key in keys:
                if key % count == number and rng.random() < 0.9:
                    t.insert(key, 10 * key)
    return recorder.history()


def test_circles_have_the_names_that_the_specification_gives_them() -> None:
    found: Counter[str] = Counter()
    for seed in range(SEEDS * 4):
        rng = random.Random(seed)
        history = skewed(rng) if seed % 2 else range_histories_spec.disturbed(rng)
        judged = version_order.judge(with_range_reads_as_reads(history), max_anomalies=1)
        counts = {name: judged.counts.get(name, 0) for name in NAMES}
        expected = cycles.names(history)
        assert counts == {name: expected.get(name, 0) for name in NAMES}, seed
        found += Counter(counts)
        outcomes = adya.outcomes(history)
        for verdict in judged.verdicts():
            # A level without a verdict of its own is broken because a weaker one is.
            assert verdict.outcome is not Outcome.VIOLATED or verdict.anomalies, (seed, verdict.level)
        told = {verdict.level for verdict in judged.verdicts()}
        for level in (level for level in LEVELS if level not in told):
            weaker = lattice.implied(level) - {level}
            assert any(outcomes.get(one) is Outcome.VIOLATED for one in weaker), (seed, level)
    assert found["phantom"] > 10
    assert found["read-skew"] > 2
    assert found["write-skew"] > 2


@pytest.mark.parametrize("tombstones", [(), (("b", None),)])
def test_two_updates_of_what_range_reads_left_out_break_the_levels_that_protect_it(
    tombstones: tuple[tuple[str, None], ...],
) -> None:
    recorder = Recorder()
    for number, shown in enumerate(((), tombstones)):
        with recorder.transaction(session="s") as t:
            t.range_read(Range(low="a", high="c", rows=(), tombstones=shown))
            t.insert("b", number)
    history = recorder.history()
    expected = explanations.outcomes(history)
    assert expected[Level.PARALLEL_SNAPSHOT_ISOLATION] is Outcome.VIOLATED
    found = {verdict.level: verdict.outcome for verdict in check(history, ASKED).verdicts}
    assert found == {level: expected[level] for level in ASKED}
