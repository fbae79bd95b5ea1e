"""The server: what each step needs, and what it leaves behind.

Versions appear at commits, in one log. A snapshot is a length of the log. A state is a plain tuple of what
happened, so that the search can remember the states from which no explanation is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isoscope.profiles import Certifier, Granularity, Lock, Read, Snapshot, Statement
from isoscope.reference.instants import certifiers
from isoscope.reference.instants.steps import Action, Look
from isoscope.reference.mechanisms.conduct import conflicts
from isoscope.reference.mechanisms.versions import NOTHING
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.profiles import Profile
    from isoscope.reference.instants.steps import Change, Step, Trace

__all__ = ["Server", "State"]

#: A key that was there at first, with a value that no read showed.
_SOMETHING = "something"


@dataclass(frozen=True, slots=True)
class State:
    """What happened so far.

    `log`: transactions in the order of their commits. `snapshots`: the length of the log at the snapshot of a
    transaction, or of its statement at a place. `writes`: the same at the first lock of a row before the
    snapshot. `vain`: deletes that found no row. `firsts`: what keys held at first, as far as a read showed
    it. `seen`: whose version of a key a transaction read.
    """

    done: int = 0
    log: tuple[int, ...] = ()
    snapshots: frozenset[tuple[int, int | None, int]] = frozenset()
    writes: frozenset[tuple[int, object, int]] = frozenset()
    vain: frozenset[tuple[int, int]] = frozenset()
    firsts: frozenset[tuple[object, object]] = frozenset()
    seen: frozenset[tuple[int, object, int]] = frozenset()

    def snapshot(self, number: int, statement: int | None = None) -> int | None:
        """The length of the log at a snapshot, if it was taken."""
        return next((at for n, place, at in self.snapshots if (n, place) == (number, statement)), None)


@dataclass(frozen=True)
class Server:
    """A database that works as its profile says; `without` are rules that it does not keep."""

    trace: Trace
    profile: Profile
    without: frozenset[str] = frozenset()

    def after(self, state: State, bit: int) -> Iterator[State]:
        """The states after a step; none if the server would not have done it, or not so answered."""
        step = self.trace.steps[bit]
        done = replace(state, done=state.done | 1 << bit)
        match step.action:
            case Action.SNAPSHOT:
                yield from self._snapshot(done, step)
            case Action.ROW:
                yield from self._row(done, step)
            case Action.COMMIT:
                yield from self._commit(done, step)
            case Action.ROLLBACK:
                yield done

    # Snapshots and reads.

    def _snapshot(self, state: State, step: Step) -> Iterator[State]:
        taken = (step.number, step.statement, len(state.log))
        state = replace(state, snapshots=state.snapshots | {taken})
        yield from self._shown(state, step.number, step.looks, len(state.log))

    def _shown(self, state: State, number: int, looks: tuple[Look, ...], at: int) -> Iterator[State]:
        """All these looks show what the log had at `at`."""
        states = [state]
        for look in looks:
            states = [after for before in states for after in self._look(before, number, look, at)]
        yield from states

    def _look(self, state: State, number: int, look: Look, at: int) -> Iterator[State]:
        own = self._own(state, number, look)
        if own is not None:
            if own.value == look.value or "own" in self.without:
                yield state
            return
        if "consistent-read" in self.without:
            yield state
            return
        writer, value = self.newest(state, look.key, at)
        if writer == INITIAL:
            yield from self._first(state, number, look)
        elif value == look.value and self.trace.sent[writer] <= look.complete:
            yield replace(state, seen=state.seen | {(number, look.key, writer)})

    def _first(self, state: State, number: int, look: Look) -> Iterator[State]:
        """A key that no transaction changed yet: every read shows the same of it."""
        told = self.trace.initial.get(look.key)
        known = self._known(state, look.key)
        may_be = told is None or look.value in told or look.may_lack
        is_same = known in (None, look.value) or (known == _SOMETHING and look.value != NOTHING)
        if may_be and is_same:
            firsts = state.firsts - {(look.key, _SOMETHING)} | {(look.key, look.value)}
            yield replace(state, firsts=firsts, seen=state.seen | {(number, look.key, INITIAL)})

    def _known(self, state: State, key: object) -> object:
        """What reads and deletes showed of the first state of a key."""
        return next((value for one, value in state.firsts if one == key), None)

    def _own(self, state: State, number: int, look: Look) -> Change | None:
        """The own write that the read must show."""
        writes = [c for c in self.changes(state, number) if c.key == look.key and c.place < look.place]
        return writes[-1] if writes else None

    def changes(self, state: State, number: int) -> list[Change]:
        """What a transaction changes, without deletes that found no row."""
        return [c for c in self.trace.changes[number] if (number, c.place) not in state.vain]

    def newest(self, state: State, key: object, at: int) -> tuple[int, object]:
        """Whose version of a key is the newest in the log up to `at`, and its value."""
        for number in reversed(state.log[:at]):
            values = [change.value for change in self.changes(state, number) if change.key == key]
            if values:
                return number, values[-1]
        return INITIAL, None

    # Rows.

    def _row(self, state: State, step: Step) -> Iterator[State]:
        if step.change is not None and step.change.kind == "delete":
            yield from self._delete(state, step)
        elif self.is_free(state, step) and not self._is_refused(state, step):
            for locked in self._locked(state, step):
                yield from self._read(locked, step)

    def _read(self, state: State, step: Step) -> Iterator[State]:
        """What a read shows that is not of a snapshot."""
        if step.change is not None or step.read is Read.CONSISTENT:
            yield state
            return
        (look,) = step.looks
        pending = self._pending(state, step) if step.read is Read.UNCOMMITTED else []
        if pending and self._own(state, step.number, look) is None:
            yield from [state] if look.value in pending else []
            # A write with a lock is the newest version of its row, so a read of uncommitted data shows it and
            # nothing else. Without locks, two reasons in the words of `cassandra/quorum` let a read show what
            # is committed instead. "Of two writes of a row, the one with the later timestamp stays": another
            # transaction may have overwritten the row and committed since, or the write that is not committed
            # has the earlier timestamp although it arrived later. "A read may show some writes of a batch
            # before the others": a write that is under way may have reached no node that the read asks.
            # What is committed is in the order of commits, also here: timestamps are those of one client,
            # so of two commits that do not overlap the later one has the later timestamp.
            if self.profile.statements[Statement.UPDATE].lock is not Lock.NONE:
                return
        yield from self._shown(state, step.number, (look,), len(state.log))
        if step.is_hybrid and look.value == NOTHING and self._own(state, step.number, look) is None:
            yield from self._lost(state, step)

    def _lost(self, state: State, step: Step) -> Iterator[State]:
        """The statement's snapshot lacks the row, or had a row that was deleted since."""
        since = state.snapshot(step.number, step.place)
        if since is None:
            return
        look = Look(step.place, step.key, NOTHING, step.span.complete)
        yield from self._shown(state, step.number, (look,), since)
        if self._is_deleted(state, step, since):
            yield state

    def _is_deleted(self, state: State, step: Step, since: int) -> bool:
        """Whether the row was deleted while the statement waited for it."""
        return any(
            change.key == step.key and change.kind == "delete"
            for number in state.log[since:]
            if self.trace.sent[number] <= step.span.complete
            for change in self.changes(state, number)
        )

    def _pending(self, state: State, step: Step) -> list[object]:
        """Uncommitted values of the row, each the last one of its transaction."""
        found: dict[int, object] = {}
        for bit, other in enumerate(self.trace.steps):
            is_other = other.number != step.number and other.key == step.key
            is_done = state.done >> bit & 1 and (other.number, other.place) not in state.vain
            if is_other and is_done and other.change is not None and self._is_active(state, other):
                found[other.number] = other.change.value
        return list(found.values())

    def _delete(self, state: State, step: Step) -> Iterator[State]:
        """A delete changes the row that it finds; if it finds none it locks nothing and changes nothing."""
        change = step.change
        assert change is not None
        own = [c for c in self.changes(state, step.number) if c.key == change.key and c.place < change.place]
        each = [(state, own[-1].value != NOTHING)] if own else self._finding(state, step)
        for known, is_there in each:
            if not is_there:
                yield replace(known, vain=known.vain | {(step.number, change.place)})
            elif self.is_free(known, step) and not self._is_refused(known, step):
                yield from self._locked(known, step)

    def _finding(self, state: State, step: Step) -> Iterator[tuple[State, bool]]:
        """Whether the statement can find the row, and whether it can find none."""
        at = len(state.log) if step.read is not Read.CONSISTENT else state.snapshot(step.number)
        yield from self._held(state, step.key, len(state.log) if at is None else at)
        since = state.snapshot(step.number, step.place)
        if step.is_hybrid and since is not None:
            lacking = (known for known, is_there in self._held(state, step.key, since) if not is_there)
            yield from ((known, False) for known in lacking)
            if self._is_deleted(state, step, since):
                yield state, False

    def _held(self, state: State, key: object, at: int) -> Iterator[tuple[State, bool]]:
        """Whether the row is there in the log up to `at`, with what that says of its first state."""
        writer, value = self.newest(state, key, at)
        told, known = self.trace.initial.get(key), self._known(state, key)
        if writer != INITIAL or known is not None or told is not None:
            held = value if writer != INITIAL else known if known is not None else told and told[0]
            yield state, held != NOTHING
            return
        for first, is_there in ((_SOMETHING, True), (NOTHING, False)):
            yield replace(state, firsts=state.firsts | {(key, first)}), is_there

    # Locks.

    def is_free(self, state: State, step: Step) -> bool:
        """Whether no other transaction holds a lock that excludes that of the step."""
        if "mutual-exclusion" in self.without:
            return True
        return not any(
            state.done >> bit & 1
            and other.number != step.number
            and conflicts(other.lock, step.lock)
            and self._is_active(state, other)
            and (other.number, other.place) not in state.vain
            and self._collide(other, step)
            for bit, other in enumerate(self.trace.steps)
            if other.action is Action.ROW
        )

    def _collide(self, one: Step, other: Step) -> bool:
        """Whether two locks are on the same thing; the place of an absent row is closed to new rows alone."""
        if one.is_gap or other.is_gap:
            rows = [step for step in (one, other) if not step.is_gap]
            is_new = any(row.change is not None and row.change.kind != "delete" for row in rows)
            return one.key == other.key and is_new
        return self.profile.granularity is Granularity.DATABASE or one.key == other.key

    def _is_active(self, state: State, step: Step) -> bool:
        """Whether the transaction of a step still holds its locks."""
        return not any(
            state.done >> bit & 1 and other.number == step.number
            for bit, other in enumerate(self.trace.steps)
            if other.action in (Action.COMMIT, Action.ROLLBACK)
        )

    def _locked(self, state: State, step: Step) -> Iterator[State]:
        has_snapshot = state.snapshot(step.number) is not None
        is_known = any((n, key) == (step.number, step.key) for n, key, _ in state.writes)
        if step.change is None or has_snapshot or is_known:
            yield state
        else:
            yield replace(state, writes=state.writes | {(step.number, step.key, len(state.log))})

    # First updater wins.

    def _is_refused(self, state: State, step: Step) -> bool:
        """Whether a row that the step locks changed since the snapshot."""
        at = state.snapshot(step.number)
        is_asked = self.profile.first_updater_wins and self.profile.snapshot is not Snapshot.STATEMENT
        if not is_asked or at is None or step.lock is Lock.NONE or step.is_gap:
            return False
        if step.number not in self.trace.committed or "first-updater-wins" in self.without:
            return False
        return not self._is_new(state, step.number, step.key) and self._is_changed(state, step.key, at)

    def _is_new(self, state: State, number: int, key: object) -> bool:
        """Whether the transaction inserts a row that is not there, which few databases compare."""
        inserts = any(c.key == key and c.kind == "insert" for c in self.trace.changes[number])
        writer, value = self.newest(state, key, len(state.log))
        is_absent = writer == INITIAL or value == NOTHING
        return inserts and is_absent and not self.profile.compares_inserts

    def _is_changed(self, state: State, key: object, since: int) -> bool:
        return any(
            change.key == key for number in state.log[since:] for change in self.changes(state, number)
        )

    # Commits.

    def _commit(self, state: State, step: Step) -> Iterator[State]:
        number = step.number
        at = state.snapshot(number)
        length = len(state.log) if at is None else at
        for found in self._with_vain(state, number, length):
            looks = (*step.looks, *self.trace.late[number])
            for shown in self._shown(found, number, looks, length):
                if self._may_commit(shown, number):
                    yield replace(shown, log=(*shown.log, number))

    def _with_vain(self, state: State, number: int, at: int) -> list[State]:
        """Deletes without a step of their own find what the snapshot has."""
        steps = {s.place for s in self.trace.steps if s.number == number and s.change is not None}
        states = [state]
        for change in self.trace.changes[number]:
            if change.kind == "delete" and change.place not in steps:
                states = [one for known in states for one in self._without_step(known, number, change, at)]
        return states

    def _without_step(self, state: State, number: int, change: Change, at: int) -> Iterator[State]:
        own = [c for c in self.changes(state, number) if c.key == change.key and c.place < change.place]
        each = [(state, own[-1].value != NOTHING)] if own else self._held(state, change.key, at)
        for known, is_there in each:
            vain = {(number, change.place)} if not is_there else set()
            yield replace(known, vain=known.vain | vain)

    def _may_commit(self, state: State, number: int) -> bool:
        return (
            self._is_exclusive(state, number)
            and self._has_won(state, number)
            and ("certifier" in self.without or self._is_certified(state, number))
        )

    def _is_exclusive(self, state: State, number: int) -> bool:
        """Whether the locks of the commit are free."""
        mode = self.profile.commit_lock
        if mode is Lock.NONE or "mutual-exclusion" in self.without:
            return True
        changed = {change.key for change in self.changes(state, number)}
        return not any(
            state.done >> bit & 1
            and other.number != number
            and conflicts(other.lock, mode)
            and (self.profile.granularity is Granularity.DATABASE or other.key in changed)
            and (other.number, other.place) not in state.vain
            and self._is_active(state, other)
            for bit, other in enumerate(self.trace.steps)
            if changed and other.action is Action.ROW and not other.is_gap
        )

    def _has_won(self, state: State, number: int) -> bool:
        """Whether no row that it changes changed since its snapshot."""
        is_asked = self.profile.first_updater_wins and self.profile.snapshot is not Snapshot.STATEMENT
        if not is_asked or "first-updater-wins" in self.without:
            return True
        return not any(
            self._is_changed(state, key, self._since(state, number, key))
            for key in {change.key for change in self.changes(state, number)}
            if not self._is_new(state, number, key)
        )

    def _since(self, state: State, number: int, key: object) -> int:
        marked = next((at for n, k, at in state.writes if (n, k) == (number, key)), None)
        at = state.snapshot(number)
        return marked if marked is not None else len(state.log) if at is None else at

    def _is_certified(self, state: State, number: int) -> bool:
        match self.profile.certifier:
            case Certifier.OPTIMISTIC_WRITES:
                keys = {change.key for change in self.changes(state, number)}
                return not any(self._is_changed(state, k, self._since(state, number, k)) for k in keys)
            case Certifier.OPTIMISTIC_READS:
                return certifiers.reads_are_newest(self, state, number)
            case Certifier.SSI:
                is_updated = not self.profile.first_updater_wins
                is_lost = is_updated and certifiers.loses_an_update(self, state, number)
                return not is_lost and not certifiers.is_dangerous(self, state, number)
        return True
