"""Counterexamples as proofs of a certificate: a wrong read, a cycle, or cases with a cycle in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.explain import parted
from isoscope.explain.value_text import same
from isoscope.explain.version_order import version_writes
from isoscope.reports.certificate_cases import Leaf, Literal, closed_part, tree
from isoscope.reports.certificate_guarantees import goes_back
from isoscope.reports.certificate_levels import CERTIFIED, Rules, forbids, is_seen
from isoscope.reports.certificate_names import REPEATED_ELEMENTS, Names, UncertifiedError
from isoscope.verdict import START, AlternativesFacts, ConflictFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isoscope.verdict import Anomaly, Participant, Step, Verdict, Witness

__all__ = ["proof_of"]

_Proof: TypeAlias = dict[str, Any]
#: Anomalies that one read shows, and those that two reads show.
_WRONG_READS = (
    "thin-air-read",
    "aborted-read",
    "future-read",
    "not-my-own-write",
    "not-my-last-write",
    "intermediate-read",
    "predicate-read-miss",
)


def proof_of(verdict: Verdict, names: Names) -> _Proof:
    """The proof that a level is violated, by the first counterexample that has one."""
    maker = _ProofMaker(CERTIFIED[str(verdict.level)], names)
    reason = ""
    for anomaly in verdict.anomalies:
        try:
            return maker.proof(anomaly)
        except UncertifiedError as error:
            reason = reason or str(error)
    raise UncertifiedError(reason)


class _ProofMaker:
    """Makes proofs for one level."""

    def __init__(self, rules: Rules, names: Names) -> None:
        self.rules = rules
        self.names = names

    def proof(self, anomaly: Anomaly) -> _Proof:
        """The proof that an anomaly is; `UncertifiedError` if the format has none for this level."""
        if anomaly.name in (*_WRONG_READS, "duplicate-elements"):
            return self._wrong_read(anomaly)
        if anomaly.name in ("non-repeatable-read", "incompatible-order"):
            return self._two_reads(anomaly)
        if isinstance(anomaly.facts, ConflictFacts):
            return self._conflict(anomaly.facts, anomaly.witnesses[0])
        if isinstance(anomaly.facts, AlternativesFacts):
            return self._cases(anomaly.facts)
        return self._cycle(anomaly.steps, anomaly.name)

    def _wrong_read(self, anomaly: Anomaly) -> _Proof:
        if not self.rules.wrong_reads and (self.rules.kind, anomaly.name) != ("writes", "duplicate-elements"):
            raise UncertifiedError(f"the format has no proof by {anomaly.name} for the level")
        if anomaly.name == "thin-air-read" and len(anomaly.witnesses) > 1 and self.names.has_open_ends:
            # Whether the read of another value counts is open.
            raise UncertifiedError("initial values and ends of transactions are unknown")
        self._refuse_repeated(anomaly.witnesses)
        _refuse_open_reader(anomaly)
        if self.rules.kind == "writes" and any(map(_has_own_appends, anomaly.participants)):
            raise UncertifiedError("a list shows elements twice beside own appends")
        return {"read": self.names.witness(anomaly.witnesses[0])}

    def _refuse_repeated(self, operations: Sequence[Witness]) -> None:
        """Of elements that were appended more than once the verifier knows no writer."""
        of_lists = any(isinstance(each.value, tuple) or each.kind == "append" for each in operations)
        if of_lists and self.names.repeats:
            raise UncertifiedError(REPEATED_ELEMENTS)

    def _two_reads(self, anomaly: Anomaly) -> _Proof:
        """Two reads that differ; a list that tears the appends of a transaction is wrong by itself."""
        reads = [witness for witness in anomaly.witnesses if witness.kind == "read"]
        if len(reads) < 2:
            return self._wrong_read(anomaly)
        _refuse_open_reader(anomaly)
        return {"reads": [*map(self.names.witness, reads[:2])]}

    def _conflict(self, facts: ConflictFacts, read: Witness) -> _Proof:
        """A transaction saw another one and missed its write."""
        shown = facts.served.witnesses[1] if facts.served else None
        missed = _Missed(self, (read, shown, facts.write), facts.sight)
        if shown is None:
            return missed.of_initial()
        lemmas, steps = self._steps(facts.order)
        if self.rules.axiom:
            return self.closed([], [*steps, missed.axiom()])
        return self.closed([*lemmas, missed.lemma()], [*steps, missed.replaced()])

    def _cycle(self, steps: Sequence[Step], name: str) -> _Proof:
        if len(steps) < 2:
            raise UncertifiedError(f"the format has no proof by {name}")
        if self.rules.kind == "guarantee":
            return goes_back(steps, [self.step(step) for step in steps])
        lemmas, cycle = self._steps(steps)
        is_lost_update = [step.relation for step in steps] == ["rw", "rw"] and same(
            steps[0].key, steps[1].key
        )
        if is_lost_update and not forbids(self.rules, cycle):
            return self._lost_update(*cycle)
        return self.closed(lemmas, cycle)

    def _lost_update(self, one: _Proof, two: _Proof) -> _Proof:
        """Both read one version and missed what the other wrote: whichever write is first, one is lost."""
        first, second = one["versions"][-1], two["versions"][-1]
        replaced = [
            {"by": "ww", "from": earlier[0], "to": later[0], "versions": [earlier, later]}
            for earlier, later in ((first, second), (second, first))
        ]
        return {
            "split": {"order": [first, second]},
            "then": self.closed([], [one, replaced[0]]),
            "else": self.closed([], [two, replaced[1]]),
        }

    def closed(self, lemmas: list[_Proof], cycle: list[_Proof]) -> _Proof:
        """The proof by a cycle; `UncertifiedError` if the level does not forbid it."""
        if not forbids(self.rules, cycle):
            raise UncertifiedError("the steps of the counterexample are not those that the format asks for")
        return ({"lemmas": lemmas} if lemmas else {}) | {"cycle": cycle}

    def _cases(self, facts: AlternativesFacts) -> _Proof:
        if not facts.alternatives:
            raise UncertifiedError("the search tried more orders than the counterexample shows")
        return tree([self._leaf(*parted(steps)) for steps in facts.alternatives])

    def _leaf(self, supposed: Sequence[Step], circle: Sequence[Step]) -> Leaf:
        proof = self._cycle(closed_part(supposed, circle), "no-commit-order")
        return Leaf(tuple(self._literal(step) for step in supposed), proof)

    def _literal(self, step: Step) -> Literal:
        if step.relation == "wr":
            read, *written = step.witnesses
            return Literal(self.names.witness(read), self.names.witness(written[0]) if written else None)
        first, second = version_writes(step)
        return Literal(self.names.witness(first), self.names.witness(second), is_order=True)

    def _steps(self, steps: Sequence[Step]) -> tuple[list[_Proof], list[_Proof]]:
        """The lemmas that steps need, and the steps."""
        lemmas: list[_Proof] = []
        found = []
        for step in steps:
            if step.relation == "cm" and not self.rules.axiom:
                missed = self._unseen(step)
                lemmas.append(missed.lemma())
                found.append(missed.replaced())
            else:
                found.append(self.step(step))
        return lemmas, found

    def step(self, step: Step) -> _Proof:
        """One step of a cycle."""
        make = _STEPS.get(step.relation)
        is_claimed = step.source.startswith("assume ") or step.source == "intervals"
        if make is None or is_claimed or (not step.witnesses and step.relation not in _WITHOUT_OPERATIONS):
            raise UncertifiedError(f"the format has no step by {step.source or step.relation}")
        self._refuse_repeated(step.witnesses)
        return make(self, step)

    def ends(self, step: Step, relation: str) -> _Proof:
        """The beginning of a step."""
        before, after = map(self._node, (step.before, step.after))
        if before is None and relation != "initial":
            raise UncertifiedError("a step starts at the initial state")
        return {"by": relation, "from": before, "to": after}

    def _node(self, label: str) -> Any:
        return None if label == START else self.names.labelled(label)

    def plain(self, step: Step) -> _Proof:
        return self.ends(step, step.relation)

    def read_from(self, step: Step) -> _Proof:
        return self.ends(step, "wr") | {"read": step.witnesses[0].item}

    def replaced(self, step: Step) -> _Proof:
        return self.ends(step, "ww") | {"versions": [*map(self.names.witness, version_writes(step))]}

    def missed(self, step: Step) -> _Proof:
        read, missed, *shown = step.witnesses
        versions = [self.shown(read, step.source, shown), self.names.witness(missed)]
        return self.ends(step, "rw") | {"read": read.item, "versions": versions}

    def shown(self, read: Witness, source: str, shown: Sequence[Witness]) -> Any:
        """The version that a read shows; None for the initial one."""
        if source == "initial" or read.value == ():
            return None
        if not shown:
            raise UncertifiedError("a counterexample does not name the write that a read shows")
        return self.names.witness(shown[0])

    def unseen(self, step: Step) -> _Proof:
        return self._unseen(step).axiom()

    def _unseen(self, step: Step) -> _Missed:
        if len(step.witnesses) != 3:
            raise UncertifiedError("a counterexample does not name the write that a read shows")
        read, shown, write = step.witnesses
        return _Missed(self, (read, shown, write), step.sight)


class _Missed:
    """A read, the write that it shows, and another write of the key, by a transaction that the reader saw."""

    def __init__(
        self,
        maker: _ProofMaker,
        operations: tuple[Witness, Witness | None, Witness],
        sight: Sequence[Step],
    ) -> None:
        self.maker = maker
        self.read, shown, write = operations
        names = maker.names
        self.shown = None if shown is None else names.witness(shown)
        self.write = names.witness(write)
        self.reader = names.labelled(self.read.transaction)
        self.sees = [maker.step(step) for step in sight]

    def of_initial(self) -> _Proof:
        """The read shows the initial version."""
        if not self.maker.rules.axiom:
            return self.maker.closed([], self._circle())
        first = {"by": "initial", "from": None, "to": self.write[0]}
        return self.maker.closed([], [first, self.axiom()])

    def axiom(self) -> _Proof:
        """The step that the axiom of a weak level demands."""
        if not is_seen(self.maker.rules, self.sees, self.read.item):
            raise UncertifiedError("the steps of the counterexample are not those that the format asks for")
        return {
            "by": "axiom",
            "from": self.write[0],
            "to": None if self.shown is None else self.shown[0],
            "reader": self.reader,
            "read": self.read.item,
            "sees": self.sees,
        }

    def lemma(self) -> _Proof:
        """The missed version comes first: else the reader would have missed what it saw."""
        return {"order": [self.write, self.shown], "because": self.maker.closed([], self._circle())}

    def replaced(self) -> _Proof:
        """The step that the lemma allows."""
        assert self.shown is not None, "no version comes before the initial one"
        return {
            "by": "ww",
            "from": self.write[0],
            "to": self.shown[0],
            "versions": [self.write, self.shown],
        }

    def _circle(self) -> list[_Proof]:
        missed = {"by": "rw", "from": self.reader, "to": self.write[0], "read": self.read.item}
        return [missed | {"versions": [self.shown, self.write]}, *self.sees]


def _refuse_open_reader(anomaly: Anomaly) -> None:
    """Whether a reader of which the end is unknown counts, the verifier may find in another way."""
    reader = anomaly.witnesses[0].transaction
    if any(each.transaction == reader and each.status != "committed" for each in anomaly.participants):
        raise UncertifiedError("the end of the reader is unknown")


def _has_own_appends(participant: Participant) -> bool:
    """Whether a transaction with a read that matters may have appended to a list itself."""
    operations = participant.operations
    is_reader = any(each.kind == "read" and each.index in participant.matters for each in operations)
    return is_reader and (participant.left_out > 0 or any(each.kind == "append" for each in operations))


_WITHOUT_OPERATIONS = ("session", "real-time")
_STEPS: dict[str, Callable[[_ProofMaker, Step], _Proof]] = {
    "session": _ProofMaker.plain,
    "real-time": _ProofMaker.plain,
    "wr": _ProofMaker.read_from,
    "ww": _ProofMaker.replaced,
    "rw": _ProofMaker.missed,
    "cm": _ProofMaker.unseen,
}
