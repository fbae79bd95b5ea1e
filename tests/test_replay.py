"""Every step of every proof is checked against the history by plain code, and every witness is minimal."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.checkers import check, conflicts
from isoscope.history import Status
from isoscope.recorder import build
from isoscope.reference.reads import token
from isoscope.reference.weak import Relations
from tests.proofs import Replay, installed
from tests.reference.weak_histories import random_weak_history
from tests.seeds import seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.verdict import Anomaly

SEEDS = seeds(1_200, deep=20_000)
PARTS = 4
ROOT = Path(__file__).parents[1]
ORACLE = Path(os.environ.get("ISOSCOPE_ORACLE") or ROOT.parent / "shared" / "oracle")
CASES = sorted((Path(__file__).with_name("histories")).glob("*/violated-*"))
TAP = sorted((ORACLE / "weak" / "tap").glob("*.txt"))


def anomalies_of(history: History, most: int = 1000) -> Iterator[Anomaly]:
    [verdict] = check(history, ["causal"], max_anomalies=most).verdicts
    return (anomaly for anomaly in verdict.anomalies if anomaly.name in conflicts.NAMES)


def random_histories(part: int) -> Iterator[tuple[int, History]]:
    for seed in range(part, SEEDS, PARTS):
        yield seed, random_weak_history(random.Random(seed), unique=seed % 5 > 0)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_step_of_every_proof_can_be_replayed(part: int) -> None:
    seen = set()
    for _, history in random_histories(part):
        replay = Replay(history)
        for anomaly in anomalies_of(history):
            replay.anomaly(anomaly)
            seen.add(anomaly.name)
    assert len(seen) > 6, seen


@pytest.mark.parametrize("path", [*CASES, *TAP], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_step_of_a_case_can_be_replayed(path: Path) -> None:
    history = isoscope.load(path)
    for anomaly in anomalies_of(history):
        Replay(history).anomaly(anomaly)
        for step in anomaly.steps:
            assert all(witness.place for witness in step.witnesses)


def test_a_list_of_many_hundred_transactions_has_short_proofs_that_can_be_replayed() -> None:
    """A session is one step, whatever its length, and a proof takes the shortest way."""
    writers = [[("write", f"k{n}", 1)] for n in range(300)]
    recorder = isoscope.Recorder(initial=0)
    for operations in [*writers, [("read", "k0", 0), ("read", "k299", 1)]]:
        with recorder.transaction(session="s" if operations in writers else "r") as t:
            for kind, *arguments in operations:
                getattr(t, kind)(*arguments)
    history = recorder.history()
    [anomaly] = anomalies_of(history)
    Replay(history).anomaly(anomaly)
    assert (anomaly.name, len(anomaly.transactions)) == ("causal-conflict", 3)


# Minimal: without any of its transactions, and the reads that it served, the level holds. Asked of histories
# that show one anomaly once: where there are several, a smaller one is often inside a larger one.

#: What is known to be more than is needed, by seed: the order of a list would do where happens-before gives
#: the name, or what remains is an anomaly of another name. None: the proof rests on the end of a list whose
#: last writer it does not name. A change of the generator needs a new list.
NOT_MINIMAL: dict[int, list[str] | None] = {
    1760: ["T4"],
    2489: ["T1"],
    4382: ["T4", "T2"],
    5671: None,
    6186: ["T1"],
    8118: ["T2"],
    9053: ["T2"],
    9767: ["T4", "T3"],
    10324: ["T2"],
    11545: ["T2", "T5"],
    14078: ["T3"],
    14091: ["T2", "T3"],
    14163: ["T4"],
    16979: ["T2"],
    17593: ["T3"],
    17933: ["T1"],
    18695: ["T5"],
    18760: None,
    19868: ["T3"],
}


@pytest.mark.parametrize("part", range(PARTS))
def test_a_proof_needs_every_transaction_that_it_names(part: int) -> None:
    asked = 0
    for seed in range(part, SEEDS, PARTS):
        history = random_weak_history(random.Random(seed))
        [verdict] = check(history, ["causal"]).verdicts
        for anomaly in anomalies_of(history) if sum(verdict.anomaly_counts.values()) == 1 else ():
            assert surplus(history, anomaly) == NOT_MINIMAL.get(seed, []), seed
            asked += 1
    assert asked > SEEDS / PARTS / 20


def is_broken(history: History, labels: set[str], level: Level) -> bool:
    """Whether the transactions alone break the level, without what they read from others.

    Lists stay whole, with elements of unknown writers: the source of such a read is not known, the rest of
    it is. A transaction that counted as committed still counts.
    """
    transactions = list(history)
    others = {pair for t in transactions if t.label not in labels for pair in installed(t)}
    kept = [
        replace(
            t,
            status=Status.COMMITTED,
            operations=tuple(o for o in t.operations if (token(o.key), token(o.value)) not in others),
        )
        for t in transactions
        if t.label in labels
    ]
    return not Relations(build(kept, initial=history.initial)).have_commit_order(level)


def surplus(history: History, anomaly: Anomaly) -> list[str] | None:
    """Transactions without which the others of an anomaly still break its level; None if all do not."""
    level, members = conflicts.NAMES[anomaly.name], set(anomaly.transactions)
    if not is_broken(history, members, level):
        return None
    return [label for label in anomaly.transactions if is_broken(history, members - {label}, level)]
