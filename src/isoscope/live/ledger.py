"""What is known and how it came to be known: journal, engines and events, which a restart finds again.

Everything that changes a verdict (a batch, a heartbeat, the time that went on, a flush) is a record of the
journal before the engines hear of it, with the time by the service's own clock. A restart makes the same
calls in the same order, so it comes to the same verdicts and events. Nothing here looks at a clock.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.live import checkpoint
from isoscope.live.batches import Batch, Refused
from isoscope.live.engines import engines_of
from isoscope.live.events import Events
from isoscope.live.journal import Advanced, Arrived, Heard, Journal
from isoscope.live.telling import event

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History
    from isoscope.live.journal import Fsync, Record
    from isoscope.live.judging import Judging
    from isoscope.verdict import Anomaly

__all__ = ["BrokenError", "Ledger"]


class BrokenError(Exception):
    """An engine stopped in the middle of something: what it knows cannot be trusted any longer."""


class Ledger:
    """The ledger in `folder`, with all that its journal says. One thread at a time may use it.

    Raises UsageError if the folder is damaged or was used with other settings.
    """

    def __init__(self, folder: Path, judging: Judging, fsync: Fsync) -> None:
        self._folder = folder
        saved = checkpoint.latest(folder)
        #: The last number that was taken of each collector.
        self.collectors = dict(saved.collectors)
        #: The time of the latest record, and of the latest batch or heartbeat.
        self.time = self.arrival = saved.time
        self.checkpointed = saved.segment
        self.journal = Journal(folder, judging.document(), first=saved.segment, fsync=fsync)
        self.journal.verify()
        try:
            self.engines = engines_of(judging, saved.engines, evidence=saved.evidence)
        except ValueError as error:
            raise UsageError(f"{folder}: {error}") from None
        self.events = Events(folder / "violations.jsonl", *saved.events)
        self._untold: list[bytes] = []
        for record in self.journal.replay():
            self._replay(record)
        self.tell()
        self.journal.forget(saved.segment)

    def record(self, record: Record, history: History | None = None) -> tuple[int, int]:
        """Into the journal, then into the engines; the position in the journal, and how many were new.

        `history` is what the body of a batch says. Raises OSError, and then nothing has changed, Refused
        if the engines do not take the batch, and BrokenError.
        """
        if history is not None:
            self._refuse(history)
        position = self.journal.append(record)
        return position, self._apply(record, history)

    def _refuse(self, history: History) -> None:
        """What no level would take needs no room in the journal."""
        try:
            self.engines.refuse(history)
        except ValueError as error:
            raise Refused(422, str(error)) from None
        except BaseException as error:
            raise _stopped(error) from error

    def tell(self) -> None:
        """Writes events that found no room before. Raises OSError if there still is none."""
        if self._untold:
            self.events.append(self._untold)
            self._untold.clear()

    def checkpoint(self) -> None:
        """Makes the journal so far needless. Raises OSError, and then it is needed as before."""
        self.tell()
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
        for _, line in self.events.after(number - 1, 1) if number > 0 else ():
            return self.engines.anomaly(json.loads(line))
        return None

    def close(self) -> None:
        """Leaves the folder as it is, for the next start."""
        self.journal.close()
        self.events.close()
        self.engines.close()

    def _replay(self, record: Record) -> None:
        history = None
        if isinstance(record, Arrived):
            batch = Batch(
                collector=record.collector, sequence=record.sequence, form=record.form, body=record.body
            )
            try:
                history = batch.read()
            except Refused as refused:
                raise UsageError(f"{self._folder}: a batch of the journal is no batch: {refused}") from None
        # What the engines refused then, they refuse now.
        with suppress(Refused):
            self._apply(record, history)

    def _apply(self, record: Record, history: History | None) -> int:
        self.time = record.time
        try:
            taken = self._tell_engines(record, history)
        except ValueError as error:
            raise Refused(422, str(error)) from None
        except BaseException as error:
            raise _stopped(error) from error
        if isinstance(record, Arrived):
            self.collectors[record.collector] = record.sequence
        if isinstance(record, Arrived | Heard):
            self.arrival = record.time
        self._collect_news()
        return taken

    def _tell_engines(self, record: Record, history: History | None) -> int:
        if history is not None:
            return self.engines.take(history, record.time)
        if isinstance(record, Heard):
            self.engines.heartbeat(record.beats, record.time)
        elif isinstance(record, Advanced):
            self.engines.advance(record.time)
        else:
            self.engines.flush()
        return 0

    def _collect_news(self) -> None:
        for told in self.engines.news():
            number = self.events.count + len(self._untold) + 1
            self._untold.append(event(number, self.time, told))
        # What finds no room on a full disk is told later.
        with suppress(OSError):
            self.tell()


def _stopped(error: BaseException) -> BrokenError:
    return BrokenError(f"a checker stopped: {type(error).__name__}: {error}")
