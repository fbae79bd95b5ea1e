"""Reports on histories whose rows never come to the driver: parts are judged where they are.

A finding of a part names rows of the whole history. The rows of the transactions that the report shows are
fetched in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from isoscope import checkers
from isoscope._native import TableReader
from isoscope.checkers import levels_by_clock, levels_with
from isoscope.checkers.clock import concerned
from isoscope.cluster.files import files_of
from isoscope.cluster.frames import Frames
from isoscope.cluster.gathered import Gathered
from isoscope.cluster.named_transactions import excerpts_of
from isoscope.cluster.part_history import Beginning
from isoscope.cluster.remainder import Remainder, remainders_of
from isoscope.cluster.report import report_on
from isoscope.cluster.shown_versions import with_shown_versions
from isoscope.cluster.small_history import SmallHistory
from isoscope.cluster.tasks import Tasks
from isoscope.errors import IsoscopeError, UsageError
from isoscope.history import History
from isoscope.levels import Level
from isoscope.profiles import parse_level
from isoscope.verdict import Method

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import SparkSession

    from isoscope.cluster.files import HistoryFiles
    from isoscope.cluster.parts import Parts
    from isoscope.history import Initial
    from isoscope.verdict import Report

__all__ = ["DRIVER_ROWS", "KEY_ROWS", "check"]

_METHODS = (Method.TIMESTAMPS, Method.VALUES, Method.VERSION_ORDER)

#: So many rows make a part, if that is more parts than there are cores.
_ROWS = 4_000_000
#: A key with more rows is cut by time.
KEY_ROWS = 2_000_000
#: So many rows make a part where edges between transactions are looked at, which take more memory.
_ROWS_WITH_EDGES = 1_000_000
#: So many rows of what may stand on a cycle are judged on the driver; beyond that the answer is unknown.
DRIVER_ROWS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The levels that every history is asked about; None: those that the method judges."""

    levels: tuple[Level, ...] | None
    method: Method
    shown: int
    driver_rows: int = DRIVER_ROWS

    @property
    def with_order(self) -> bool:
        """Whether the order of transactions matters to a level."""
        is_more = self.levels is None or {*self.levels} != {Level.CUT_ISOLATION}
        return self.method is not Method.TIMESTAMPS and is_more

    def asked(self, found: Gathered) -> tuple[Level, ...]:
        """The levels that a history is asked about."""
        return levels_with(found.evidence) if self.levels is None else self.levels

    @property
    def clock_levels(self) -> tuple[Level, ...]:
        """The levels of the clock to judge."""
        if self.method is not Method.TIMESTAMPS:
            return ()
        return tuple(concerned([*levels_by_clock(self.levels).values()]))

    def tasks(self, histories: Sequence[HistoryFiles], initial: Initial | None = None) -> Tasks:
        """The question as every part is asked it."""
        return Tasks(
            beginnings=tuple(Beginning(one.initial, initial) for one in histories),
            clock_levels=tuple(map(str, self.clock_levels)),
            with_reads=self.method is not Method.TIMESTAMPS,
            with_order=self.with_order,
            shown=self.shown,
        )


def check(  # noqa: PLR0913 - the question, and where to ask it
    paths: Iterable[str],
    levels: Iterable[Level | str] | None = None,
    *,
    spark: SparkSession,
    method: Method | str | None = None,
    initial: Initial | None = None,
    max_anomalies: int = 10,
    partitions: int | None = None,
    driver_rows: int = DRIVER_ROWS,
    key_rows: int = KEY_ROWS,
) -> list[Report | IsoscopeError]:
    """What `isoscope.check` says of each history with one method, but for intervals, in one run.

    A history is a Parquet file of ours or a folder of them. Without `method`, timestamps decide if all
    histories have them, else values. `partitions` is how many parts the rows are spread to. At most
    `driver_rows` rows of a history come to the driver, of what may stand on a cycle; if there are more,
    levels that ask for the order of transactions are unknown. By timestamps, a key with more than `key_rows`
    rows is cut by time, so that it takes no more memory than others. The answer for a history that cannot be
    read is the error that says why.
    """
    found = [_files(path) for path in paths]
    histories = [one for one in found if not isinstance(one, IsoscopeError)]
    chosen = _method(method, histories)
    named = None if levels is None else [level for name in levels for level in parse_level(str(name))]
    asked = None if named is None else tuple(dict.fromkeys(named))
    question = Question(levels=asked, method=chosen, shown=max_anomalies, driver_rows=driver_rows)
    spread = _Spread(spark, partitions, key_rows)
    reports = iter(_judged(histories, question, initial, spread) if histories else [])
    return [one if isinstance(one, IsoscopeError) else next(reports) for one in found]


