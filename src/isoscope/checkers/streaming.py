"""The method of timestamps for histories that do not fit into memory: the same answers, from a disk.

Li et al. 2025 (CHRONOS), as in `timestamps`, but the history comes in slices. Starts and commits are sorted
in runs on a disk and merged; the replay keeps what keys hold and who is under way. What a stale read shows
gets its class in a second pass over the runs, and the transactions that are shown are read from the input
once more. `rust/kernel/src/clock/stream` is the engine. Memory: keys, sessions and texts, each once.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from isoscope._native import ClockIntake, ClockTrial, RunMerge
from isoscope.checkers.clock import Found, concerned, silent
from isoscope.checkers.excerpt import Excerpt
from isoscope.history import STATUSES, EvidenceKind
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from isoscope._native import ClockFacts
    from isoscope.checkers.clock import Judged
    from isoscope.history import History
    from isoscope.verdict import Verdict

__all__ = ["Streamed", "judge"]

_SNAPSHOT, _SERIALIZABLE = Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE
#: Bytes of a run, of a block that is read of one, and of reads that are looked up at once.
_RUN = 1 << 23
_BLOCK = 1 << 17
_SPILLED = 1 << 18
#: So many runs are read at the same time.
_RUNS = 128


@dataclass(frozen=True, slots=True)
class Streamed:
    """What was found in a history, and the last slice of it, which knows where all of it came from.

    `ties` are timestamps of several transactions; None if no snapshots were judged.
    """

    verdicts: tuple[Verdict, ...]
    ties: int | None
    last: History
    sizes: Mapping[str, int]
    evidence: tuple[EvidenceKind, ...]
    seconds: Mapping[str, float]


def judge(slices: Iterable[History], *, levels: Sequence[Level], most: int = 10) -> Streamed:
    """What the clock says of the levels that `levels` depend on; the slices are iterated twice.

    Raises ValueError for a history that only the whole could tell about, and OSError if the disk is full.
    """
    asked, times = concerned(levels), _Times()
    with TemporaryDirectory(prefix="isoscope-", ignore_cleanup_errors=True) as folder:
        runs = _Runs(Path(folder))
        facts, last = _take(times.spent_on("load", slices), runs, asked, most)
        times.end("sort")
        evidence = tuple(kind for kind, is_there in zip(EvidenceKind, facts.present, strict=True) if is_there)
        judged: dict[Level, Judged] = {}
        if EvidenceKind.TIMESTAMPS in evidence:
            judged = {level: _Trial(facts, runs, level, most).judged(last) for level in asked}
            verdicts = tuple(_verdicts(slices, facts, judged))
        else:
            verdicts = tuple(silent(level) for level in asked if level in levels)
    names = ("sessions", "transactions", "operations", "keys", *map(str, STATUSES))
    sizes = dict(zip(names, facts.sizes, strict=True))
    ties = judged[_SNAPSHOT][2] if _SNAPSHOT in judged else None
    times.end("check")
    return Streamed(verdicts, ties, last, sizes, evidence, times.seconds)


class _Times:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._started = perf_counter()

    def spent_on(self, stage: str, slices: Iterable[History]) -> Iterator[History]:
        """The same slices; the time until each comes is that of the stage."""
        self.seconds[stage] = 0.0
        before = perf_counter()
        for history in slices:
            waited = perf_counter() - before
            self.seconds[stage] += waited
            self._started += waited
            yield history
            before = perf_counter()

    def end(self, stage: str) -> None:
        """What was spent since the stage before, and not on others."""
        now = perf_counter()
        self.seconds[stage] = now - self._started
        self._started = now


def _take(
    slices: Iterable[History], runs: _Runs, levels: Sequence[Level], most: int
) -> tuple[ClockFacts, History]:
    """Sorts the events of all slices into runs; the last slice comes back."""
    intake = ClockIntake(_SNAPSHOT in levels, _SERIALIZABLE in levels, most)
    last = None
    for last in slices:
        if refusal := intake.take(last.columns):
            line, found = refusal
            where = f"{last.source.place(line)}: " if line else f"{last.source.path}: "
            raise ValueError(f"{where}{found}, which only a history in memory may have")
        if run := intake.run(_RUN):
            runs.add(run)
    if run := intake.run(1):
        runs.add(run)
    runs.reduce()
    assert last is not None
    return intake.finish(), last


def _verdicts(
    slices: Iterable[History], facts: ClockFacts, judged: Mapping[Level, Judged]
) -> Iterator[Verdict]:
    excerpt = Excerpt(facts, (finding for rows in judged.values() for finding in rows[1]))
    if not excerpt.is_empty:
        for history in slices:
            excerpt.add(history)
    for level, rows in judged.items():
        yield Found(excerpt, level, rows).verdict()


class _Driven(Protocol):
    """Reads runs, and says of which it needs more."""

    def advance(self) -> int | None: ...
    def feed(self, run: int, block: bytes, /) -> None: ...


class _Runs:
    """Sorted runs, each a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made = 0
        self._paths: list[Path] = []

    def __len__(self) -> int:
        return len(self._paths)

    def new(self) -> Path:
        """The name of a file that is not there yet."""
        self._made += 1
        return self.folder / str(self._made)

    def add(self, run: bytes) -> None:
        path = self.new()
        path.write_bytes(run)
        self._paths.append(path)

    def reduce(self) -> None:
        """Merges the first runs into one until they can be read at the same time."""
        while len(self._paths) > _RUNS:
            some, self._paths = self._paths[:_RUNS], self._paths[_RUNS:]
            self._paths.append(self._merged(some))
            for old in some:
                old.unlink()

    def _merged(self, paths: Sequence[Path]) -> Path:
        merge, path = RunMerge(len(paths)), self.new()
        with path.open("wb") as merged:
            _drive(merge, paths, lambda: merged.write(merge.merged()))
        return path

    def drive(self, machine: _Driven, after: Callable[[], object]) -> None:
        _drive(machine, self._paths, after)


