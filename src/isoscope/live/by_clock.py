"""Levels by the database's clock, one engine each: those beyond the first work in threads of their own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from isoscope.checkers import online_report
from isoscope.checkers.online import Online
from isoscope.history import STATUSES, EvidenceKind, Extent, Initial, Source, Status
from isoscope.levels import Level
from isoscope.live.files import sync
from isoscope.live.telling import ClockTold, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from isoscope.history import History, Scalar
    from isoscope.live.judging import Judging
    from isoscope.verdict import Anomaly, Report

__all__ = ["ClockEngines"]

_Result = TypeVar("_Result")


class ClockEngines:
    """The engines of all levels, as they were saved or new."""

    def __init__(
        self,
        judging: Judging,
        saved: Sequence[bytes] = (),
        *,
        evidence: Iterable[str] = (),
        path: str = "<live>",
    ) -> None:
        self._source = Source(path=path, format="aion")
        self.levels = judging.levels
        self._evidence = {EvidenceKind(kind) for kind in evidence}
        self._initial = Initial(value=judging.initial)
        self._spilled = _Spilled(judging.spill, self.levels)
        self._engines = [
            Online.load(level, data, spill=self._spilled.folder(level))
            for level, data in zip(self.levels, saved, strict=bool(saved))
        ] or [_new(judging, level, self._spilled.folder(level)) for level in self.levels]
        self._pool = ThreadPoolExecutor(max(1, len(self.levels) - 1), thread_name_prefix="isoscope-engine")

    def admit(self, history: History) -> None:
        """Raises ValueError if one level would take the transactions and another would not.

        Serializability does without starts. So it does if nobody knows whether one of them committed: what is
        refused here takes no room in the journal and none in the engines. Nothing is changed, and any thread
        may ask.
        """
        if history.columns.status_counts()[STATUSES.index(Status.INDETERMINATE)]:
            one = next(one for one in history if one.status is Status.INDETERMINATE)
            place = history.source.place(one.line)
            raise ValueError(f"{place}: transaction {one.id!r}: nobody knows whether it committed")
        if len(self.levels) == 1 or history.evidence[EvidenceKind.TIMESTAMPS] is Extent.COMPLETE:
            return
        for one in history:
            if one.status is Status.COMMITTED and (one.start is None or one.commit is None):
                place = history.source.place(one.line)
                raise ValueError(f"{place}: transaction {one.id!r}: a transaction without its timestamps")

    def refuse(self, history: History) -> None:
        """Raises ValueError if one level would refuse the transactions."""
        self._all(lambda engine: engine.admit(history))

    def take(self, history: History, now: int) -> int:
        """How many of the transactions are new. Raises ValueError if a level refuses them: none is taken."""
        if len(self._engines) > 1:
            self.refuse(history)
        taken = max(self._all(lambda engine: engine.take(history, now)))
        self._evidence.update(history.evidence.present)
        return taken

    def heartbeat(self, beats: Iterable[tuple[Scalar, int]], now: int) -> None:  # noqa: ARG002
        """Nobody waits for a session here."""
        raise ValueError("levels of the database's clock need no heartbeats: they are for a --profile")

    def advance(self, now: int) -> None:
        """What has waited long enough becomes final."""
        self._all(lambda engine: engine.advance(now))

    def flush(self) -> None:
        """Everything becomes final."""
        self._all(lambda engine: engine.flush())

    def news(self) -> Iterator[ClockTold]:
        """The violations that became final since the last call, level by level."""
        for level, engine in zip(self.levels, self._engines, strict=True):
            for news in engine.news():
                yield ClockTold(level, news)

    def status(self) -> dict[str, Any]:
        """How far each level is, and how often provisional answers changed."""
        levels = zip(self.levels, self._engines, strict=True)
        told = [status(level, engine.status(), engine.stability()) for level, engine in levels]
        return {"levels": told, "mechanisms": None}

    def report(self) -> Report:
        """What the levels say as of now."""
        return online_report(
            self._engines, source=self._source, initial=self._initial, evidence=self.evidence
        )

    @property
    def evidence(self) -> tuple[EvidenceKind, ...]:
        """What kinds of evidence there were."""
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
        """What a disk said when something could not be spilled or read back."""
        return "; ".join(engine.trouble for engine in self._engines if engine.trouble)

    def save(self) -> tuple[bytes, ...]:
        """Everything that the engines know; what they spilled is then safe on the disk."""
        self._spilled.sync()
        return tuple(self._all(lambda engine: engine.save()))

    def close(self) -> None:
        """Ends their threads."""
        self._pool.shutdown()

    def _all(self, work: Callable[[Online], _Result]) -> list[_Result]:
        """What each engine answers, when all are done; raises what one raised."""
        others = [self._pool.submit(work, engine) for engine in self._engines[1:]]
        try:
            first = work(self._engines[0])
        finally:
            wait(others)
        return [first, *(other.result() for other in others)]


def _new(judging: Judging, level: Level, spill: str | None) -> Online:
    return Online(
        level,
        timeout=judging.timeout,
        keep=judging.keep,
        max_anomalies=judging.most,
        initial=judging.initial,
        spill=spill,
    )


class _Spilled:
    """Folders of what left memory, one a level."""

    def __init__(self, folder: Path | None, levels: Iterable[Level]) -> None:
        self._folders = {} if folder is None else {level: folder / level for level in levels}
        self._safe: set[Path] = set()
        for path in self._folders.values():
            path.mkdir(parents=True, exist_ok=True)

    def folder(self, level: Level) -> str | None:
        """Where one level spills to."""
        return str(self._folders[level]) if self._folders else None

    def sync(self) -> None:
        """Forces new files to the disk: a checkpoint counts on them."""
        for folder in self._folders.values():
            new = {*folder.glob("*.segment")} - self._safe
            for path in new:
                sync(path)
            if new:
                sync(folder)
            self._safe |= new
