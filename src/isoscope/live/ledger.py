"""The state of the service that survives a restart: journal, engines and events.

Every change of a verdict (a batch, a heartbeat, a step of the clock, a flush) is a record of the journal
before the engines see it, with the time of the service's own clock. A restart makes the same calls in the
same order, so it reaches the same verdicts and events. The ledger itself reads no clock.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.live import checkpoint
from isoscope.live.batches import Batch, Refused
from isoscope.live.engines import open_engines
from isoscope.live.event_json import event_line
from isoscope.live.event_log import EventLog
from isoscope.live.journal import BatchRecord, HeartbeatRecord, Journal, TimeRecord

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History
    from isoscope.live.check_settings import CheckSettings
    from isoscope.live.journal import Fsync, Record
    from isoscope.verdict import Anomaly

__all__ = ["BrokenError", "Ledger"]


class BrokenError(Exception):
    """An engine stopped in the middle of a call: its state cannot be trusted any longer."""


class Ledger:
    """The ledger in `folder`, with all records of its journal applied. One thread at a time may use it.

    Raises UsageError if the folder is damaged or was used with other settings.
    """

    def __init__(self, folder: Path, check: CheckSettings, fsync: Fsync) -> None:
        self._folder = folder
        saved = checkpoint.latest(folder)
        #: The number of the last batch of each collector.
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
        for record in self.journal.replay():
            self._replay(record)
        self.write_events()
        self.journal.forget(saved.segment)

    def record(self, record: Record, history: History | None = None) -> tuple[int, int]:
        """Writes to the journal, then tells the engines; the position in the journal, and how many were new.

        `history` is the parsed body of a batch. Raises OSError, and then nothing has changed, Refused
        if the engines do not take the batch, and BrokenError.
        """
        if history is not None:
            self._validate(history)
        position = self.journal.append(record)
        return position, self._apply(record, history)

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
        segment = self.journal.rotate()
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

    def _replay(self, record: Record) -> None:
        history = None
        if isinstance(record, BatchRecord):
            batch = Batch(
                collector=record.collector, sequence=record.sequence, form=record.form, body=record.body
            )
            try:
                history = batch.read()
            except Refused as refused:
                raise UsageError(
                    f"{self._folder}: a record of the journal is not a batch: {refused}"
                ) from None
        # A heartbeat that the engines refused is refused again.
        with suppress(Refused):
            self._apply(record, history)

    def _apply(self, record: Record, history: History | None) -> int:
        self.time = record.time
        try:
            taken = self._apply_to_engines(record, history)
        except ValueError as error:
            raise Refused(422, str(error)) from None
        except BaseException as error:
            raise _stopped(error) from error
        if isinstance(record, BatchRecord):
            self.collectors[record.collector] = record.sequence
        if isinstance(record, BatchRecord | HeartbeatRecord):
            self.arrival = record.time
        self._collect_news()
        return taken

    def _apply_to_engines(self, record: Record, history: History | None) -> int:
        if history is not None:
            return self.engines.take(history, record.time)
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


def _stopped(error: BaseException) -> BrokenError:
    return BrokenError(f"a checker stopped: {type(error).__name__}: {error}")
