"""The service without its network: batches in, verdicts and events out.

The clock of the service continues from the last record of its journal, and stands still while the service is
down: no transaction times out because of a restart.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import ExitStack, contextmanager
from secrets import token_hex
from threading import Lock
from time import monotonic_ns, sleep
from typing import TYPE_CHECKING, Any

from isoscope.live.batches import Refused
from isoscope.live.disk_health import DiskHealth
from isoscope.live.files import locked
from isoscope.live.journal import BatchRecord, FlushRecord, Fsync, HeartbeatRecord, TimeRecord
from isoscope.live.ledger import BrokenError, Ledger
from isoscope.live.memory_limit import MemoryLimit
from isoscope.live.rates import Rate
from isoscope.live.settings import Settings, State, Taken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from isoscope.history import History, Scalar
    from isoscope.live.batches import Batch
    from isoscope.live.event_log import LoggedEvent
    from isoscope.live.journal import Record
    from isoscope.live.ledger import Recovered
    from isoscope.verdict import Anomaly, Report

__all__ = ["Service", "Settings", "State", "Taken"]

_SECOND = 1_000_000_000
#: Bound on the names of collectors: the number of the last batch is kept for each, without end.
_COLLECTORS = 100_000
_NO_HEARTBEATS = "levels of the database's clock wait for no session: heartbeats are for a --profile"


class Service:
    """A service whose journal is in `folder`. Every method may be called from any thread.

    Raises UsageError if the folder is used by another service, is damaged or has other settings. With
    `replay=False` the service is replaying until `replay` has returned; until then only `progress`, `drain`
    and `close` may be called.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings | None = None,
        *,
        clock: Callable[[], int] = monotonic_ns,
        replay: bool = True,
    ) -> None:
        self.settings = settings or Settings()
        self.state = State.REPLAYING
        self.problem = ""
        self._clock = clock
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self._rate = Rate()
        self._memory = MemoryLimit(self.settings.memory)
        self._in_flight = self._lag = self._synced = 0
        self._is_stopped = False
        with ExitStack() as guards:
            for place in (folder, self.settings.check.spill):
                if place is not None:
                    guards.callback(os.close, locked(place))
            self._ledger = Ledger(folder, self.settings.check, self.settings.fsync)
            self._disk = DiskHealth(folder)
            self._base, self._started = self._ledger.time, clock()
            if replay:
                self.replay()
            self._guards = guards.pop_all()
        # Lets a listener tell a restart from a pause.
        self._start = token_hex(8)
        self._is_settled = False
        self._measure()

    def replay(self) -> bool:
        """Replays the journal; False if `drain` ended that. Raises UsageError if the journal is damaged."""
        if not self._ledger.replay(is_stopped=lambda: self._is_stopped):
            return False
        with self._lock:
            self._base, self._started = self._ledger.time, self._clock()
            self._measure()
            if self.state is State.REPLAYING:
                self.state = State.RUNNING
        return True

    def stop_replay(self) -> None:
        """Ends a replay at its next record."""
        self._is_stopped = True

    @property
    def recovered(self) -> Recovered:
        """What the start found in the journal."""
        return self._ledger.recovered

    def progress(self) -> dict[str, Any]:
        """State and problem, and while the journal is replayed how far that is."""
        found: dict[str, Any] = {"state": str(self.state), "problem": self.problem}
        if self.state is State.REPLAYING:
            journal = self._ledger.journal
            found["replayed"] = {"bytes": journal.replayed, "total": journal.total}
        return found

    @property
    def is_ready(self) -> bool:
        """Whether batches are taken: all are replayed, and the disk takes what is written."""
        return self.state is State.RUNNING and not self.problem

    def take(self, batch: Batch) -> Taken:
        """Takes a whole batch: when this returns, it is in the journal, and as safe as the policy says.

        Raises Refused with the reason, and then nothing of it was taken.
        """
        came = self._clock()
        with self._counted_in_flight():
            with self._lock:
                is_known = self._is_known(batch)
            if is_known:
                return self._again(batch)
            history = self._read(batch)
            with self._lock:
                # Another thread may have taken the same batch in the meantime.
                if self._is_known(batch):
                    return self._again(batch)
                position, taken = self._take(batch, history)
            self._sync(position)
        self._lag = self._clock() - came
        return Taken(taken=taken, repeated=len(history) - taken, sequence=batch.sequence)

    def heartbeat(self, beats: Sequence[tuple[Scalar, int]]) -> None:
        """Heartbeats: every later operation of a session begins at its instant or later.

        Raises Refused if the engines do not wait for sessions.
        """
        if self.settings.check.profile is None:
            raise Refused(422, _NO_HEARTBEATS)
        with self._counted_in_flight(), self._lock:
            self._refuse_failed()
            self._record(HeartbeatRecord(self._now(), tuple(beats)))
            self._is_settled = False
            self._measure()

    def expected(self, collector: str) -> int:
        """The number of the next batch of this collector."""
        with self._lock:
            return self._expected(collector)

    def tick(self) -> None:
        """Advances the clock: to be called several times a second."""
        with self._lock:
            if self.state in (State.FAILED, State.REPLAYING):
                return
            now = self._now()
            self._rate.note(now, self._counts["transactions"])
            try:
                # Where a write failed, the next one shows whether there is room again.
                if not self._is_settled or self._disk.has_failed:
                    self._advance(now)
                self._ledger.write_events()
                self._disk.wrote()
                self._maintain_journal(now)
            except OSError as error:
                # The disk is full: the clock stands still until there is space, and nothing is lost.
                self._disk.failed(error)
            except BaseException as error:
                # The thread of the clock must not end without a word.
                self._failed(
                    500, str(error) if isinstance(error, BrokenError) else f"the clock stopped: {error!r}"
                )
                return
            self.problem = self._disk.problem or self._ledger.engines.trouble
            self._memory.trim(now)

    def flush(self) -> None:
        """All answers become final now. Raises Refused if the journal cannot be written."""
        with self._lock:
            self._refuse_failed()
            position, _ = self._record(FlushRecord(self._now()))
        self._sync(position)

    def drain(self, seconds: float) -> None:
        """Refuses further batches, waits for those in flight, makes answers final, writes a checkpoint.

        A replay that has not ended by then is given up.
        """
        with self._lock:
            if self.state is State.RUNNING:
                self.state = State.DRAINING
        end = self._clock() + int(seconds * _SECOND)
        while self.state is State.REPLAYING and self._clock() < end:
            sleep(0.01)
        self.stop_replay()
        with self._lock:
            if self.state is State.RUNNING:
                self.state = State.DRAINING
        while self._in_flight and self._clock() < end:
            sleep(0.01)
        with self._lock:
            if self.state in (State.FAILED, State.REPLAYING):
                return
            try:
                self._record(FlushRecord(self._now()))
                self._ledger.checkpoint()
            except (OSError, Refused) as error:
                # The report does not need the disk, and a restart replays all batches that were taken.
                self.problem = self.problem or str(error)
                if self.state is State.DRAINING:
                    self._ledger.engines.flush()

    def report(self) -> Report:
        """The verdicts so far."""
        with self._lock:
            return self._ledger.engines.report()

    def status(self) -> dict[str, Any]:
        """The progress as JSON."""
        with self._lock:
            ledger, counts = self._ledger, self._counts
            return {
                "state": str(self.state),
                "problem": self.problem,
                "start": self._start,
                "uptime": (self._clock() - self._started) / _SECOND,
                "time": self._now(),
                **ledger.engines.status(),
                "intake": {
                    "batches": counts["batches"],
                    "transactions": counts["transactions"],
                    "bytes": counts["bytes"],
                    "repeated_batches": counts["again"],
                    "refused_batches": counts["refused"],
                    "rate": self._rate.per_second(),
                    "lag": self._lag / _SECOND,
                    "in_flight": self._in_flight,
                    "collectors": len(ledger.collectors),
                },
                "memory": self._memory.document(),
                "journal": {**ledger.document(), "fsync": str(self.settings.fsync)},
                **ledger.found(),
            }

    @property
    def latest_violation(self) -> int:
        """The number of the latest violation."""
        return self._ledger.events.count

    def violations(self, after: int, limit: int) -> list[LoggedEvent]:
        """At most `limit` violations after this number."""
        return self._ledger.events.after(after, limit)

    def anomaly(self, number: int) -> Anomaly | None:
        """The counterexample of a violation, if it is a recent one."""
        with self._lock:
            return self._ledger.anomaly(number)

    def close(self) -> None:
        """Closes all files; the next start finds them as they are."""
        with self._lock:
            self._ledger.close()
            self._guards.close()

    def _read(self, batch: Batch) -> History:
        history = batch.read()
        try:
            self._ledger.engines.admit(history)
        except ValueError as error:
            raise Refused(422, str(error)) from None
        return history

    def _take(self, batch: Batch, history: History) -> tuple[int, int]:
        """The position in the journal, and how many transactions are new."""
        record = BatchRecord(
            time=self._now(),
            collector=batch.collector,
            sequence=batch.sequence,
            form=batch.form,
            body=batch.body,
        )
        position, taken = self._record(record, history)
        self._is_settled = False
        self._measure()
        self._counts.update(batches=1, transactions=taken, bytes=len(batch.body))
        return position, taken

    def _is_known(self, batch: Batch) -> bool:
        """Whether the batch was taken before. Raises Refused if the service cannot take it now."""
        self._refuse_failed()
        expected = self._expected(batch.collector)
        if batch.sequence < expected:
            self._refuse_other_body(batch)
            return True
        if batch.sequence > expected:
            raise Refused(409, f"expected batch {expected} of {batch.collector}", expected=expected)
        if expected == 1 and len(self._ledger.collectors) >= _COLLECTORS:
            raise Refused(422, f"there are {_COLLECTORS:,} collectors already: use one of their names")
        self._memory.refuse(is_settled=self._is_settled)
        return False

    def _refuse_other_body(self, batch: Batch) -> None:
        last = self._ledger.collectors[batch.collector]
        if batch.sequence == last.sequence and last.checksum not in ("", batch.checksum):
            raise Refused(
                422,
                f"batch {batch.sequence} of {batch.collector} was taken before with another body: "
                "each sender needs a name of its own, and each batch a number of its own",
            )

    def _refuse_failed(self) -> None:
        if self.state is State.FAILED:
            raise Refused(500, self.problem)

    def _again(self, batch: Batch) -> Taken:
        # A collector that repeats a batch did not get the first answer, which may still wait for the disk.
        self._sync(self._ledger.journal.written)
        self._counts["again"] += 1
        return Taken(taken=0, repeated=0, sequence=batch.sequence, again=True)

    def _expected(self, collector: str) -> int:
        last = self._ledger.collectors.get(collector)
        return 1 if last is None else last.sequence + 1

    def _record(self, record: Record, history: History | None = None) -> tuple[int, int]:
        try:
            return self._ledger.record(record, history)
        except OSError as error:
            self._disk.failed(error, size=len(record.body) if isinstance(record, BatchRecord) else 0)
            self.problem = self._disk.problem
            raise Refused(507, f"cannot write the journal: {error.strerror or error}") from None
        except BrokenError as error:
            raise self._failed(500, str(error)) from None

    def _sync(self, position: int) -> None:
        try:
            self._ledger.journal.sync(position)
        except OSError as error:
            raise self._failed(507, f"the journal is not safe: {error.strerror or error}") from None

    def _failed(self, status: int, problem: str) -> Refused:
        """The service takes nothing more until a restart."""
        self.problem, self.state = problem, State.FAILED
        return Refused(status, problem)

    def _advance(self, now: int) -> None:
        self._ledger.record(TimeRecord(now))
        check = self.settings.check
        self._is_settled = now > self._ledger.arrival + check.timeout + check.keep
        self._measure()

    def _maintain_journal(self, now: int) -> None:
        """Forces the journal to the disk, and replaces it by a checkpoint, each when it is due."""
        journal, settings = self._ledger.journal, self.settings
        if settings.fsync is Fsync.INTERVAL and now - self._synced >= _SECOND:
            journal.sync()
            self._synced = now
        if self._disk.is_checkpoint_due(now):
            self._checkpoint(now)
        elif journal.size >= settings.segment:
            if journal.segment + 1 - self._ledger.checkpointed >= settings.segments:
                self._checkpoint(now)
            else:
                journal.rotate()

    def _checkpoint(self, now: int) -> None:
        try:
            self._ledger.checkpoint()
        except OSError as error:
            self._disk.checkpoint_failed(error, now)
        else:
            self._disk.checkpointed()

    def _now(self) -> int:
        return self._base + self._clock() - self._started

    def _measure(self) -> None:
        self._memory.measure(self._ledger.engines)

    @contextmanager
    def _counted_in_flight(self) -> Iterator[None]:
        with self._lock:
            if self.state is State.DRAINING:
                raise Refused(503, "the service is shutting down")
            self._in_flight += 1
        try:
            yield
        except Refused:
            self._counts["refused"] += 1
            raise
        finally:
            with self._lock:
                self._in_flight -= 1
