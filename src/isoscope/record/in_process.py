"""Recording inside of this process: all connections, or those of one SQLAlchemy engine."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any

from isoscope.errors import UsageError
from isoscope.record.install import DRIVERS, driver_module, install, recording_of, uninstall
from isoscope.record.interpret import interpret
from isoscope.record.program_file import write_program
from isoscope.record.recording import Hook, Recording
from isoscope.record.traces import read_traces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.record.traces import TracedTransaction

__all__ = ["Recorded", "record"]


class Recorded:
    """What was recorded so far."""

    def __init__(self, folder: Path, recording: Recording | None = None) -> None:
        self.folder = folder
        self._recording = recording
        self._transactions: list[TracedTransaction] | None = None

    @property
    def transactions(self) -> list[TracedTransaction]:
        """The transactions that have ended."""
        return read_traces(self.folder) if self._transactions is None else self._transactions

    @property
    def count(self) -> int:
        """How many transactions have ended."""
        return len(self.transactions)

    def save(self, path: str | Path) -> Path:
        """Writes the history; `isoscope check` and `isoscope.check` read it."""
        write_program(interpret(self.transactions), Path(path))
        return Path(path)

    def restart(self) -> None:
        """Forgets what was recorded; the database as it is now is what was there before."""
        if self._recording is not None:
            self.folder = Path(mkdtemp(dir=self.folder.parent))
            self._recording.rotate(self.folder)

    def keep(self) -> None:
        """Holds everything in memory, because the folder goes away."""
        self._transactions = self.transactions


@contextmanager
def record(engine: Any = None, *, hook: Hook | None = None) -> Iterator[Recorded]:
    """Records the connections that are made in this block; of one SQLAlchemy engine if it is given."""
    with TemporaryDirectory(prefix="isoscope-") as folder:
        first = Path(folder, "first")
        first.mkdir()
        recording = Recording(first, hook=hook)
        recorded = Recorded(first, recording)
        before = recording_of()
        install(recording)
        try:
            if engine is not None:
                uninstall(before)
                _record_engine(engine, recording)
            yield recorded
        finally:
            uninstall(before)
            recording.close()
            recorded.keep()


def _record_engine(engine: Any, recording: Recording) -> None:
    """Makes each new connection of the engine a recorded one; those in its pool are closed."""
    from sqlalchemy import event  # noqa: PLC0415 - an engine is given, so it is installed

    name = engine.dialect.dbapi.__name__.partition(".")[0]
    if name not in DRIVERS:
        known = ", ".join(DRIVERS)
        raise UsageError(f"the driver {name} of this engine is not recorded\n\nhint: recorded are {known}")

    def connect(_dialect: Any, _record: Any, given: Any, named: Any) -> Any:
        return driver_module(name).connect(recording, *given, **named)

    event.listen(engine, "do_connect", connect)
    engine.dispose()
