"""The levels of the database's clock, one engine each; every engine after the first has its own thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from isoscope.checkers import online_report
from isoscope.checkers.online import Online
from isoscope.history import EvidenceKind, Extent, Initial, Source, Status
from isoscope.levels import Level
from isoscope.live.event_json import ClockEvent, level_status
from isoscope.live.files import sync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from isoscope.history import History, Scalar
    from isoscope.live.check_settings import CheckSettings
    from isoscope.verdict import Anomaly, Report

__all__ = ["ClockEngines"]

_Result = TypeVar("_Result")


class ClockEngines:
    """The engines of all levels, restored from `saved` or new."""

    def __init__(
        self,
        check: CheckSettings,
        saved: Sequence[bytes] = (),
        *,
        evidence: Iterable[str] = (),
        path: str = "<live>",
    ) -> None:
        self._source = Source(path=path, format="aion")
        self.levels = check.levels
        self._evidence = {EvidenceKind(kind) for kind in evidence}
        self._initial = Initial(value=check.initial)
        self._spilled = _Spilled(check.spill, self.levels)
        self._engines = [
            Online.load(level, data, spill=self._spilled.folder(level))
            for level, data in zip(self.levels, saved, strict=bool(saved))
        ] or [_new(check, level, self._spilled.folder(level)) for level in self.levels]
        #: The batch that all engines validated last; they have not changed since.
        self._validated: History | None = None
        self._pool = ThreadPoolExecutor(max(1, len(self.levels) - 1), thread_name_prefix="isoscope-engine")

    def admit(self, history: History) -> None:
        """Raises ValueError for an indeterminate transaction, or if a level needs a missing timestamp.

        Serializability needs no start timestamps, snapshot isolation does: a batch goes to all levels or to
        none. The check changes nothing and may run in any thread.
        """
        if history.columns.status_counts()[Status.INDETERMINATE]:
            one = next(one for one in history if one.status is Status.INDETERMINATE)
            place = history.source.place(one.line)
            raise ValueError(f"{place}: transaction {one.id!r}: it is not known whether it committed")
        if len(self.levels) == 1 or history.evidence[EvidenceKind.TIMESTAMPS] is Extent.COMPLETE:
            return
        for one in history:
            if one.status is Status.COMMITTED and (one.start is None or one.commit is None):
                place = history.source.place(one.line)
                raise ValueError(f"{place}: transaction {one.id!r}: a transaction without its timestamps")

    def validate(self, history: History) -> None:
        """Raises ValueError if one level refuses the transactions."""
        self._all(lambda engine: engine.admit(history))
        self._validated = history

    def take(self, history: History, now: int) -> int:
        """How many of the transactions are new. Raises ValueError if a level refuses them: none is taken."""
        if self._validated is not history:
            self.validate(history)
        return self.retake(history, now)

    def retake(self, history: History, now: int) -> int:
        """Takes a batch of the journal: no level has to wait until the others have validated it."""
        self._validated = None
        taken = max(self._all(lambda engine: engine.take(history, now)))
        self._evidence.update(history.evidence.present)
        return taken

    def heartbeat(self, beats: Iterable[tuple[Scalar, int]], now: int) -> None:  # noqa: ARG002
        """Raises ValueError: the levels of the clock do not wait for sessions."""
        raise ValueError("levels of the database's clock need no heartbeats: they are for a --profile")

    def advance(self, now: int) -> None:
        """Answers that have waited for the timeout become final."""
        self._validated = None
        self._all(lambda engine: engine.advance(now))

    def flush(self) -> None:
        """All answers become final."""
        self._validated = None
        self._all(lambda engine: engine.flush())

    def news(self) -> Iterator[ClockEvent]:
        """The violations that became final since the last call, level by level."""
        for level, engine in zip(self.levels, self._engines, strict=True):
            for news in engine.news():
                yield ClockEvent(level, news)

    def status(self) -> dict[str, Any]:
        """The progress of each level, and how often provisional answers changed."""
        levels = zip(self.levels, self._engines, strict=True)
        progress = [level_status(level, engine.status(), engine.stability()) for level, engine in levels]
        return {"levels": progress, "mechanisms": None}

    def report(self) -> Report:
        """The verdicts on all transactions so far."""
        return online_report(
            self._engines, source=self._source, initial=self._initial, evidence=self.evidence
        )

    @property
    def evidence(self) -> tuple[EvidenceKind, ...]:
        """The kinds of evidence in all batches so far."""
        return tuple(kind for kind in EvidenceKind if kind in self._evidence)

    def anomaly(self, event: Mapping[str, Any]) -> Anomaly | None:
        """The counterexample of a recent violation."""
        place = self.levels.index(Level(event["level"]))
        return self._engines[place].anomaly(event["number"])

    @property
    def memory(self) -> int:
        """Bytes that the engines hold."""
        return sum(engine.status().memory for engine in self._engines)

    @property
    def trouble(self) -> str:
        """The error of the disk when state could not be spilled or read back."""
        return "; ".join(engine.trouble for engine in self._engines if engine.trouble)

    def save(self) -> tuple[bytes, ...]:
        """The state of all engines; spilled state is then safe on the disk."""
        self._spilled.sync()
        return tuple(self._all(lambda engine: engine.save()))

    def close(self) -> None:
        """Ends their threads."""
        self._pool.shutdown()

    def _all(self, work: Callable[[Online], _Result]) -> list[_Result]:
        """The answer of each engine, when all are done; raises the error of the first that failed."""
        others = [self._pool.submit(work, engine) for engine in self._engines[1:]]
        try:
            first = work(self._engines[0])
        finally:
            wait(others)
        return [first, *(other.result() for other in others)]


def _new(check: CheckSettings, level: Level, spill: str | None) -> Online:
    return Online(
        level,
        timeout=check.timeout,
        keep=check.keep,
        max_anomalies=check.max_anomalies,
        initial=check.initial,
        spill=spill,
    )


class _Spilled:
    """Folders of spilled state, one for each level."""

    def __init__(self, folder: Path | None, levels: Iterable[Level]) -> None:
        self._folders = {} if folder is None else {level: folder / level for level in levels}
        self._safe: set[Path] = set()
        for path in self._folders.values():
            path.mkdir(parents=True, exist_ok=True)

    def folder(self, level: Level) -> str | None:
        """The folder of one level."""
        return str(self._folders[level]) if self._folders else None

    def sync(self) -> None:
        """Forces new files to the disk: a checkpoint relies on them."""
        for folder in self._folders.values():
            new = {*folder.glob("*.segment")} - self._safe
            for path in new:
                sync(path)
            if new:
                sync(folder)
            self._safe |= new
