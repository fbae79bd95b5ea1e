"""The method of timestamps for histories that do not fit into memory: the same answers, from a disk.

Li et al. 2025 (CHRONOS), as in `timestamps`, but the history comes in slices. The native core sorts starts
and commits in runs on a disk and merges them once for each pass (`rust/kernel/src/clock/stream`). The
transactions that counterexamples name are read from the input once more. Memory: keys, sessions and texts,
each once.
"""

from __future__ import annotations

from dataclasses import dataclass
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from isoscope._native import StreamLimits, StreamRefused, judge_clock_stream
from isoscope.checkers.clock import Judged, concerned, untimed
from isoscope.checkers.slice_excerpt import SliceExcerpt
from isoscope.history import EvidenceKind
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope._native import ClockStream, Columns
    from isoscope.history import History
    from isoscope.verdict import Verdict

__all__ = ["Streamed", "judge"]

_LIMITS = StreamLimits(run_bytes=1 << 23, block_bytes=1 << 17, suspect_reads=1 << 18, merged_runs=128)


@dataclass(frozen=True, slots=True)
class Streamed:
    """The verdicts on a history, and its last slice, which knows the places of all lines.

    `ties` are timestamps of several transactions; None if no snapshots were judged.
    """

    verdicts: tuple[Verdict, ...]
    ties: int | None
    last: History
    sizes: Mapping[str, int]
    evidence: tuple[EvidenceKind, ...]
    seconds: Mapping[str, float]


def judge(slices: Iterable[History], *, levels: Sequence[Level], max_anomalies: int = 10) -> Streamed:
    """What the clock says of the levels that `levels` depend on; the slices are iterated twice.

    Raises ValueError for a history that cannot be judged slice by slice, and OSError if the disk is full.
    """
    asked, started, taken = concerned(levels), perf_counter(), _Taken(slices)
    with TemporaryDirectory(prefix="isoscope-", ignore_cleanup_errors=True) as folder:
        try:
            stream = judge_clock_stream(
                taken.columns(), folder, levels=asked, max_anomalies=max_anomalies, limits=_LIMITS
            )
        except StreamRefused as refused:
            line, problem = refused.args
            raise ValueError(f"{taken.last.source.place(line)}: {problem}") from None
    evidence = tuple(map(EvidenceKind, stream.evidence))
    verdicts = tuple(_verdicts(slices, stream))
    if EvidenceKind.TIMESTAMPS not in evidence:
        verdicts = tuple(untimed(verdict) for verdict in verdicts if verdict.level in levels)
    ties = {judgement.level: judgement.ties for judgement in stream.judgements}
    load, sort = stream.load_seconds, stream.sort_seconds
    seconds = {"load": load, "sort": sort, "check": perf_counter() - started - load - sort}
    return Streamed(
        verdicts, ties.get(Level.CLOCK_SNAPSHOT_ISOLATION), taken.last, stream.sizes, evidence, seconds
    )


class _Taken:
    """Slices on their way to the native core; the last is kept."""

    last: History

    def __init__(self, slices: Iterable[History]) -> None:
        self._slices = slices

    def columns(self) -> Iterator[Columns]:
        for history in self._slices:
            self.last = history
            yield history.columns


def _verdicts(slices: Iterable[History], stream: ClockStream) -> Iterator[Verdict]:
    findings = (finding for judgement in stream.judgements for finding in judgement.findings)
    excerpt = SliceExcerpt(stream.holds_list, findings)
    if not excerpt.is_empty:
        for history in slices:
            excerpt.add(history)
    for judgement in stream.judgements:
        yield Judged(excerpt, judgement).verdict()
