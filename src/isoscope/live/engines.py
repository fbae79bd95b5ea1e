"""One engine a level, all told the same: each beyond the first works in a thread of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from isoscope.checkers.online import Online
from isoscope.checkers.timestamps import LEVELS
from isoscope.history import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from isoscope.checkers.online import News, OnlineStatus
    from isoscope.history import History, Scalar, Unknown
    from isoscope.levels import Level
    from isoscope.verdict import Anomaly, Verdict

__all__ = ["Engines", "Judging"]

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What verdicts depend on beside the transactions; `timeout` is in nanoseconds of the service's clock."""

    levels: tuple[Level, ...] = LEVELS
    timeout: int = 5_000_000_000
    keep: int = 0
    most: int = 10
    initial: Scalar | Unknown = UNKNOWN
    spill: Path | None = None

    def document(self) -> dict[str, Any]:
        """The same for the journal, which must not be replayed with anything else."""
        return {
            "levels": [str(level) for level in self.levels],
            "timeout": self.timeout,
            "keep": self.keep,
            "max-anomalies": self.most,
            "initial": "unknown" if self.initial is UNKNOWN else [self.initial],
        }


class Engines:
    """The engines of all levels, as they were saved or new."""

    def __init__(self, judging: Judging, saved: Sequence[bytes] = ()) -> None:
        self.levels = judging.levels
        self._engines = [Online.load(data) for data in saved] or [
            _new(judging, level) for level in self.levels
        ]
        self._pool = ThreadPoolExecutor(max(1, len(self.levels) - 1), thread_name_prefix="isoscope-engine")

    def take(self, history: History, now: int) -> int:
        """How many of the transactions are new. Raises ValueError if they are refused."""
        return max(self._all(lambda engine: engine.take(history, now)))

    def advance(self, now: int) -> None:
        """What has waited long enough becomes final."""
        self._all(lambda engine: engine.advance(now))

    def flush(self) -> None:
        """Everything becomes final."""
        self._all(lambda engine: engine.flush())

    def news(self) -> Iterator[tuple[Level, News]]:
        """The violations that became final since the last call, level by level."""
        for level, engine in zip(self.levels, self._engines, strict=True):
            for news in engine.news():
                yield level, news

    def statuses(self) -> dict[Level, OnlineStatus]:
        """How far each level is."""
        return {level: engine.status() for level, engine in zip(self.levels, self._engines, strict=True)}

    def verdicts(self) -> tuple[Verdict, ...]:
        """What each level says as of now."""
        return tuple(self._all(lambda engine: engine.verdict()))

    def anomaly(self, level: Level, number: int) -> Anomaly | None:
        """The counterexample of a recent violation."""
        return self._engines[self.levels.index(level)].anomaly(number)

    def save(self) -> tuple[bytes, ...]:
        """Everything that the engines know."""
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


def _new(judging: Judging, level: Level) -> Online:
    spill = None
    if judging.spill is not None:
        folder = judging.spill / str(level)
        folder.mkdir(parents=True, exist_ok=True)
        spill = str(folder)
    return Online(
        level,
        timeout=judging.timeout,
        keep=judging.keep,
        most=judging.most,
        initial=judging.initial,
        spill=spill,
    )
