"""Every step of every proof is checked against the history by plain code, and every witness is minimal."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope.checkers import check, conflicts
from isoscope.history import Status
from isoscope.recorder import build
from isoscope.reference import reads
from isoscope.reference.reads import token
from isoscope.reference.weak import Relations
from tests.reference.weak_histories import random_weak_history

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.history import History, Operation, Transaction
    from isoscope.levels import Level
    from isoscope.verdict import Anomaly, Step, Witness

SEEDS = 20_000 if os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep" else 2_000
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


@dataclass
class Replay:
    """Holds an anomaly against the history that it was found in."""

    history: History

    def __post_init__(self) -> None:
        self.by_label = {transaction.label: transaction for transaction in self.history}
        self.counted = reads.counted(self.history)

    def anomaly(self, anomaly: Anomaly) -> None:
        for step in anomaly.steps:
            self.step(step)
            assert {step.before, step.after} <= set(anomaly.transactions)
        for witness in anomaly.witnesses:
            self.places(witness)
        for label in anomaly.transactions:
            assert self.by_label[label].number in self.counted
        assert len({token(key) for key in anomaly.keys}) == len(anomaly.keys)
        facts: dict[str, Any] = dict(anomaly.facts)
        if "reader" in facts:
            self.conflict(anomaly, **facts)
        else:
            self.cycle(anomaly, facts["order"])

    def conflict(
        self,
        anomaly: Anomaly,
        *,
        reader: str,
        older: str | None,
        newer: str,
        served: Sequence[Step],
        write: Witness,
        order: Sequence[Step],
        sight: Sequence[Step],
    ) -> None:
        stale = anomaly.witnesses[0]
        assert stale.transaction == reader
        assert write.transaction == newer
        self.misses(stale, served[0].witnesses[1] if served else None, write, sight)
        assert [stale.transaction, newer] == [sight[-1].after, sight[0].before]
        if older is None:
            assert (order, served) == ((), ())
        else:
            assert [older, newer] == [order[0].before, order[-1].after]
            assert self.chains(order)
            assert served[0].before == older
        if anomaly.name in ("non-monotonic-read-co", "fractured-read-co", "causal-conflict"):
            assert {step.relation for step in order} <= {"session", "wr"}
        self.sees_as_its_name_says(anomaly.name, stale, sight)

    def sees_as_its_name_says(self, name: str, stale: Witness, sight: Sequence[Step]) -> None:
        if name.startswith("non-monotonic"):
            [step] = sight
            assert step.relation == "wr"
            assert min(self.places(step.witnesses[0])) < max(self.places(stale))
        elif name.startswith("fractured"):
            [step] = sight
            assert step.relation in ("session", "wr")

    def cycle(self, anomaly: Anomaly, steps: Sequence[Step]) -> None:
        assert steps[0].before == steps[-1].after
        assert self.chains(steps)
        relations = {
            "cyclic-causal-order": {"session", "wr"},
            "write-cycle": {"session", "ww"},
            "circular-information-flow": {"session", "wr", "ww"},
        }
        assert {step.relation for step in steps} <= relations[anomaly.name]

    @staticmethod
    def chains(steps: Sequence[Step]) -> bool:
        """Each goes on where the one before ended, and no transaction comes twice but to close a cycle."""
        visited = [step.before for step in steps]
        return (
            all(first.after == second.before for first, second in pairwise(steps))
            and len(set(visited)) == len(visited)
            and steps[-1].after not in visited[1:]
        )

    def step(self, step: Step) -> None:
        assert step.before != step.after
        replay = {"session": self.session, "wr": self.write_read, "ww": self.version_order, "cm": self.demand}
        replay[step.relation](step)

    def session(self, step: Step) -> None:
        before, after = self.by_label[step.before], self.by_label[step.after]
        [session] = [s.transactions for s in self.history.sessions if before.number in s.transactions]
        assert session.index(before.number) < session.index(after.number)
        assert step.session == before.session_id

    def write_read(self, step: Step) -> None:
        read, write = step.witnesses
        assert [write.transaction, read.transaction] == [step.before, step.after]
        assert shows(read, write)
        for witness in step.witnesses:
            self.places(witness)
            assert token(witness.key) == token(step.key)

    def version_order(self, step: Step) -> None:
        read, first, second = step.witnesses
        for witness in step.witnesses:
            self.places(witness)
            assert token(witness.key) == token(step.key)
        assert [first.transaction, second.transaction] == [step.before, step.after]
        elements = [*map(token, read.value)]  # type: ignore[call-overload]
        assert token(first.value) in elements
        if token(second.value) in elements:
            assert elements.index(token(first.value)) < elements.index(token(second.value))
        else:
            longest = reads.canonical_list(list(self.history), self.counted, step.key)
            place = longest.index(token(first.value))
            assert elements[: place + 1] == longest[: place + 1]
            assert token(second.value) not in longest[: place + 1]

    def demand(self, step: Step) -> None:
        read, served, missed = step.witnesses
        assert [missed.transaction, served.transaction] == [step.before, step.after]
        self.misses(read, served, missed, step.sight)

    def misses(self, stale: Witness, served: Witness | None, missed: Witness, sight: Sequence[Step]) -> None:
        """The read is from the writer of `served`, and the writer of `missed` was in the reader's sight."""
        assert token(stale.key) == token(missed.key)
        self.places(stale)
        self.places(missed)
        if served is not None:
            self.places(served)
            assert token(stale.key) == token(served.key)
            assert self.is_source(stale, served)
        assert [sight[0].before, sight[-1].after] == [missed.transaction, stale.transaction]
        assert self.chains(sight)
        for step in sight:
            self.step(step)
            assert step.relation in ("session", "wr")

    def is_source(self, read: Witness, write: Witness) -> bool:
        """Whether the write is the value, or the last element of the list that is not the reader's own."""
        if not isinstance(read.value, tuple):
            return token(read.value) == token(write.value)
        own = installed(self.by_label[read.transaction])
        others = [value for value in map(token, read.value) if (token(read.key), value) not in own]
        return others[-1] == token(write.value)

    def places(self, witness: Witness) -> list[int]:
        """Where in its transaction the operation stands."""
        operations = self.by_label[witness.transaction].operations
        found = [place for place, operation in enumerate(operations) if is_it(operation, witness)]
        assert found, witness
        return found


def is_it(operation: Operation, witness: Witness) -> bool:
    return operation.kind == witness.kind and all(
        (token(one), repr(one)) == (token(other), repr(other))
        for one, other in ((operation.key, witness.key), (operation.value, witness.value))
    )


def shows(read: Witness, write: Witness) -> bool:
    values = read.value if isinstance(read.value, tuple) else (read.value,)
    return read.kind == "read" and token(write.value) in map(token, values)


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

    Lists stay whole, with elements of which nobody can say who appended them: what such a read was served
    by is not known, and what else it shows is. Who counted as committed counts still.
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


def installed(transaction: Transaction) -> set[tuple[object, object]]:
    return {(token(o.key), token(o.value)) for o in transaction.operations if o.kind in reads.INSTALLS}


def surplus(history: History, anomaly: Anomaly) -> list[str] | None:
    """Transactions without which the others of an anomaly still break its level; None if all do not."""
    level, members = conflicts.NAMES[anomaly.name], set(anomaly.transactions)
    if not is_broken(history, members, level):
        return None
    return [label for label in anomaly.transactions if is_broken(history, members - {label}, level)]