def _files(path: str) -> HistoryFiles | IsoscopeError:
    try:
        return files_of(path)
    except IsoscopeError as error:
        return error


def _method(method: Method | str | None, histories: Sequence[HistoryFiles]) -> Method:
    if method is None:
        timed = all({"commit_physical", "start_physical"} & one.columns for one in histories)
        return Method.TIMESTAMPS if timed else Method.VALUES
    chosen = Method(method)
    if chosen not in _METHODS:
        raise UsageError(f"--engine spark has the methods {', '.join(_METHODS)}, not {chosen}")
    return chosen


@dataclass(frozen=True, slots=True)
class _Spread:
    """Where rows are judged, and how many of them together."""

    spark: SparkSession
    partitions: int | None
    key_rows: int

    def frames(self, histories: Sequence[HistoryFiles], tasks: Tasks) -> Frames:
        rows = sum(sum(history.rows) for history in histories)
        size = _ROWS_WITH_EDGES if tasks.with_order else _ROWS
        usual = max(self.spark.sparkContext.defaultParallelism, -(-rows // size))
        return Frames(self.spark, histories, tasks, self.partitions or usual, self.key_rows)


def _judged(
    histories: Sequence[HistoryFiles], question: Question, initial: Initial | None, spread: _Spread
) -> list[Report | IsoscopeError]:
    started = perf_counter()
    frames = spread.frames(histories, question.tasks(histories, initial))
    try:
        reports = reports_of(frames, question)
    except Exception as error:
        raise _failed(error) from None
    seconds = {"check": perf_counter() - started}
    return [one if isinstance(one, IsoscopeError) else replace(one, seconds=seconds) for one in reports]


def reports_of(frames: Parts, question: Question) -> list[Report | IsoscopeError]:
    """The reports on histories whose parts `frames` judges, or the errors that parts met."""
    gathered = with_shown_versions(frames, _gathered(frames, question))
    asked = {number: question.asked(one) for number, one in enumerate(gathered) if isinstance(one, Gathered)}
    remainders = remainders_of(frames, gathered, asked, question.method, question.driver_rows)
    empty = [_empty(*each) for each in zip(frames.histories, frames.tasks.beginnings, strict=True)]
    small = {
        number: SmallHistory(
            empty[number] if one.part is None else one.part.history,
            one.part,
            asked=asked[number],
            undecided=one.undecided,
            is_untimed=_is_untimed(gathered[number]),
            method=question.method,
            shown=question.shown,
        )
        for number, one in remainders.items()
        if one.whole is None
    }
    excerpts = excerpts_of(frames, gathered, {number: one.named() for number, one in small.items()})
    reports: list[Report | IsoscopeError] = []
    for number, one in enumerate(gathered):
        if isinstance(one, IsoscopeError):
            reports.append(one)
            continue
        rest = remainders.get(number, Remainder())
        if rest.whole is not None:
            reports.append(_on_driver(rest.whole, question))
            continue
        reports.append(
            report_on(
                one,
                excerpts.get(number),
                empty[number],
                small=small.get(number),
                rest=rest,
                levels=question.levels,
                asked=asked[number],
                method=question.method,
                shown=question.shown,
                limit=question.driver_rows,
            )
        )
    return reports


def _is_untimed(found: object) -> bool:
    return isinstance(found, Gathered) and found.order is not None and found.order.is_untimed


def _on_driver(history: History, question: Question) -> Report:
    found = checkers.check(history, question.levels, method=question.method, max_anomalies=question.shown)
    return replace(found, seconds=None)


def _gathered(frames: Parts, question: Question) -> list[Gathered | IsoscopeError]:
    results = frames.judged()
    found: list[Gathered | IsoscopeError] = []
    for number, history in enumerate(frames.histories):
        try:
            merged = Gathered.of(
                results.get(number, []),
                history.source,
                clock_levels=question.clock_levels,
                with_order=question.with_order,
                shown=question.shown,
            )
            found.append(merged)
        except IsoscopeError as error:
            found.append(error)
    return found


def _empty(files: HistoryFiles, beginning: Beginning) -> History:
    """The history without its rows: where it comes from, and its initial values."""
    reader = TableReader()
    beginning.set_on(reader)
    return History(reader.finish(), files.source)


def _failed(error: Exception) -> Exception:
    """An error of Spark in one line; of our own code the error itself."""
    module = type(error).__module__.partition(".")[0]
    if isinstance(error, IsoscopeError) or module not in ("py4j", "pyspark"):
        return error
    text = str(error).strip() or type(error).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith(("org.apache.spark", "java."))), lines[0])
    return UsageError(f"Apache Spark failed: {told}\n\nhint: the logs of its driver and executors say more")
