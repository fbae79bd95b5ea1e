"""The judge of some sessions: one row for each transaction, without its operations.

SESSION and "start before commit" follow from the timestamps of a session's transactions alone. The rows of
each transaction are made one before they travel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoscope._native import judge_clock, judge_versions
from isoscope.cluster.findings import ClockPart, DistributedClockFinding
from isoscope.cluster.part_history import HISTORY, POSITION, changes, part_of
from isoscope.cluster.problem import Problem
from isoscope.cluster.spans import spans_of
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from isoscope._native import ClockFinding, ClockJudgement
    from isoscope.cluster.part_history import Beginning, PartHistory
    from isoscope.cluster.spans import Span

__all__ = [
    "FACTS",
    "OF_TRANSACTION",
    "SessionOrder",
    "SessionPart",
    "collapsed",
    "judge_sessions",
    "places_of",
]

#: Columns that say something of a transaction, the same in all of its rows.
OF_TRANSACTION = (
    "transaction",
    "transaction_edn",
    "session",
    "session_edn",
    "sequence",
    "start_physical",
    "start_logical",
    "commit_physical",
    "commit_logical",
    "invoke",
    "complete",
    "invoke_position",
    "complete_position",
    "status",
)
_IDS = ("transaction", "transaction_edn")
_MARKERS = ("begin", "commit", "abort")
#: What is said of the rows that were made one: the position of the last, how many are operations, whether one
#: touches data, whether all operations have an interval; and a fault.
FACTS = ("_last", "_operations", "_touches", "_timed", "_problem")
_APART = (
    "the rows of this transaction stand apart, and this engine reads them side by side\n\n"
    "hint: `isoscope convert` writes a history whose rows are in order"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOrder:
    """What sessions show of the order of transactions; `is_untimed`: some have no place in real time."""

    spans: tuple[Span, ...]
    is_untimed: bool
    has_timed_operations: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPart:
    """What the transactions of some sessions show."""

    sessions: int
    transactions: int
    operations: int
    statuses: dict[str, int]
    evidence: tuple[str, ...]
    clock: tuple[ClockPart, ...]
    order: SessionOrder | None


def collapsed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row for each transaction; one that a batch cuts in two has two."""
    for batch in batches:
        if batch.num_rows:
            yield _collapsed(batch)


