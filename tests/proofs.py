"""Proofs compared with the history that they are about, by plain code without the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

from isoscope.explain import parted
from isoscope.history import Status
from isoscope.reference import reads
from isoscope.reference.reads import token
from isoscope.verdict import START, AlternativesFacts, ConflictFacts
from tests.version_order_proofs import Orders, Version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.history import History, Operation, Transaction
    from isoscope.verdict import Anomaly, Step, Witness


@dataclass
class Replay:
    """Holds an anomaly against the history that it was found in."""

    history: History

    def __post_init__(self) -> None:
        self.by_label = {transaction.label: transaction for transaction in self.history}
        self.counted = reads.counted(self.history)
        self.orders = Orders(self.history, self.counted)
        #: Circles that would have a weaker name by themselves.
        self.weaker = 0

    def anomaly(self, anomaly: Anomaly) -> None:
        for step in anomaly.steps:
            self.step(step)
            assert {step.before, step.after} <= {*anomaly.transactions, START}
        for witness in anomaly.witnesses:
            self.places(witness)
        for label in anomaly.transactions:
            assert (self.by_label[label].number in self.counted) != self.is_dirty(anomaly, label)
        assert len({token(key) for key in anomaly.keys}) == len(anomaly.keys)
        if isinstance(anomaly.facts, ConflictFacts):
            self.conflict(anomaly, anomaly.facts)
        elif isinstance(anomaly.facts, AlternativesFacts):
            self.alternatives(anomaly.facts.alternatives)
        else:
            self.as_named(anomaly, anomaly.steps)

    def is_dirty(self, anomaly: Anomaly, label: str) -> bool:
        """Whether it is the writer whose update stayed although it rolled back."""
        is_aborted = self.by_label[label].status is Status.ABORTED
        return is_aborted and anomaly.name == "dirty-update" and label == anomaly.steps[0].before

    def alternatives(self, alternatives: Sequence[Sequence[Step]]) -> None:
        """Each supposes orders of two versions, and one of them must be right; each closes a circle."""
        if not alternatives:
            return
        every = [*map(parted, alternatives)]
        self.complete([[_order(step) for step in supposed] for supposed, _ in every])
        for supposed, rest in every:
            is_closed = bool(rest) and rest[0].before == rest[-1].after
            circle = rest if is_closed else [*supposed[-1:], *rest]
            if not rest:
                circle = _in_a_chain(supposed)
            assert circle[0].before == circle[-1].after
            assert self.chains(circle)
            known = {_order(step) for step in supposed}
            assert all(_order(s) in known for s in circle if (s.relation, s.source) == ("ww", "supposed"))

    def complete(self, supposed: Sequence[Sequence[tuple[object, ...]]]) -> None:
        """One of these cases applies, whatever the orders are: the first pair is decided both ways."""
        if any(not case for case in supposed):
            assert len(supposed) == 1
            return
        pairs = {(key, frozenset(ends)) for case in supposed for key, *ends in case[:1]}
        assert len(pairs) == 1
        for first in {case[0] for case in supposed}:
            key, before, after = first
            assert (key, after, before) in {case[0] for case in supposed}
            self.complete([case[1:] for case in supposed if case[0] == first])

    def as_named(self, anomaly: Anomaly, steps: Sequence[Step]) -> None:
        named = {
            "dirty-update": self.dirty_update,
            "cyclic-versions": self.cyclic_versions,
            "contradictory-evidence": self.contradiction,
        }
        if anomaly.name in named:
            named[anomaly.name](steps)
        else:
            self.cycle(anomaly, steps)

    def dirty_update(self, steps: Sequence[Step]) -> None:
        [step] = steps
        assert step.relation == "ww"
        read, first, second = step.witnesses
        elements = [*map(token, read.value)]  # type: ignore[call-overload]
        assert elements.index(token(first.value)) < elements.index(token(second.value))

    def cyclic_versions(self, steps: Sequence[Step]) -> None:
        assert len({token(step.key) for step in steps}) == 1
        assert {step.relation for step in steps} == {"ww"}
        assert steps[0].before == steps[-1].after
        assert self.chains(steps)

    def contradiction(self, steps: Sequence[Step]) -> None:
        assert len({step.source for step in steps}) > 1
        self.cyclic_versions(steps)

    def conflict(self, anomaly: Anomaly, facts: ConflictFacts) -> None:
        stale, served, order, sight = anomaly.witnesses[0], facts.served, facts.order, facts.sight
        self.misses(stale, served.witnesses[1] if served else None, facts.write, sight)
        assert [stale.transaction, facts.newer] == [sight[-1].after, sight[0].before]
        if served is None:
            assert order == ()
        else:
            assert [served.before, facts.newer] == [order[0].before, order[-1].after]
            assert served.after == stale.transaction
            assert self.chains(order)
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
        found = [step.relation for step in steps]
        name, order = with_order(anomaly.name)
        assert set(found) <= RELATIONS[name] | ORDERS[order]
        # The order of versions that a step rests on may be known by sessions or real time alone.
        known_by = {*found, *(step.source for step in steps)}
        if order is not None and order not in known_by:
            assert name in COMPONENTS, "it would have a weaker name"
            self.weaker += 1
        in_a_row = [
            first
            for first, second in zip(found, [*found[1:], found[0]], strict=True)
            if first == second == "rw"
        ]
        if name in ("write-cycle", "circular-information-flow", "cyclic-causal-order"):
            assert "rw" not in found
        elif name == "read-skew":
            assert found.count("rw") == 1
        elif name == "long-fork":
            assert found.count("rw") > 1
            assert not in_a_row
        elif name == "write-skew":
            assert found.count("rw") > 1
        else:
            assert "rw" in found
            assert len({token(step.key) for step in steps}) == 1

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
        replay = {
            "session": self.session,
            "wr": self.write_read,
            "ww": self.version_order,
            "cm": self.demand,
            "rw": self.missed,
            "real-time": self.real_time,
        }
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
        for witness in step.witnesses:
            self.places(witness)
            assert token(witness.key) == token(step.key)
        if isinstance(step.witnesses[0].value, tuple):
            self.list_order(step)
            return
        ends = [label for label in (step.before, step.after) if label != START]
        writes = step.witnesses[: len(ends)]
        assert [write.transaction for write in writes] == ends
        assert all(write.kind in reads.INSTALLS for write in writes)
        values = [token(write.value) for write in writes]
        older = self.orders.initial(step.key) if step.before == START else values.pop(0)
        newer = self.orders.initial(step.key) if step.after == START else values.pop(0)
        assert self.has(step, Version(step.before, older), Version(step.after, newer))
        self.observed(step.witnesses[len(ends) :], older, newer)

    def has(self, step: Step, older: Version, newer: Version) -> bool:
        """Whether the source of the step puts one version before the other."""
        return self.orders.has(step.source, step.key, older, newer)

    def observed(self, seen: Sequence[Witness], older: object, newer: object) -> None:
        """The operations that saw the versions, if a claim orders them by these."""
        assert [token(witness.value) for witness in seen] in ([], [older, newer])

    def list_order(self, step: Step) -> None:
        read, first, second = step.witnesses
        assert step.source in ("", "list read")
        assert [first.transaction, second.transaction] == [step.before, step.after]
        elements = [*map(token, read.value)]  # type: ignore[call-overload]
        assert token(first.value) in elements
        if token(second.value) in elements:
            assert elements.index(token(first.value)) < elements.index(token(second.value))
        else:
            longest = self.orders.canonical(step.key)
            place = longest.index(token(first.value))
            assert elements[: place + 1] == longest[: place + 1]
            assert token(second.value) not in longest[: place + 1]

    def missed(self, step: Step) -> None:
        """The read shows a state that the write is not in yet."""
        seen, write, *served = step.witnesses
        assert [seen.transaction, write.transaction] == [step.before, step.after]
        for witness in step.witnesses:
            assert token(witness.key) == token(step.key)
            self.places(witness)
        assert write.kind in reads.INSTALLS
        if isinstance(seen.value, tuple):
            self.missed_append(seen, write)
            return
        reader = self.by_label[seen.transaction]
        assert any(not reads.installed_before(reader, seen.key, place) for place in self.places(seen))
        assert all(token(one.value) == token(seen.value) for one in served)
        older = Version(START, self.orders.initial(step.key))
        if step.source == "initial":
            assert older.value == token(seen.value)
        else:
            # A read of a value that its writer replaced comes before all writers after that one.
            assert served
            writer = self.by_label[served[0].transaction]
            older = Version(writer.label, reads.installed(writer, step.key)[-1])
        assert older.writer != write.transaction
        assert self.has(step, older, Version(write.transaction, token(write.value)))

    def missed_append(self, seen: Witness, append: Witness) -> None:
        reader, longest = self.by_label[seen.transaction], self.orders.canonical(seen.key)
        parts = [reads.foreign_part(reader, place, reader.operations[place]) for place in self.places(seen)]
        installed = reads.installed(self.by_label[append.transaction], append.key)
        times = installed.count(token(append.value))
        assert any(
            part == longest[: len(part)] and part.count(token(append.value)) < times
            for part in parts
            if part is not None
        )

    def real_time(self, step: Step) -> None:
        before, after = self.by_label[step.before], self.by_label[step.after]
        times = self.orders.apart(before, after)
        assert times is not None
        assert times[0] < times[1]
        assert step.times == times

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


def _order(step: Step) -> tuple[object, ...]:
    """The key and the two versions whose order a step supposes."""
    return (token(step.key), *(token(witness.value) for witness in step.witnesses[:2]))


def _in_a_chain(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps in an order in which each ends where the next begins."""
    chains = (some for n in range(2, len(steps) + 1) for some in permutations(steps, n) if _is_circle(some))
    return next(chains)