def _drive(machine: _Driven, paths: Sequence[Path], after: Callable[[], object]) -> None:
    """Feeds the machine until it needs no more; `after` is called after every step."""
    with ExitStack() as stack:
        streams = [stack.enter_context(path.open("rb", buffering=0)) for path in paths]
        while (run := machine.advance()) is not None:
            after()
            machine.feed(run, streams[run].read(_BLOCK))
        after()


class _Trial:
    """The passes over the runs that one level takes."""

    def __init__(self, facts: ClockFacts, runs: _Runs, level: Level, most: int) -> None:
        self._trial = facts.trial(level is _SERIALIZABLE, most)
        self._runs = runs
        self._spilled = runs.new()

    def judged(self, history: History) -> Judged:
        """What was found; `history` knows the places of its lines."""
        self._replay()
        if repeated := self._trial.repeated:
            name, line, earlier = repeated
            where = history.source.place(line)
            raise ValueError(f"{where}: the transaction {name} was there before, on line {earlier}")
        for spilled in self._chunks():
            self._trial.suspect(spilled)
            self._pass()
        for spilled in self._chunks():
            self._trial.tally(spilled)
        if self._trial.ask():
            self._pass()
        self._spilled.unlink()
        return self._trial.judged()

    def _replay(self) -> None:
        with self._spilled.open("wb") as spilled:
            self._pass(lambda: spilled.write(self._trial.spilled()))

    def _pass(self, after: Callable[[], object] = lambda: None) -> None:
        self._trial.rewind(len(self._runs))
        self._runs.drive(self._trial, after)

    def _chunks(self) -> Iterator[bytes]:
        """Reads that may show initial values, so many at a time."""
        with self._spilled.open("rb") as spilled:
            while chunk := spilled.read(_SPILLED * ClockTrial.SPILLED):
                yield chunk
