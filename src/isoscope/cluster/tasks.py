"""The functions that executors run: Arrow batches in, a pickled result for each history in a part out."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoscope._native import ParseError
from isoscope.cluster import pickled_scalars  # noqa: F401 - for what it does
from isoscope.cluster.key_part import judge_keys, judge_slice
from isoscope.cluster.part_history import HISTORY, POSITION, Beginning, by_history, by_number, part_of
from isoscope.cluster.problem import Problem
from isoscope.cluster.session_part import FACTS, collapsed, judge_sessions, places_of
from isoscope.cluster.spans import overlapping
from isoscope.cluster.time_slices import SLICE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from isoscope.cluster.spans import Span
    from isoscope.cluster.time_slices import TimeSlice

__all__ = ["RESULT", "Tasks", "TiedTimestamps"]

#: The schema of results.
RESULT = "history int, payload binary"
_RANGE_READ = (
    "operation kind `range-read`, which --engine spark does not judge\n\n"
    "hint: check it without --engine, on one machine"
)


@dataclass(frozen=True, slots=True)
class TiedTimestamps:
    """How many timestamps of a part belong to several transactions."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """The question that every part is asked."""

    beginnings: tuple[Beginning, ...]
    clock_levels: tuple[str, ...]
    with_reads: bool
    with_order: bool
    shown: int

    def keys(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Judges the rows of some keys."""
        for history, rows in by_history(batches):
            yield _result(history, self._keys(history, rows))

    def _keys(self, history: int, rows: list[pa.RecordBatch]) -> object:
        if (fault := _range_read(rows)) is not None:
            return fault
        try:
            part = part_of(rows, self.beginnings[history])
        except ParseError as error:
            return _problem(error, rows)
        return judge_keys(
            part,
            clock_levels=self.clock_levels,
            with_reads=self.with_reads,
            with_order=self.with_order,
            shown=self.shown,
        )

    def slices(
        self, known: Sequence[TimeSlice], batches: Iterable[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """Judges the rows of some slices of keys."""
        for number, rows in by_number(batches, SLICE):
            yield _result(known[number].history, self._slice(known[number], rows))

    def _slice(self, one: TimeSlice, rows: list[pa.RecordBatch]) -> object:
        try:
            part = part_of(rows, Beginning((one.initial, False, [])))
        except ParseError as error:
            return _problem(error, rows)
        return judge_slice(part, one, clock_levels=self.clock_levels, shown=self.shown)

    def sessions(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Judges the collapsed rows of some sessions."""
        for history, rows in by_history(batches):
            yield _result(history, self._sessions(history, rows))

    def _sessions(self, history: int, rows: list[pa.RecordBatch]) -> object:
        try:
            return judge_sessions(
                rows,
                self.beginnings[history],
                clock_levels=self.clock_levels,
                with_order=self.with_order,
                shown=self.shown,
            )
        except ParseError as error:
            return _problem(error, rows)

    def ties(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Counts rows, each of which is a timestamp of several transactions."""
        for history, rows in by_history(batches):
            yield _result(history, TiedTimestamps(sum(batch.num_rows for batch in rows)))

    def places(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The places of the transactions whose rows are marked in the sessions that these rows are of."""
        for history, rows in by_history(batches):
            yield _result(history, places_of(rows, self.beginnings[history]))

    @staticmethod
    def collapse(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for each transaction."""
        yield from collapsed(batches)

    @staticmethod
    def within(
        spans: Mapping[int, Sequence[Span]], batches: Iterable[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """Those of these collapsed rows whose transactions stand in the spans of their history."""
        for history, rows in by_history(batches):
            yield from (overlapping(batch, spans.get(history, ()), FACTS[0]) for batch in rows)

    @staticmethod
    def whole_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows themselves, as an Arrow stream for each history."""
        import pyarrow as pa  # noqa: PLC0415 - heavy: only this engine pays for it

        for history, rows in by_history(batches):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, rows[0].schema) as writer:
                for batch in rows:
                    writer.write_batch(batch)
            yield _result(history, bytes(sink.getvalue()))


def _result(history: int, content: Any) -> pa.RecordBatch:
    import pyarrow as pa  # noqa: PLC0415

    columns = [pa.array([history], pa.int32()), pa.array([pickle.dumps(content)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["history", "payload"])


def _range_read(rows: list[pa.RecordBatch]) -> Problem | None:
    import pyarrow.compute as pc  # noqa: PLC0415

    for batch in rows:
        row = pc.index(batch["kind"], "range-read").as_py()
        if row >= 0:
            return Problem(batch[POSITION][row].as_py(), "", _RANGE_READ)
    return None


def _problem(error: ParseError, rows: list[pa.RecordBatch]) -> Problem:
    """A fault that the native core found, with the position of its row."""
    import pyarrow as pa  # noqa: PLC0415

    positions = pa.Table.from_batches([batch.select([HISTORY, POSITION]) for batch in rows])[POSITION]
    line, _, expected, found, *_ = error.args
    return Problem(positions[max(line, 1) - 1].as_py(), expected, found)
