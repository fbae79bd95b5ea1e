"""One engine a level, all told the same: each beyond the first works in a thread of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from isoscope.checkers import online_report
from isoscope.checkers.online import Online
from isoscope.checkers.timestamps import LEVELS
from isoscope.history import UNKNOWN, EvidenceKind, Initial, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from isoscope.checkers.online import News, OnlineStatus
    from isoscope.history import History, Scalar, Unknown
    from isoscope.levels import Level
    from isoscope.verdict import Anomaly, Report

__all__ = ["Engines", "Judging"]

_Result = TypeVar("_Result")
# An engine that cannot be saved is told the whole journal again.
_SAVE: Callable[[Online], bytes] | None = getattr(Online, "save", None)
_LOAD: Callable[[bytes], Online] | None = getattr(Online, "load", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What verdicts depend on beside the transactions.

    A read waits for `timeout` nanoseconds of the service's clock for the write that it shows, and what is
    final stays in memory for `keep` more.
    """

    levels: tuple[Level, ...] = LEVELS
    timeout: int = 5_000_000_000
    keep: int = 0
    most: int = 10
    initial: Scalar | Unknown = UNKNOWN

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
        self._engines = [_LOAD(data) for data in saved] if _LOAD and saved else _new(judging)
        self._pool = ThreadPoolExecutor(max(1, len(self.levels) - 1), thread_name_prefix="isoscope-engine")

    def take(self, history: History, now: int) -> int:
        """How many of the transactions are new. Raises ValueError if they are refused."""
        taken = max(self._all(lambda engine: engine.take(history, now)))
        self._evidence.update(history.evidence.present)
        return taken

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

    def stability(self) -> dict[Level, tuple[list[int], list[int], list[int]]]:
        """How often provisional answers changed, level by level; see `Online.stability`."""
        return {level: engine.stability() for level, engine in zip(self.levels, self._engines, strict=True)}

    def report(self) -> Report:
        """What the levels say as of now."""
        return online_report(
            self._engines, source=self._source, initial=self._initial, evidence=self.evidence
        )

    @property
    def evidence(self) -> tuple[EvidenceKind, ...]:
        """What kinds of evidence there were."""
        return tuple(kind for kind in EvidenceKind if kind in self._evidence)

    def anomaly(self, level: Level, number: int) -> Anomaly | None:
        """The counterexample of a recent violation."""
        return self._engines[self.levels.index(level)].anomaly(number)

    def save(self) -> tuple[bytes, ...] | None:
        """Everything that the engines know; None if they cannot be saved."""
        if _SAVE is None:
            return None
        return tuple(self._all(_SAVE))

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


def _new(judging: Judging) -> list[Online]:
    return [
        Online(
            level,
            timeout=judging.timeout,
            keep=judging.keep,
            most=judging.most,
            initial=judging.initial,
        )
        for level in judging.levels
    ]