def _collapsed(batch: pa.RecordBatch) -> pa.RecordBatch:
    import numpy as np  # noqa: PLC0415 - heavy: only this engine pays for it
    import pyarrow as pa  # noqa: PLC0415

    names = [name for name in OF_TRANSACTION if name in batch.schema.names]
    changed = {name: changes(batch[name]) for name in (HISTORY, *names)}
    is_first = np.logical_or.reduce([changed[name] for name in (HISTORY, *_IDS) if name in changed])
    is_first[0] = True
    differs = np.logical_or.reduce(
        [changed[name] for name in names if name not in _IDS] or [np.zeros_like(is_first)]
    )
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], batch.num_rows) - 1
    chosen = pa.array(starts)
    said: dict[str, Any] = {name: batch[name].take(chosen) for name in (HISTORY, POSITION, *names)}
    kinds = _Kinds.of(batch)
    said["_last"] = batch[POSITION].take(pa.array(ends))
    said["_operations"] = np.add.reduceat(kinds.is_operation.astype("int64"), starts)
    said["_touches"] = np.logical_or.reduceat(kinds.touches, starts)
    said["_timed"] = np.logical_and.reduceat(kinds.is_timed | ~kinds.is_operation, starts)
    faults = np.add.reduceat((differs & ~is_first).astype("int64"), starts)
    problem = "the session, status and times that the rows before it gave"
    said["_problem"] = [problem if fault else None for fault in faults]
    return pa.RecordBatch.from_pydict(said, schema=_schema(batch.schema, names))


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Of each row whether it is an operation, touches data, and has an interval of its own."""

    is_operation: NDArray[np.bool_]
    touches: NDArray[np.bool_]
    is_timed: NDArray[np.bool_]

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> _Kinds:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

        is_operation = pc.is_valid(batch["kind"])
        marks = pc.is_in(batch["kind"], value_set=pa.array(_MARKERS))
        touches = pc.and_(is_operation, pc.invert(marks))
        is_timed = pa.array([False] * batch.num_rows)
        if {"operation_invoke", "operation_complete"} <= {*batch.schema.names}:
            ends = (pc.is_valid(batch[name]) for name in ("operation_invoke", "operation_complete"))
            is_timed = pc.and_(*ends)
        return cls(*(column.to_numpy(zero_copy_only=False) for column in (is_operation, touches, is_timed)))


def _schema(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415

    types = {"_last": pa.int64(), "_operations": pa.int64(), "_touches": pa.bool_(), "_timed": pa.bool_()}
    fields = [schema.field(name) for name in (HISTORY, POSITION, *names)]
    return pa.schema([*fields, *(pa.field(*one) for one in types.items()), pa.field("_problem", pa.string())])


def judge_sessions(
    batches: list[pa.RecordBatch],
    beginning: Beginning,
    *,
    clock_levels: Sequence[str],
    with_order: bool,
    shown: int,
) -> SessionPart | Problem:
    """Judges the sessions whose collapsed rows these are, sorted by position."""
    table, fault = _joined(batches)
    if fault is not None:
        return fault
    part = part_of(_with_one_operation(table).to_batches(), beginning)
    columns = part.history.columns
    judgements = judge_clock(columns, [*clock_levels], shown) if clock_levels else []
    evidence = {*columns.present_evidence(), *(["intervals"] if _has_timed_operations(table) else [])}
    places = _Places(part)
    return SessionPart(
        sessions=columns.sessions,
        transactions=columns.transactions,
        operations=sum(table["_operations"].to_pylist()),
        statuses=columns.status_counts(),
        evidence=tuple(sorted(evidence)),
        clock=tuple(_clock(places, judgement) for judgement in judgements),
        order=_order(part, table) if with_order else None,
    )


def _order(part: PartHistory, table: pa.Table) -> SessionOrder:
    level = str(Level.STRICT_SERIALIZABLE)
    judged = judge_versions(part.history.columns, claims=[], max_anomalies=0, asked=[level])
    return SessionOrder(
        spans=spans_of(part).spans,
        is_untimed=judged.outcomes[level] == "untimed",
        has_timed_operations=_has_timed_operations(table),
    )


def _has_timed_operations(table: pa.Table) -> bool:
    pairs = zip(table["_timed"].to_pylist(), table["_operations"].to_pylist(), strict=True)
    return any(is_timed and count for is_timed, count in pairs)


def _joined(batches: list[pa.RecordBatch]) -> tuple[pa.Table, Problem | None]:
    """The rows with one for each transaction; a fault if rows of one stand apart or contradict each other."""
    import pyarrow as pa  # noqa: PLC0415

    table = pa.Table.from_batches(batches)
    faults = [row for row, text in enumerate(table["_problem"].to_pylist()) if text]
    if faults:
        row = faults[0]
        found = Problem(table[POSITION][row].as_py(), str(table["_problem"][row]), "others in a later row")
        return table, found
    ids = [*zip(*(_cells(table, name) for name in _IDS), strict=True)]
    if len(set(ids)) == len(ids):
        return table, None
    return _without_cuts(table, ids)


def _without_cuts(table: pa.Table, ids: list[Any]) -> tuple[pa.Table, Problem | None]:
    """Joins the rows of each transaction that stand side by side."""
    import pyarrow as pa  # noqa: PLC0415

    columns = {name: table[name].to_pylist() for name in table.column_names}
    known: dict[Any, int] = {}
    kept: list[int] = []
    for row, one in enumerate(ids):
        before = known.setdefault(one, row)
        if before == row:
            kept.append(row)
            continue
        if columns["_last"][before] + 1 != columns[POSITION][row]:
            return table, Problem(columns[POSITION][row], "", _APART)
        if any(columns[name][before] != columns[name][row] for name in OF_TRANSACTION if name in columns):
            expected = "the session, status and times that the rows before it gave"
            return table, Problem(columns[POSITION][row], expected, "others")
        columns["_last"][before] = columns["_last"][row]
        columns["_operations"][before] += columns["_operations"][row]
        columns["_touches"][before] |= columns["_touches"][row]
        columns["_timed"][before] &= columns["_timed"][row]
    said = {name: [cells[row] for row in kept] for name, cells in columns.items()}
    return pa.table(said, schema=table.schema), None


def _cells(table: pa.Table, name: str) -> list[Any]:
    return table[name].to_pylist() if name in table.column_names else [None] * table.num_rows


def _with_one_operation(table: pa.Table) -> pa.Table:
    """Each transaction that touches data gets one read without a result, which is never judged."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    kinds = pc.if_else(table["_touches"], pa.scalar("read"), pa.scalar(None, pa.string()))
    keys = pa.array([0] * table.num_rows, pa.int64())
    return (
        table.drop_columns([*FACTS]).append_column("kind", kinds).append_column("key", keys).combine_chunks()
    )


class _Places:
    """Where the sessions of a part begin, and where their transactions stand."""

    def __init__(self, part: PartHistory) -> None:
        self.part = part
        self._first_rows: dict[int, int] = {}

    def of(self, number: int) -> tuple[int, int]:
        """The position of the first row of its session, and its place there."""
        columns, session = self.part.history.columns, self.part.history.transaction(number).session
        if session not in self._first_rows:
            rows = map(self.part.of_transaction, columns.session(session).transactions)
            self._first_rows[session] = min(rows)
        return self._first_rows[session], columns.place_in_session(number)


def _clock(places: _Places, judgement: ClockJudgement) -> ClockPart:
    return ClockPart(
        level=judgement.level,
        counts=judgement.counts,
        findings=tuple(_finding(places, one) for one in judgement.findings),
        untimed=judgement.untimed,
    )


def _finding(places: _Places, finding: ClockFinding) -> DistributedClockFinding:
    part = places.part
    numbers = [finding.transaction, *([] if finding.other is None else [finding.other])]
    position = part.of_transaction(finding.transaction)
    return DistributedClockFinding(
        name=finding.name,
        axiom=finding.axiom,
        transaction=position,
        other=None if finding.other is None else part.of_transaction(finding.other),
        key=None,
        operation=None,
        against=None,
        expected=[],
        version_class=None,
        version_write=None,
        order=places.of(finding.transaction) if finding.name == "session-order" else (position,),
        ids=tuple(part.names(part.history.transaction(number).line) for number in numbers),
    )


def places_of(batches: list[pa.RecordBatch], beginning: Beginning) -> dict[int, tuple[int, int]]:
    """Of each marked transaction, by its first row: the first row of its session, and its place there."""
    table, _ = _joined(batches)
    part = part_of(_with_one_operation(table).to_batches(), beginning)
    places = _Places(part)
    wanted = [number for number, mark in enumerate(table["_wanted"].to_pylist()) if mark]
    return {part.of_transaction(number): places.of(number) for number in wanted}