def _is_circle(steps: Sequence[Step]) -> bool:
    return all(first.after == second.before for first, second in pairwise([*steps, steps[0]]))


def shows(read: Witness, write: Witness) -> bool:
    values = read.value if isinstance(read.value, tuple) else (read.value,)
    return read.kind == "read" and token(write.value) in map(token, values)


def installed(transaction: Transaction) -> set[tuple[object, object]]:
    return {(token(o.key), token(o.value)) for o in transaction.operations if o.kind in reads.INSTALLS}


#: What a circle of each name may be made of, beside the order of the clients.
RELATIONS = {
    "cyclic-causal-order": {"session", "wr"},
    "write-cycle": {"session", "ww"},
    "circular-information-flow": {"session", "wr", "ww"},
    "lost-update": {"ww", "rw"},
    "read-skew": {"wr", "ww", "rw"},
    "long-fork": {"wr", "ww", "rw"},
    "write-skew": {"wr", "ww", "rw"},
}
#: Counted by components: sessions may have joined several to one, in which no single circle needs them.
COMPONENTS = ("write-cycle", "circular-information-flow", "long-fork", "write-skew")
ORDERS: dict[str | None, set[str]] = {
    None: set(),
    "session": {"session"},
    "real-time": {"session", "real-time"},
}


def with_order(name: str) -> tuple[str, str | None]:
    """The name without the order of the clients that it needs, and that order."""
    for order in ("session", "real-time"):
        if name.endswith(f"-{order}"):
            return name.removesuffix(f"-{order}"), order
    return name, None
