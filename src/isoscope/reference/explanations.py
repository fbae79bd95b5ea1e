"""Explanations: what a history may stand for where values repeat and the end of transactions is not known.

A level holds if some explanation of the history meets it, and is violated if none does. An explanation says
of each indeterminate transaction whether it took effect, of each read and of each row of a recorded order
which write it shows, and of each unknown initial value what it was (`attributions`). It is written down as a
history of its own, in which every value is unique and every status is known; `verdicts` judges that. So
the definitions of levels know nothing of choices. `docs/explanation/semantics.md` has the rules.
Cost: exponential, on purpose.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, TypeAlias

from isoscope.history import UNKNOWN, Initial, Interval, OperationKind, Status, VersionSource
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import reads, verdicts
from isoscope.reference.attributions import INITIAL_STATE, Attributions, left_by_others, write_name
from isoscope.reference.observations import Observations
from isoscope.reference.real_time import life
from isoscope.reference.rows import Rows
from isoscope.reference.versions import Versions
from isoscope.reference.weak import has_kinds_set_aside
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.history import History, Operation, Scalar, Transaction
    from isoscope.reference.attributions import Option, Shown, Site

__all__ = ["explanations", "outcomes"]

#: An explanation, and whether a read is not repeatable: names of writes hide which values are equal.
_Explained: TypeAlias = "tuple[History, bool]"


def outcomes(history: History, assume: Iterable[str] = ()) -> dict[Level, Outcome]:
    """The answer for every level, given the user's claims. The clock levels need no explanation."""
    claims = tuple(assume)
    by_clock = verdicts.clock_outcomes(history)
    found = [
        verdicts.by_the_lattice(
            verdicts.value_outcomes(explained, claims, differs=differs)
            | by_clock
            | {Level.CUT_ISOLATION: _cut_isolation(explained, differs=differs)}
        )
        for explained, differs in _coherent(_explained(history), claims)
    ]
    return {level: _some({outcome[level] for outcome in found}) for level in Level}


def _some(found: set[Outcome]) -> Outcome:
    if Outcome.HOLDS in found:
        return Outcome.HOLDS
    return Outcome.VIOLATED if found == {Outcome.VIOLATED} else Outcome.UNKNOWN


def _coherent(explained: Iterable[_Explained], claims: tuple[str, ...]) -> list[_Explained]:
    """Those whose sources do not contradict each other, if there are any."""
    every = list(explained)
    return [each for each in every if not Versions(each[0], assume=claims).contradictions] or every


def explanations(history: History) -> Iterator[History]:
    """Every explanation; a history of unique values and known statuses has exactly one."""
    return (explained for explained, _ in _explained(history))


def _explained(recorded: History) -> Iterator[_Explained]:
    history = Rows(recorded).history
    transactions = list(history)
    for effective in _effects(transactions):
        judged = reads.judge(history, effective)
        differs = "non-repeatable-read" in {finding.name for finding in judged.findings}
        for values in product(*(_initial_values(history, transactions, effective, k) for k in history.keys)):
            initial = dict(zip(map(reads.token, history.keys), values, strict=True))
            attributions = Attributions(history, transactions, effective, initial)
            for options in product(*attributions.sites()):
                rewriting = _Rewriting(attributions, options)
                if effective <= rewriting.seen():
                    yield rewriting.history(), differs


def _cut_isolation(explained: History, *, differs: bool) -> Outcome:
    if differs:
        return Outcome.VIOLATED
    return Outcome.UNKNOWN if has_kinds_set_aside(Observations(explained)) else Outcome.HOLDS


def _effects(transactions: Sequence[Transaction]) -> Iterator[frozenset[int]]:
    """What may have taken effect together: all committed transactions, and any of the indeterminate ones."""
    committed = {t.number for t in transactions if t.status is Status.COMMITTED}
    doubtful = [t.number for t in transactions if t.status is Status.INDETERMINATE and not reads.is_empty(t)]
    subsets = (combinations(doubtful, size) for size in range(len(doubtful) + 1))
    return (frozenset(committed.union(chosen)) for chosen in chain.from_iterable(subsets))


def _initial_values(
    history: History, transactions: list[Transaction], effective: frozenset[int], key: Scalar
) -> list[object]:
    """What a key may have held before the first write; None equals no value.

    An unknown initial value that no read shows may be any repeated value that was read, unless one of its
    readers has no possible writer. A key that is deleted may not have existed, and did not if a read of nil
    has no possible writer.
    """
    known = reads.initial_value(history, transactions, effective, key)
    if known is not None or reads.declared_initial(history, key) is not UNKNOWN:
        return [known]
    if reads.is_inserted_first(transactions, key):
        return [None]
    external = [
        (reader, place, reads.token(read.value))
        for reader in transactions
        for place, read in (reads.reads_of(reader, key) if reader.number in effective else ())
        if not reads.installed_before(reader, key, place) and reads.asked(read) is None
    ]
    repeated = {
        value
        for reader, place, value in external
        if len(reads.writers(transactions, reader, place, key, value)) > 1
    }
    wrong = {value for reader, _, value in external if not left_by_others(transactions, reader, key, value)}
    absent = {reads.NIL} if reads.may_be_absent(history, transactions, effective, key) else set()
    if absent & wrong:
        return [reads.NIL]
    return [None, *sorted((repeated - wrong) | absent, key=repr)]


