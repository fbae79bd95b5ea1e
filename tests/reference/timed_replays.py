"""A database that works as its profile says, one instant at a time, and the histories of its clients.

Each event has its own instant; a client knows an interval around it. A client that must wait is tried again
later; if all clients wait, one is rolled back. The true dependencies come with the history.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, Initial, Interval, Operation, OperationKind, Range, Status, Transaction
from isoscope.profiles import Certifier, Granularity, Lock, Read, Snapshot
from isoscope.recorder import build
from isoscope.reference.mechanisms import Dependency
from isoscope.reference.mechanisms.conduct import WRITES, conduct_of, conflicts
from isoscope.reference.observations import INITIAL
from isoscope.reference.reads import token

from .timed_clients import Client, Event, Locked, RefusedError, ReplayedVersion, WaitError

if TYPE_CHECKING:
    from random import Random

    from isoscope.history import History, Scalar
    from isoscope.profiles import Profile
    from isoscope.reference.mechanisms.conduct import OperationConduct

__all__ = ["Replay", "replay"]

ROWS = (1, 2, 3)
LIST = "list"
#: How many ticks of the clients' clocks one instant is.
TICKS = 10


@dataclass(frozen=True)
class Replay:
    """The history that the clients recorded, and all true dependencies."""

    history: History
    truth: frozenset[Dependency]


def replay(profile: Profile, random: Random, fault: str = "") -> Replay:
    """One run of a few transactions; `fault`: `locks`, `updaters` or `certifier` fail, or `reads` are old."""
    database = Database(profile, random, fault)
    database.run()
    transactions = [database.told(client) for client in database.clients]
    return Replay(build(transactions, initial=Initial()), frozenset(database.truth()))


class Database:
    def __init__(self, profile: Profile, random: Random, fault: str) -> None:
        self.profile = profile
        self.fault = fault
        self.random = random
        self.now = 0
        self.used = 0
        self.is_repetitive = random.random() < 0.2
        self.slack = random.choice((0, 0, 1, 3, 6, 20))
        self.versions: dict[Scalar, list[ReplayedVersion]] = {key: [] for key in (*ROWS, LIST)}
        self.locks: list[Locked] = []
        kinds = ["read", "read", "change", "change", "range", "for update", "append", "list"]
        self.clients = [
            Client(number, [random.choice(kinds) for _ in range(random.randint(1, 4))])
            for number in range(random.randint(2, 5))
        ]
        for client in self.clients:
            client.plan = [*(["begin"] if random.random() < 0.5 else []), *client.plan, "end"]

    def run(self) -> None:
        while active := [client for client in self.clients if client.status is None]:
            client = self.random.choice(active)
            self.now += 1
            self.step(client)
            if all(other.waits_since is not None for other in self.clients if other.status is None):
                victims = [other for other in self.clients if other.status is None]
                if victims:
                    self.give_up(self.random.choice(victims))

    def step(self, client: Client) -> None:
        since = client.waits_since or self.now
        client.waits_since = since
        try:
            operation = self.done(client, client.plan[0])
        except WaitError:
            return
        except RefusedError:
            self.give_up(client)
            return
        client.waits_since = None
        client.plan.pop(0)
        client.events.append(Event(operation, since, self.now))

    def give_up(self, client: Client) -> None:
        """Rolls back; the history has the statement that failed, without its result."""
        kinds = {"read": OperationKind.READ, "change": OperationKind.WRITE, "end": OperationKind.COMMIT}
        kind = kinds.get(client.plan[0])
        key = None if kind is OperationKind.COMMIT else self.random.choice(ROWS)
        if kind is not None:
            value = UNKNOWN if kind is OperationKind.READ else None
            failed = Operation(kind=kind, key=key, value=value)
            client.events.append(Event(failed, client.waits_since or self.now, self.now))
        self.now += 1
        self.rolled_back(client)
        if self.random.random() < 0.8 or not client.events:
            client.events.append(Event(Operation(kind=OperationKind.ABORT), self.now, self.now))

    def rolled_back(self, client: Client) -> None:
        client.status = Status.ABORTED
        client.waits_since = None
        self.locks = [lock for lock in self.locks if lock.transaction != client.number]

    # Statements.

    def done(self, client: Client, step: str) -> Operation:
        if step == "begin":
            if self.profile.snapshot is Snapshot.BEGIN:
                client.snapshot = self.now
            return Operation(kind=OperationKind.BEGIN)
        if step == "end":
            return self.ended(client)
        if step == "range":
            return self.range_read(client)
        if step == "append":
            return self.written(client, Operation(kind=OperationKind.APPEND, key=LIST, value=self.fresh()))
        if step == "change":
            return self.changed(client, self.random.choice(ROWS))
        key = LIST if step == "list" else self.random.choice(ROWS)
        statement = "select for update" if step == "for update" else None
        return self.read(client, Operation(kind=OperationKind.READ, key=key, statement=statement))

    def fresh(self) -> int:
        self.used += 1
        return self.used % 3 if self.is_repetitive else self.used

    def read(self, client: Client, operation: Operation) -> Operation:
        conduct = self.prepared(client, operation)
        key = operation.key
        value = self.seen(client, key, conduct)
        is_there = value is not None and value != ()
        bounds = (key, key) if conduct.predicate and isinstance(key, int) else None
        if is_there:
            self.lock(client, key, conduct.lock)
        if bounds:
            self.lock(client, None, conduct.lock, bounds)
        if conduct.lock is not Lock.NONE:
            self.check_updater(client, key)
        self.note(client, key, conduct)
        return replace(operation, value=value)

    def range_read(self, client: Client) -> Operation:
        operation = Operation(kind=OperationKind.RANGE_READ)
        conduct = self.prepared(client, operation)
        low, high = sorted(self.random.choice(ROWS) for _ in range(2))
        rows = {key: self.seen(client, key, conduct) for key in range(low, high + 1)}
        there = {k: value for k, value in rows.items() if value is not None and not isinstance(value, tuple)}
        for key in there:
            self.lock(client, key, conduct.lock)
        if conduct.predicate:
            self.lock(client, None, conduct.lock, (low, high))
        for key in rows:
            self.note(client, key, conduct)
        return replace(operation, value=Range(low=low, high=high, rows=tuple(there.items())))

    def changed(self, client: Client, key: int) -> Operation:
        update = conduct_of(Operation(kind=OperationKind.WRITE, key=key), self.profile)
        is_there = self.own_or(client, key, self.state(key, self.basis(client, update))) is not None
        kinds = (OperationKind.WRITE, OperationKind.WRITE, OperationKind.DELETE)
        kind = self.random.choice(kinds) if is_there else OperationKind.INSERT
        value = None if kind is OperationKind.DELETE else self.fresh()
        return self.written(client, Operation(kind=kind, key=key, value=value))

    def written(self, client: Client, operation: Operation) -> Operation:
        conduct = self.prepared(client, operation)
        key = operation.key
        self.lock(client, key, conduct.lock, is_new=operation.kind is OperationKind.INSERT)
        if operation.kind is not OperationKind.INSERT:
            self.check_updater(client, key)
        value = operation.value
        assert not isinstance(value, tuple | Range)
        client.wrote.setdefault(key, []).append(value)  # type: ignore[arg-type]
        client.wrote_at.setdefault(key, self.now)
        return operation

    def prepared(self, client: Client, operation: Operation) -> OperationConduct:
        """Takes the snapshot of the transaction, if this statement is the one that does."""
        conduct = conduct_of(operation, self.profile)
        is_consistent = operation.kind not in WRITES and conduct.read is Read.CONSISTENT
        if client.snapshot is None and (is_consistent or self.profile.snapshot is not Snapshot.FIRST_READ):
            client.snapshot = self.now
        return conduct

    def check_updater(self, client: Client, key: Scalar) -> None:
        """First updater wins."""
        since = client.wrote_at.get(key) or client.snapshot or self.now
        changed = [v for v in self.versions[key] if v.instant > since and key not in client.wrote]
        if self.profile.first_updater_wins and changed and self.fault != "updaters":
            raise RefusedError

    # Versions.

    def seen(self, client: Client, key: Scalar, conduct: OperationConduct) -> Scalar | tuple[Scalar, ...]:
        if conduct.read is Read.UNCOMMITTED and key not in client.wrote and key != LIST:
            dirty = [c.wrote[key][-1] for c in self.clients if c.status is None and key in c.wrote]
            if dirty:
                return dirty[-1]
        return self.own_or(client, key, self.state(key, self.looked(client, key, conduct)))

    def looked(self, client: Client, key: Scalar, conduct: OperationConduct) -> int:
        update = conduct_of(Operation(kind=OperationKind.APPEND, key=key), self.profile)
        if key in client.wrote and update.read is Read.LOCKING:
            return client.wrote_at[key]  # the row is the reader's own since then
        return self.basis(client, conduct)

    def basis(self, client: Client, conduct: OperationConduct) -> int:
        is_of_transaction = self.profile.snapshot is not Snapshot.STATEMENT
        is_snapshot = conduct.read is Read.CONSISTENT and is_of_transaction
        return (client.snapshot or self.now) if is_snapshot else self.now

    def state(self, key: Scalar, instant: int) -> list[ReplayedVersion]:
        age = 9 if self.fault == "reads" else 0
        return [version for version in self.versions[key] if version.instant <= instant - age]

    def own_or(
        self, client: Client, key: Scalar, state: list[ReplayedVersion]
    ) -> Scalar | tuple[Scalar, ...]:
        own = client.wrote.get(key, [])
        if key == LIST:
            return (*(version.value for version in state), *own)
        return own[-1] if own else state[-1].value if state else None

    def note(self, client: Client, key: Scalar, conduct: OperationConduct) -> None:
        """Notes the transaction whose version was seen."""
        if (key not in client.wrote or key == LIST) and conduct.read is not Read.UNCOMMITTED:
            state = self.state(key, self.looked(client, key, conduct))
            client.saw.append((key, state[-1].transaction if state else INITIAL))

    # Locks.

    def lock(
        self,
        client: Client,
        key: Scalar,
        mode: Lock,
        bounds: tuple[int, int] | None = None,
        *,
        is_new: bool = False,
    ) -> None:
        asked = Locked(client.number, self.resource(key), mode, bounds if self.is_by_row else None)
        self.wait(asked, key if is_new else None)
        if mode is not Lock.NONE:
            self.locks.append(asked)

    @property
    def is_by_row(self) -> bool:
        return self.profile.granularity is Granularity.ROW

    def resource(self, key: Scalar) -> object:
        return key if self.is_by_row else "database"

    def wait(self, asked: Locked, new: Scalar = None) -> None:
        for held in self.locks:
            if held.bounds or asked.bounds:
                is_hit = _covers(held.bounds, new) or _covers(asked.bounds, held.resource)
            else:
                is_hit = held.resource == asked.resource
            is_foreign = held.transaction != asked.transaction and self.fault != "locks"
            if is_foreign and is_hit and conflicts(held.mode, asked.mode):
                raise WaitError

    # Ends.

    def ended(self, client: Client) -> Operation:
        if self.random.random() < 0.1:
            self.rolled_back(client)
            return Operation(kind=OperationKind.ABORT)
        for key in client.wrote:
            self.wait(Locked(client.number, self.resource(key), self.profile.commit_lock))
        if self.fault != "certifier" and not self.is_certified(client):
            raise RefusedError
        client.committed_at = self.now
        for key, values in client.wrote.items():
            left = values if key == LIST else values[-1:]
            self.versions[key] += [ReplayedVersion(self.now, client.number, value) for value in left]
        self.locks = [lock for lock in self.locks if lock.transaction != client.number]
        is_lost = self.random.random() < 0.1
        client.status = Status.INDETERMINATE if is_lost else Status.COMMITTED
        return Operation(kind=OperationKind.COMMIT)

    def is_certified(self, client: Client) -> bool:
        read = {key for key, _ in client.saw}
        match self.profile.certifier:
            case Certifier.OPTIMISTIC_WRITES:
                return not self.newer(client, {*client.wrote})
            case Certifier.OPTIMISTIC_READS:
                return not client.wrote or not self.newer(client, read)
            case Certifier.TIMESTAMP_ORDER:
                return not self.newer(client, read | {*client.wrote})
            case Certifier.SSI:
                return not self.is_dangerous(client)
        return True

    def newer(self, client: Client, keys: set[Scalar]) -> bool:
        since = client.snapshot or self.now
        return any(version.instant > since for key in keys for version in self.versions[key])

    def is_dangerous(self, client: Client) -> bool:
        """Whether its commit would complete two consecutive rw whose third transaction committed first."""
        edges = [(d.before, d.after) for d in self.missed(also=client)]
        for t1, t2 in edges:
            for t3 in (after for before, after in edges if before == t2):
                first = self.clients[t3].committed_at
                late = (self.clients[t].committed_at > first for t in (t1, t2))
                reader = self.clients[t1]
                if t1 == t3 or (all(late) and (reader.wrote or first < (reader.snapshot or 0))):
                    return True
        return False

    # What clients recorded, and the truth.

    def told(self, client: Client) -> Transaction:
        """Each interval holds what happened, and those of one client follow each other."""
        edges = [(-1, 0)] + [(event.since, event.done) for event in client.events]
        cuts = []
        for (_, done), (since, _) in pairwise(edges):
            gap = since * TICKS - done * TICKS
            ends = sorted(min(self.random.randint(0, 6) * self.slack, gap) for _ in range(2))
            cuts.append((done * TICKS + ends[0], since * TICKS - min(ends[1], gap - ends[0])))
        invokes = [invoke for _, invoke in cuts]
        last = client.events[-1].done * TICKS + self.random.randint(0, 6) * self.slack
        completes = [*(complete for complete, _ in cuts[1:]), last]
        operations = [
            replace(event.operation, interval=Interval(invoke, complete))
            for event, invoke, complete in zip(client.events, invokes, completes, strict=True)
        ]
        assert client.status is not None
        if client.status is Status.INDETERMINATE:
            operations[-1] = replace(operations[-1], interval=Interval(invokes[-1], None))
        return Transaction(
            number=0,
            id=client.number,
            session=0,
            session_id=None,
            status=client.status,
            operations=tuple(operations),
        )

    def truth(self) -> set[Dependency]:
        found = {*self.missed()}
        for client in self.clients:
            found |= {
                Dependency("wr", writer, client.number, token(key))
                for key, writer in client.saw
                if writer != INITIAL
            }
        for key, versions in self.versions.items():
            order = list(dict.fromkeys(version.transaction for version in versions))
            found |= {
                Dependency("ww", before, after, token(key))
                for place, before in enumerate(order)
                for after in order[place + 1 :]
            }
        return found

    def missed(self, also: Client | None = None) -> set[Dependency]:
        """Direct rw of those that committed; `also`: as if this one had."""
        counted = {c.number for c in self.clients if c.committed_at < inf} | {
            also.number if also else INITIAL
        }
        found = set()
        for key, versions in self.versions.items():
            order = [INITIAL, *dict.fromkeys(version.transaction for version in versions)]
            if also and key in also.wrote:
                order.append(also.number)
            after = dict(pairwise(order))
            for reader in counted - {INITIAL}:
                for _, writer in (saw for saw in self.clients[reader].saw if saw[0] == key):
                    missed = after.get(writer)
                    if missed is not None and missed != reader:
                        found.add(Dependency("rw", reader, missed, token(key)))
        return found


def _covers(bounds: tuple[int, int] | None, key: object) -> bool:
    return bounds is not None and isinstance(key, int) and bounds[0] <= key <= bounds[1]
