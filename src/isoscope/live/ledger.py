"""The state of the service that survives a restart: journal, engines and events.

Every change of a verdict (a batch, a heartbeat, a step of the clock, a flush) is a record of the journal
before the engines see it, with the time of the service's own clock. A restart makes the same calls in the
same order, so it reaches the same verdicts and events. The ledger itself reads no clock.
"""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.live import checkpoint
from isoscope.live.batches import Batch, Refused, checksum
from isoscope.live.checkpoint import LastBatch
from isoscope.live.engines import open_engines
from isoscope.live.event_json import event_line
from isoscope.live.event_log import EventLog
from isoscope.live.journal import BatchRecord, HeartbeatRecord, Journal, TimeRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from isoscope.history import Fault, History
    from isoscope.live.check_settings import CheckSettings
    from isoscope.live.journal import Cut, Fsync, Record
    from isoscope.verdict import Anomaly

__all__ = ["BrokenError", "Ledger", "Recovered"]

#: Batches that are parsed ahead of the one that the engines take.
_AHEAD = 4


class BrokenError(Exception):
    """An engine stopped in the middle of a call: its state cannot be trusted any longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What a start found: the segment of the checkpoint, and the records after it.

    `cut` is set if the last record was unfinished and is dropped.
    """

    segment: int
    records: int = 0
    batches: int = 0
    transactions: int = 0
    collectors: int = 0
    cut: Cut | None = None

    def with_record(self, history: History | None) -> Recovered:
        """With one more record."""
        transactions = 0 if history is None else len(history)
        return replace(
            self,
            records=self.records + 1,
            batches=self.batches + (history is not None),
            transactions=self.transactions + transactions,
        )

    def document(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)

    def text(self) -> str:
        """In words; empty if the folder was empty."""
        kept = (
            f"{self.batches:,} batches with {self.transactions:,} transactions of the journal were kept, "
            f"after the checkpoint at segment {self.segment}"
        )
        if self.cut is not None:
            return f"{self.cut.text()}; {kept}"
        return kept if self.records else ""