class _Rewriting:
    """The history of an explanation: names of writes instead of values, and known statuses."""

    def __init__(self, attributions: Attributions, options: Iterable[Option]) -> None:
        self.attributions = attributions
        self.shown = {site: shown for option in options for site, shown in option.items()}

    def seen(self) -> set[int]:
        """The transactions that committed or that a log shows, and those that served one of these."""
        committed = {t.number for t in self.attributions.transactions if t.status is Status.COMMITTED}
        logged = {
            writer for site in self.shown if site[0] is VersionSource.LOG for writer in self.writers(site)
        }
        found, waiting = set[int](), committed | logged | self._logged_in_doubt()
        while waiting:
            found |= waiting
            served = (site for site in self.shown if site[0] in waiting)
            shown = {writer for site in served for writer in self.writers(site)}
            waiting = (shown | self._seen_in_doubt(waiting)) - found
        return found

    def _seen_in_doubt(self, readers: set[int]) -> set[int]:
        """Who may have served reads of keys that are not judged: no option says who did."""
        attributions = self.attributions
        return {
            writer
            for reader in readers
            for _, read in reads.known_reads(attributions.transactions[reader])
            for value in reads.seen(read)
            for writer in self._wrote_in_doubt(read.key, value)
        }

    def _logged_in_doubt(self) -> set[int]:
        orders = self.attributions.history.version_orders
        return {
            writer
            for order in orders
            if order.source is VersionSource.LOG
            for key, values in order.versions.items()
            for value in values
            for writer in self._wrote_in_doubt(key, reads.token(value))
        }

    def _wrote_in_doubt(self, key: Scalar, value: object) -> Iterator[int]:
        """The transactions that wrote a value to a key, if that is not judged."""
        if self.attributions.shapes.get(reads.token(key)) not in ("register", "list"):
            wrote = (t for t in self.attributions.transactions if value in reads.installed(t, key))
            yield from (t.number for t in wrote)

    def writers(self, site: Site) -> Iterator[int]:
        """The transactions whose writes a site shows."""
        shown = self.shown[site]
        names = {shown} if isinstance(shown, str) else {*shown}
        for t in self.attributions.transactions:
            if names & {write_name(t.number, place) for place in range(len(t.operations))}:
                yield t.number

    def history(self) -> History:
        transactions = map(self.transaction, self.attributions.transactions)
        return build(transactions, initial=Initial(value=INITIAL_STATE), versions=self.versions())

    def versions(self) -> Iterator[tuple[VersionSource, Scalar, Scalar]]:
        for order in self.attributions.history.version_orders:
            for key in order.versions:
                for name in self.shown.get((order.source, reads.token(key)), ()):
                    yield order.source, key, name

    def transaction(self, t: Transaction) -> Transaction:
        operations = tuple(self.operation(t.number, place, o) for place, o in enumerate(t.operations))
        written = replace(t, operations=operations)
        if t.status is not Status.INDETERMINATE:
            return written
        if t.number not in self.attributions.effective:
            return replace(written, status=Status.ABORTED)
        return self.endless(replace(written, status=Status.COMMITTED))

    def endless(self, t: Transaction) -> Transaction:
        """It may take effect at any time later, so it ends after everything else."""
        history, transactions = self.attributions.history, self.attributions.transactions
        lives = [life(history, other) for other in transactions]
        end = 1 + max((at for each in lives for at in each if at is not None), default=0)
        interval = Interval(lives[t.number].invoke, end)
        by_place = any(other.positions is not None for other in transactions if not reads.is_empty(other))
        return replace(t, positions=interval) if by_place else replace(t, interval=interval)

    def operation(self, transaction: int, place: int, operation: Operation) -> Operation:
        is_judged = self.attributions.shapes.get(reads.token(operation.key)) in ("register", "list")
        if operation.kind in reads.INSTALLS and is_judged:
            # A delete that has a name is a write like any other.
            kind = OperationKind.WRITE if operation.kind is OperationKind.DELETE else operation.kind
            return replace(operation, kind=kind, value=write_name(transaction, place))
        shown: Shown | None = self.shown.get((transaction, place))
        if operation.kind is OperationKind.READ and shown is not None:
            says = reads.LEFT_OUT if reads.is_left_out(operation) else None
            return replace(operation, value=shown, predicate=says)
        return operation
