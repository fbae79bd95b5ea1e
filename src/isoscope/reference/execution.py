"""The abstract execution (T, SO, VIS, AR) that the database's own timestamps give.

Li et al. 2025, Definitions 3 to 6: AR is the order of commits, and VIS says which commits a start comes
after. `clock-serializable` needs no starts: there VIS is AR.

With ties, VIS is still a strict partial order within AR, and PREFIX (AR; VIS within VIS) still holds: a
transaction that starts and commits at one instant sees only those that come before it in AR; otherwise two
such transactions would see each other. A transaction that starts after its commit may see transactions that
come after it in AR.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from isoscope.levels import Level
from isoscope.reference import reads
from isoscope.reference.observations import Observations

if TYPE_CHECKING:
    from isoscope.history import History, Scalar, Timestamp, Transaction
    from isoscope.reference.relation import Relation

__all__ = ["Execution", "committed", "started"]


class Execution:
    """The abstract execution (Definition 3) that the timestamps give, and the state of each key in it."""

    def __init__(self, history: History, level: Level) -> None:
        self.level = level
        self.observed = Observations(history)
        self.history = self.observed.history
        self.transactions = self.observed.transactions
        self.counted = [t for t in self.transactions if t.number in self.observed.counted]

    @cached_property
    def arbitration(self) -> tuple[Transaction, ...]:
        """The transactions that are judged, in the order of AR (Definition 5, with our rule for ties)."""
        timed = (t for t in self.counted if self.has_timestamps(t))
        return tuple(sorted(timed, key=self._commit_event))

    def has_timestamps(self, transaction: Transaction) -> bool:
        """Whether it has the timestamps that the level needs."""
        needs_start = self.level is Level.CLOCK_SNAPSHOT_ISOLATION
        return transaction.commit is not None and (transaction.start is not None or not needs_start)

    def _commit_event(self, transaction: Transaction) -> tuple[object, ...]:
        """(commit, start, session, position); a start that is missing, and not needed, comes first."""
        start = (transaction.start is not None, transaction.start or ())
        session = self.history.sessions[transaction.session].transactions
        return transaction.commit, start, _by_name(transaction), session.index(transaction.number)

    @cached_property
    def ar(self) -> Relation:
        """AR: a strict total order."""
        return frozenset(combinations((t.number for t in self.arbitration), 2))

    @cached_property
    def vis(self) -> Relation:
        """VIS: Definition 6, and no transaction sees itself; AR itself for `clock-serializable`."""
        if self.level is Level.CLOCK_SERIALIZABLE:
            return self.ar
        return frozenset(
            (before.number, after.number)
            for before, after in permutations(self.arbitration, 2)
            if committed(before) <= started(after) and not self._is_too_late(before, after)
        )

    def _is_too_late(self, other: Transaction, reader: Transaction) -> bool:
        """Whether the reader is one instant, and the other comes later in AR."""
        is_instant = started(reader) == committed(reader)
        return is_instant and (reader.number, other.number) in self.ar

    def writers(self, key: Scalar) -> list[Transaction]:
        """The judged transactions that write the key, in the order of AR."""
        return [t for t in self.arbitration if reads.installed(t, key)]

    def visible(self, reader: Transaction, key: Scalar) -> list[Transaction]:
        """The transactions whose writes of the key the reader must see, in the order of AR."""
        return [t for t in self.writers(key) if (t.number, reader.number) in self.vis]

    def state(self, key: Scalar, writers: list[Transaction]) -> object:
        """The state of the key after these writers: the last write, or everything that they appended."""
        if self.shape(key) == "list":
            return self.appended(key, writers)
        return reads.installed(writers[-1], key)[-1] if writers else self.initial(key)

    def appended(self, key: Scalar, writers: list[Transaction]) -> tuple[object, ...]:
        """The elements that these writers append to a list, in their order."""
        return tuple(value for t in writers for value in reads.installed(t, key))

    def initial(self, key: Scalar) -> object:
        """The initial value of a register; None, which equals no value, if it is not known."""
        return reads.initial_value(self.history, self.transactions, self.observed.counted, key)

    def may_be_absent(self, key: Scalar) -> bool:
        """Whether a register of which the initial value is not known may not have existed at first."""
        return reads.may_be_absent(self.history, self.transactions, self.observed.counted, key)

    def may_be_left_out(self, key: Scalar, predicate: str) -> bool:
        """Whether the predicate may leave a register out before the first write."""
        count = self.observed.counted
        return reads.may_be_left_out(self.history, self.transactions, count, key, predicate)

    def shape(self, key: Scalar) -> str:
        """`register`, `list`, or a reason not to judge the key."""
        return self.observed.shapes[reads.token(key)]

    @cached_property
    def keys(self) -> list[Scalar]:
        """Keys that are judged."""
        return [key for key in self.history.keys if self.shape(key) in ("register", "list")]

    @cached_property
    def timeless(self) -> list[Transaction]:
        """Transactions that count and lack a timestamp that the level needs."""
        return [t for t in self.counted if t not in self.arbitration]

    def is_timeless(self, key: Scalar) -> bool:
        """Whether the time of one of the versions of the key is not known."""
        return any(reads.installed(t, key) for t in self.timeless)

    @cached_property
    def ties(self) -> int:
        """Timestamps of events of several transactions; `clock-serializable` has commits only."""
        owners: defaultdict[Timestamp, set[int]] = defaultdict(set)
        for t in self.arbitration:
            owners[committed(t)].add(t.number)
            if self.level is Level.CLOCK_SNAPSHOT_ISOLATION:
                owners[started(t)].add(t.number)
        return sum(len(several) > 1 for several in owners.values())


def _by_name(transaction: Transaction) -> tuple[object, ...]:
    """Sessions by their names, so that it does not matter in which order they arrived."""
    nameless = transaction.session_id is None
    name = transaction.id if nameless else transaction.session_id
    if isinstance(name, int) and not isinstance(name, bool):
        return nameless, 0, name
    return nameless, 1 if isinstance(name, str) else 2, str(name).encode()


def committed(transaction: Transaction) -> Timestamp:
    """The commit timestamp of a transaction that is judged."""
    assert transaction.commit is not None
    return transaction.commit


def started(transaction: Transaction) -> Timestamp:
    """The start timestamp of a transaction that is judged by it."""
    assert transaction.start is not None
    return transaction.start