class Ledger:
    """The ledger in `folder`. One thread at a time may use it; `replay` comes first.

    Raises UsageError if the folder is damaged or was used with other settings.
    """

    def __init__(self, folder: Path, check: CheckSettings, fsync: Fsync) -> None:
        self._folder = folder
        saved = checkpoint.latest(folder)
        #: The last batch of each collector.
        self.collectors = dict(saved.collectors)
        #: The time of the latest record, and of the latest batch or heartbeat.
        self.time = self.arrival = saved.time
        self.checkpointed = saved.segment
        self.journal = Journal(folder, check.document(), first=saved.segment, fsync=fsync)
        self.journal.verify()
        try:
            self.engines = open_engines(check, saved.engines, evidence=saved.evidence)
        except ValueError as error:
            raise UsageError(f"{folder}: {error}") from None
        self.events = EventLog(folder / "violations.jsonl", *saved.events)
        self._unwritten: list[bytes] = []
        #: The faults that the latest batch of a run names.
        self._faults: tuple[Fault, ...] = ()
        self.recovered = Recovered(segment=saved.segment)

    def replay(self, *, is_stopped: Callable[[], bool] = lambda: False) -> bool:
        """Applies all records of the journal; False if that was stopped. Must come first."""
        last: dict[str, BatchRecord] = {}
        with ThreadPoolExecutor(1, thread_name_prefix="isoscope-replay") as pool:
            for record, reading in _read_ahead(self.journal.replay(), pool):
                if is_stopped():
                    return False
                self._replay(record, reading)
                if isinstance(record, BatchRecord):
                    last[record.collector] = record
        # Only the last batch of a collector is compared with another body.
        self.collectors.update({name: _last(record) for name, record in last.items()})
        self.write_events()
        self.journal.forget(self.checkpointed)
        self.recovered = replace(self.recovered, cut=self.journal.cut, collectors=len(self.collectors))
        return True

    def record(self, record: Record, history: History | None = None) -> tuple[int, int]:
        """Writes to the journal, then tells the engines; the position in the journal, and how many were new.

        `history` is the parsed body of a batch. Raises OSError, and then nothing has changed, Refused
        if the engines do not take the batch, and BrokenError.
        """
        if history is not None:
            self._validate(history)
        position = self.journal.append(record)
        taken = self._apply(record, history)
        if isinstance(record, BatchRecord):
            self.collectors[record.collector] = _last(record)
        return position, taken

    def _validate(self, history: History) -> None:
        """Keeps a batch that the engines refuse out of the journal."""
        try:
            self.engines.validate(history)
        except ValueError as error:
            raise Refused(422, str(error)) from None
        except BaseException as error:
            raise _stopped(error) from error

    def write_events(self) -> None:
        """Writes events that a full disk did not take before. Raises OSError if it is still full."""
        if self._unwritten:
            self.events.append(self._unwritten)
            self._unwritten.clear()

    def checkpoint(self) -> None:
        """Saves the state, and drops the journal so far. Raises OSError, and then the journal is kept."""
        self.write_events()
        # After a checkpoint that failed, the new segment may still be empty.
        segment = self.journal.rotate() if self.journal.has_records else self.journal.segment
        self.events.sync()
        saved = checkpoint.Checkpoint(
            segment=segment,
            time=self.time,
            collectors=self.collectors,
            events=(self.events.count, self.events.size),
            evidence=self.engines.evidence,
            engines=self.engines.save(),
        )
        checkpoint.write(self._folder, saved)
        self.journal.forget(segment)
        self.checkpointed = segment

    def document(self) -> dict[str, object]:
        """The journal as JSON."""
        return {
            "segment": self.journal.segment,
            "position": self.journal.size,
            "checkpoint": self.checkpointed,
            "recovered": self.recovered.document(),
        }

    def found(self) -> dict[str, object]:
        """How many violations there are, and the faults that were injected, if there were any."""
        faults = [fault.document() for fault in self._faults]
        return {"violations": self.events.count, **({"faults": faults} if faults else {})}

    def anomaly(self, number: int) -> Anomaly | None:
        """The counterexample of the event with this number, if the engine still has it."""
        for event in self.events.after(number - 1, 1) if number > 0 else ():
            return self.engines.anomaly(json.loads(event.line))
        return None

    def close(self) -> None:
        """Closes all files; the next start finds them as they are."""
        self.journal.close()
        self.events.close()
        self.engines.close()

    def _replay(self, record: Record, reading: Future[History] | None) -> None:
        history = None
        if reading is not None:
            try:
                history = reading.result()
            except Refused as refused:
                raise UsageError(
                    f"{self._folder}: a record of the journal is not a batch: {refused}"
                ) from None
        # A heartbeat that the engines refused is refused again.
        with suppress(Refused):
            self._apply(record, history, is_replay=True)
        self.recovered = self.recovered.with_record(history)

    def _apply(self, record: Record, history: History | None, *, is_replay: bool = False) -> int:
        self.time = record.time
        try:
            taken = self._apply_to_engines(record, history, is_replay=is_replay)
        except ValueError as error:
            raise Refused(422, str(error)) from None
        except BaseException as error:
            raise _stopped(error) from error
        if isinstance(record, BatchRecord | HeartbeatRecord):
            self.arrival = record.time
        self._collect_news()
        return taken

    def _apply_to_engines(self, record: Record, history: History | None, *, is_replay: bool) -> int:
        if history is not None:
            self._faults = history.deployment.faults or self._faults
            take = self.engines.retake if is_replay else self.engines.take
            return take(history, record.time)
        if isinstance(record, HeartbeatRecord):
            self.engines.heartbeat(record.beats, record.time)
        elif isinstance(record, TimeRecord):
            self.engines.advance(record.time)
        else:
            self.engines.flush()
        return 0

    def _collect_news(self) -> None:
        for event in self.engines.news():
            number = self.events.count + len(self._unwritten) + 1
            self._unwritten.append(event_line(number, self.time, event))
        # An event that a full disk does not take is written later.
        with suppress(OSError):
            self.write_events()


def _last(record: BatchRecord) -> LastBatch:
    return LastBatch(record.sequence, checksum(record.form, record.body))


def _stopped(error: BaseException) -> BrokenError:
    return BrokenError(f"a checker stopped: {type(error).__name__}: {error}")


def _read_ahead(
    records: Iterator[Record], pool: ThreadPoolExecutor
) -> Iterator[tuple[Record, Future[History] | None]]:
    """The records; the next batches are parsed on another core while the engines take one."""
    waiting: deque[tuple[Record, Future[History] | None]] = deque()
    for record in records:
        waiting.append((record, pool.submit(_read, record) if isinstance(record, BatchRecord) else None))
        if len(waiting) > _AHEAD:
            yield waiting.popleft()
    yield from waiting


def _read(record: BatchRecord) -> History:
    return Batch(
        collector=record.collector, sequence=record.sequence, form=record.form, body=record.body
    ).read()
