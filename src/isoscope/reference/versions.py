"""The order in which the versions of each key were installed: the known part, and every way to complete it.

A register has its initial version and one for each transaction that writes it (its last write); a list has
its empty state and one version for each append whose element no other transaction appended. Only
transactions that count as committed have versions. Sources order them, strongest first: list reads, a log, a
declared order, commit timestamps. Two sources that cannot both be right contradict each other; then each is
judged alone. Rules order versions of registers that the sources leave open, where the opposite order would
break the level by itself; claims are orders that the user vouches for.

Adya 1999 (Section 4.2) has version orders; Kingsbury and Alvaro 2020 (Section 5) infer them from reads.
Where they are silent, `docs/explanation/version-order.md` has the decision. Cost: factorial, on purpose.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

from isoscope.history import VersionSource
from isoscope.reference import reads
from isoscope.reference.observations import INITIAL, Observation, Observations
from isoscope.reference.order import Order, Pair, Version, linear
from isoscope.reference.real_time import real_time
from isoscope.reference.relation import components, session_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.history import History, Operation, Scalar, Transaction
    from isoscope.reference.relation import Relation

__all__ = ["CLAIMS", "RULES", "SOURCES", "Versions", "coherent"]

#: Evidence that one version came before another, strongest first.
SOURCES = ("list read", "log", "declared", "timestamps")
#: Why one version must have come before another, if a level holds that demands it.
RULES = ("read-then-write", "session", "real-time")
#: What a user may claim of every key.
CLAIMS = ("writes-follow-reads", "sequential-keys", "linearizable-keys")


class Versions:
    """The versions of a history and what is known of their order; keys are `reads.token`s."""

    def __init__(
        self, history: History, *, assume: Iterable[str] = (), sources: Sequence[str] = SOURCES
    ) -> None:
        self.assume = tuple(claim for claim in CLAIMS if claim in set(assume))
        self.sources = tuple(sources)
        self.observed = Observations(history)
        self.history = self.observed.history
        self.transactions = self.observed.transactions
        self.counted = self.observed.counted
        self.session_order = session_order(history, self.counted)
        self.real_time = real_time(history, self.counted) | self.session_order

    @cached_property
    def of_key(self) -> dict[object, tuple[Version, ...]]:
        """Every key's versions: the initial one, then in the order of the history."""
        return {
            reads.token(key): (Version(reads.token(key), INITIAL, -1), *self._written(key))
            for key in self.history.keys
            if self.observed.shapes[reads.token(key)] in ("register", "list")
        }

    def by(self, key: object, writer: int) -> list[Version]:
        """The versions of a key that a transaction, or the initial one, wrote, in program order."""
        return [version for version in self.of_key[key] if version.writer == writer]

    @cached_property
    def has_unsure_appends(self) -> bool:
        """Whether a counted append has no version, because others appended the same element."""
        return any(
            self.observed.writer(key, value) != t.number
            for key, shape in self.observed.shapes.items()
            for t in self._count()
            for value in (self.values(t, key).values() if shape == "list" else ())
        )

    @cached_property
    def seen(self) -> dict[Observation, Version]:
        """The version that each external read saw last, where that is known.

        A list that is no beginning of the canonical one shows no state that there ever was.
        """
        found = ((observation, self._seen(observation)) for observation in self.observed.all)
        return {observation: version for observation, version in found if version is not None}

    @cached_property
    def shown(self) -> dict[Observation, Version]:
        """The same without reads of keys that a range read leaves out."""
        items = (o for o in self.seen if not reads.is_left_out(self.operation(o)))
        return {observation: self.seen[observation] for observation in items}

    # What is known of the order.

    def known(self, rules: Iterable[str] = ()) -> Order:
        """What sources and claims say, and the rules where they contradict nothing that is known.

        A pair that a rule infers is not used if it is on a cycle of what is known and what that rule says:
        then the level whose rule it is is broken anyhow, and the edges of the graph show how.
        """
        certain = {**self._given, **self._initial_first()}
        for key, pairs in self._claimed.items():
            certain.update(() if key in self.cyclic_keys else _missing(pairs, certain))
        known = certain
        for pairs in (
            self.first,
            self._program_order(),
            *(self._inferred(rule) for rule in RULES if rule in set(rules)),
        ):
            further = _missing(pairs, known)
            knots = components(frozenset({*known, *further}))
            known = {**known, **{pair: why for pair, why in further.items() if not _is_on(knots, pair)}}
        return Order(known)

    def completions(self, rules: Iterable[str] = ()) -> Iterator[Order]:
        """Every total order of each key's versions that contains what is known."""
        known = self.known(rules)
        ways = [list(linear(versions, known.closed)) for versions in self.of_key.values()]
        for sequences in product(*ways):
            pairs = [pair for sequence in sequences for pair in combinations(sequence, 2)]
            yield Order({pair: known.reasons.get(pair, "") for pair in pairs})

    @property
    def said_beside_lists(self) -> frozenset[Pair]:
        """What sources other than list reads say, and claims that can be true."""
        claimed = (pairs for key, pairs in self._claimed.items() if key not in self.cyclic_keys)
        said = (pairs for source, pairs in self._said.items() if source != "list read")
        return frozenset().union(*claimed, *said, self.first)

    @cached_property
    def first(self) -> dict[Pair, str]:
        """What a first transaction inserts comes before all other versions, if no source says otherwise."""
        pairs = {
            (before, after): "first"
            for versions in self.of_key.values()
            for before, after in product(versions, versions)
            if before.writer in self._first and after.writer not in {*self._first, INITIAL}
        }
        knots = components(frozenset({*pairs, *self._given}))
        return {pair: why for pair, why in pairs.items() if not _is_on(knots, pair)}

    def inserted_first(self, observation: Observation) -> list[Version]:
        """What first transactions inserted, if an observation shows the state before them."""
        is_before = observation.source == INITIAL and observation.key in self.of_key
        return [v for v in self.of_key[observation.key] if v.writer in self._first] if is_before else []

    @cached_property
    def _first(self) -> frozenset[int]:
        return frozenset(t.number for t in self._count() if reads.is_first(t))

    @cached_property
    def speaking(self) -> tuple[str, ...]:
        """The sources that order anything at all."""
        return tuple(source for source in self.sources if self._said[source])

    @cached_property
    def contradictions(self) -> frozenset[object]:
        """Keys on which the sources cannot all be right."""
        return frozenset(version.key for knot in components(frozenset(self._given)) for version in knot)

    @cached_property
    def cyclic_keys(self) -> frozenset[object]:
        """Keys whose versions would come before themselves if all claims were true; none is used there."""
        claimed = (pair for pairs in self._claimed.values() for pair in pairs)
        # No source puts a version before the initial one, so that only claims can close a circle there.
        said = components(frozenset(self._given))
        everything = components(frozenset({*self._given, *self._initial_first(), *claimed}))
        return frozenset(version.key for knot in everything - said for version in knot)

    # Versions.

    def _count(self) -> list[Transaction]:
        return [t for t in self.transactions if t.number in self.counted]

    def _written(self, key: Scalar) -> Iterator[Version]:
        token = reads.token(key)
        for transaction in self._count():
            values = self.values(transaction, token)
            if self.observed.shapes[token] == "register":
                places = [*values][-1:]
            else:
                sure = self.observed.writer
                places = [
                    place for place, value in values.items() if sure(token, value) == transaction.number
                ]
            yield from (Version(token, transaction.number, place) for place in places)

    def values(self, transaction: Transaction, key: object) -> dict[int, object]:
        """What a transaction wrote to a key, by places."""
        return {
            place: reads.token(operation.value)
            for place, operation in enumerate(transaction.operations)
            if operation.kind in reads.INSTALLS and reads.token(operation.key) == key
        }

    def _seen(self, observation: Observation) -> Version | None:
        if observation.source is None:
            return None
        if self.observed.shapes[observation.key] == "register":
            return self.by(observation.key, observation.source)[-1]
        elements = self.foreign_part(observation)
        canonical = self.observed.canonical_lists[observation.key]
        if elements != canonical[: len(elements)]:
            return None
        return [*self.by(observation.key, INITIAL), *self.elements(observation)][-1]

    def elements(self, observation: Observation) -> list[Version]:
        """The versions of a list that a read shows, where their writers are known."""
        return self._elements(observation.key, self.foreign_part(observation))

    def foreign_part(self, observation: Observation) -> list[object]:
        """What a read of a list shows of others."""
        reader = self.transactions[observation.reader]
        elements = reads.foreign_part(reader, observation.place, self.operation(observation))
        assert elements is not None, "otherwise nothing was observed"
        return elements

    def operation(self, observation: Observation) -> Operation:
        """The read itself."""
        return self.transactions[observation.reader].operations[observation.place]

    def _elements(self, key: object, elements: Iterable[object]) -> list[Version]:
        """The versions that elements stand for; a second one of equal elements is the second append."""
        found: list[Version] = []
        for element in elements:
            writer = self.observed.writer(key, element)
            mine = self.by(key, writer) if writer is not None else []
            equal = [v for v in mine if self._value(v) == element and v not in found]
            found += equal[:1]
        return found

    def _value(self, version: Version) -> object:
        return reads.token(self.transactions[version.writer].operations[version.place].value)

    # Sources.

    @cached_property
    def _said(self) -> dict[str, frozenset[Pair]]:
        said = {
            "list read": self._list_reads,
            "log": lambda key: self._recorded(VersionSource.LOG, key),
            "declared": lambda key: self._recorded(VersionSource.DECLARED, key),
            "timestamps": self._timestamps,
        }
        return {
            source: frozenset(pair for key in self.of_key for pair in said[source](key))
            for source in self.sources
        }

    @cached_property
    def _given(self) -> dict[Pair, str]:
        weakest_first = reversed(self.sources)
        return {pair: source for source in weakest_first for pair in self._said[source]}

    def _list_reads(self, key: object) -> Iterator[Pair]:
        """The longest list that was read; unread appends come after it."""
        if self.observed.shapes[key] != "list":
            return
        chain = self._elements(key, self.observed.canonical_lists[key])
        unread = [v for v in self.of_key[key] if v not in chain and v.writer != INITIAL]
        yield from combinations(chain, 2)
        yield from product(chain, unread)

    def _recorded(self, source: VersionSource, key: object) -> Iterator[Pair]:
        """A log or a declared order; a value that its writer replaced is no version."""
        for order in self.history.version_orders:
            for other, values in order.versions.items() if order.source is source else ():
                if reads.token(other) == key:
                    yield from combinations(self._rows(key, [reads.token(value) for value in values]), 2)

    def _rows(self, key: object, values: list[object]) -> list[Version]:
        if self.observed.shapes[key] == "list":
            return self._elements(key, values)
        last = [version for version in self.of_key[key] if version.writer != INITIAL]
        sure = {self._value(v): v for v in last if self.observed.writer(key, self._value(v)) == v.writer}
        rows = [value for place, value in enumerate(values) if value not in values[place + 1 :]]
        return [sure[value] for value in rows if value in sure]

    def _timestamps(self, key: object) -> Iterator[Pair]:
        for before, after in product(self.of_key[key], repeat=2):
            if INITIAL not in (before.writer, after.writer):
                first, second = (self.transactions[v.writer].commit for v in (before, after))
                if first is not None and second is not None and first < second:
                    yield before, after

    # Rules.

    def _initial_first(self) -> dict[Pair, str]:
        return {
            (initial, version): "initial"
            for initial, *versions in self.of_key.values()
            for version in versions
        }

    def _program_order(self) -> dict[Pair, str]:
        """One transaction's appends to a list; no edge comes of it."""
        return {
            pair: ""
            for key, versions in self.of_key.items()
            for writer in {version.writer for version in versions}
            for pair in combinations(self.by(key, writer), 2)
        }

    def _inferred(self, rule: str) -> dict[Pair, str]:
        if rule == "read-then-write":
            return dict.fromkeys(self._read_then_write(), rule)
        relation = self.session_order if rule == "session" else self.real_time
        return dict.fromkeys(self._in_order(relation), rule)

    def _read_then_write(self) -> Iterator[Pair]:
        for observation, version in self.seen.items():
            if self.observed.shapes[observation.key] == "register":
                yield from ((version, mine) for mine in self.by(observation.key, observation.reader))

    def _in_order(self, relation: Relation) -> Iterator[Pair]:
        for key, shape in self.observed.shapes.items():
            for before, after in relation if shape == "register" else ():
                yield from product(self.by(key, before), self.by(key, after))

    # Claims.

    @cached_property
    def _claimed(self) -> dict[object, dict[Pair, str]]:
        """What the user's claims say of the versions of each register."""
        found: dict[object, dict[Pair, str]] = {key: {} for key in self.of_key}
        for claim in reversed(self.assume):
            for pair in self._claim(claim):
                found[pair[0].key][pair] = f"assume {claim}"
        return found

    def _claim(self, claim: str) -> Iterator[Pair]:
        if claim == "writes-follow-reads":
            yield from self._read_then_write()
            return
        for key, shape in self.observed.shapes.items():
            if shape == "register":
                met = {t.number: met for t in self._count() if (met := self._met(key, t.number))}
                order = (
                    self._in_time(set(met)) if claim == "linearizable-keys" else self._consecutive(set(met))
                )
                for before, after in order:
                    if before in met and after in met:
                        yield from ((v, met[after][0]) for v in met[before] if v != met[after][0])

    def _met(self, key: object, transaction: int) -> list[Version]:
        """The versions of a key that a transaction saw and left, in program order, where they are known."""
        seen = [v for o, v in self.seen.items() if (o.reader, o.key) == (transaction, key)]
        return [*seen, *self.by(key, transaction)]

    def _in_time(self, numbers: set[int]) -> Iterator[tuple[int, int]]:
        """Pairs in real time, or in a session, with no other of these transactions between them."""
        inside = {pair for pair in real_time(self.history, self.counted) if {*pair} <= numbers}
        for before, after in inside:
            if not any((before, n) in inside and (n, after) in inside for n in numbers):
                yield before, after
        yield from self._consecutive(numbers)

    def _consecutive(self, numbers: set[int]) -> Iterator[tuple[int, int]]:
        for session in self.history.sessions:
            yield from pairwise(number for number in session.transactions if number in numbers)


def coherent(
    history: History, assume: tuple[str, ...] = (), sources: Sequence[str] = SOURCES
) -> list[Versions]:
    """One for all sources; one for each, the strongest first, if they contradict each other."""
    versions = Versions(history, assume=assume, sources=sources)
    if not versions.contradictions:
        return [versions]
    return [Versions(history, assume=assume, sources=[source]) for source in versions.speaking]


def _is_on(knots: Iterable[frozenset[Version]], pair: Pair) -> bool:
    return any({*pair} <= knot for knot in knots)


def _missing(pairs: Mapping[Pair, str], known: Mapping[Pair, str]) -> dict[Pair, str]:
    return {pair: why for pair, why in pairs.items() if pair not in known}
