"""Spans of transactions in the recorded order: cycles lie within those of edges that lead back.

The recorded order is that of commit timestamps, and of rows where these are equal or missing. The rows of a
transaction stand side by side, so that any of them has the place of its transaction among all others.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from isoscope._native import event_graph
from isoscope.cluster.part_history import POSITION, changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from isoscope._native import EventGraph
    from isoscope.cluster.part_history import PartHistory

__all__ = ["PartSpans", "Rank", "Span", "merged", "overlapping", "spans_of"]

#: The rank of a transaction without a commit timestamp: before all that have one.
_UNTIMED = -(2**63)
_INSTALLS = ("write", "insert", "append", "delete")


class Rank(NamedTuple):
    """The place of a transaction in the recorded order, by one of its rows."""

    physical: int
    logical: int
    position: int


class Span(NamedTuple):
    """All transactions from one to another."""

    first: Rank
    last: Rank


class PartSpans(NamedTuple):
    """The spans of a part, and whether the order of some of its versions is open, or doubtful."""

    spans: tuple[Span, ...]
    is_open: bool
    is_doubtful: bool


def spans_of(part: PartHistory) -> PartSpans:
    """The spans of the edges that a part shows."""
    import numpy as np  # noqa: PLC0415 - heavy: only this engine pays for it

    firsts = _first_rows(part)
    physical, logical, position = (column[firsts] for column in _rank_columns(part.rows))
    order = np.lexsort((position, logical, physical))
    places = np.empty(len(order), dtype="int64")
    places[order] = np.arange(len(order))
    graph = event_graph(part.history.columns)
    has_rows_beside = "kind" not in part.rows.column_names or part.history.columns.versions()
    found = _backward(graph, places)
    if not has_rows_beside:
        found = np.vstack([found, _missed(part.rows, graph, places, firsts)])

    def rank(place: int) -> Rank:
        row = order[place]
        return Rank(int(physical[row]), int(logical[row]), int(position[row]))

    return PartSpans(
        tuple(Span(rank(first), rank(last)) for first, last in _apart(found)),
        is_open=not graph.is_complete,
        is_doubtful=bool(has_rows_beside)
        or graph.is_contradictory
        or graph.has_unsure_keys
        or any(name == "dirty-update" for _, name in graph.wrong_reads),
    )


def _backward(graph: EventGraph, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the ends of edges that lead back, the lower one first."""
    import numpy as np  # noqa: PLC0415

    sessions = np.array(graph.sessions, dtype="int64").reshape(-1, 2)
    before = np.append(np.array(graph.before, dtype="int64"), sessions[:, 0])
    after = np.append(np.array(graph.after, dtype="int64"), sessions[:, 1])
    ends = np.stack([places[after], places[before]], axis=1)
    found: NDArray[np.int64] = ends[ends[:, 0] < ends[:, 1]]
    return found


def _missed(
    rows: pa.Table, graph: EventGraph, places: NDArray[np.int64], firsts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Places of a version and of its reader with another version between them, known to come later or not.

    Every row is an operation, and has its number.
    """
    import numpy as np  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    is_read = np.array(graph.relations, dtype=object) == "wr"
    if not is_read.any():
        return np.empty((0, 2), dtype="int64")
    owners = np.searchsorted(firsts, np.arange(rows.num_rows), side="right") - 1
    is_write = pc.is_in(rows["kind"], value_set=pa.array(_INSTALLS)).to_numpy()
    if "status" in rows.column_names:
        status = rows["status"].cast(pa.string()).fill_null("committed")
        is_write = is_write & pc.equal(status, "committed").to_numpy()
    keys = _codes(rows) * len(places)
    writers = np.unique(keys[is_write] + places[owners[is_write]])
    key = keys[np.array(graph.second, dtype="int64")[is_read]]
    shown = places[np.array(graph.before, dtype="int64")[is_read]]
    reader = places[np.array(graph.after, dtype="int64")[is_read]]
    at = np.searchsorted(writers, key + shown, side="right")
    following = np.append(writers, [np.iinfo("int64").max])[at]
    found: NDArray[np.int64] = np.stack([shown, reader], axis=1)[following < key + reader]
    return found


def _codes(rows: pa.Table) -> NDArray[np.int64]:
    """A number for the key of each row."""
    import numpy as np  # noqa: PLC0415

    codes = np.zeros(rows.num_rows, dtype="int64")
    for name in ("key", "key_edn"):
        if name in rows.column_names:
            column = rows[name].combine_chunks().dictionary_encode(null_encoding="encode")
            size = len(column.dictionary) + 1
            _, codes = np.unique(codes * size + column.indices.to_numpy(), return_inverse=True)
    return codes.astype("int64")


def _apart(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Spans that are apart from each other, ascending."""
    current: tuple[int, int] | None = None
    for first, last in sorted(map(tuple, ends.tolist())):
        if current is not None and first <= current[1]:
            current = (current[0], max(current[1], last))
            continue
        if current is not None:
            yield current
        current = (first, last)
    if current is not None:
        yield current


def _first_rows(part: PartHistory) -> NDArray[np.int64]:
    """The first row of each transaction of a part, by its number."""
    import numpy as np  # noqa: PLC0415

    count = part.history.columns.transactions
    names = [name for name in ("transaction", "transaction_edn") if name in part.rows.column_names]
    table = part.rows.combine_chunks()
    changed = [changes(table[name].combine_chunks()) for name in names]
    starts = np.flatnonzero(np.logical_or.reduce(changed)) if changed and len(table) else np.array([], int)
    starts = np.append([0], starts) if len(table) else starts
    if len(starts) == count:
        return starts
    # Rows that are no operations of a transaction stand between.
    lines = [part.history.transaction(number).line or 1 for number in range(count)]
    return np.array(lines, dtype="int64") - 1


def _rank_columns(rows: pa.Table) -> tuple[NDArray[np.int64], ...]:
    """Of each row the physical and logical part of the commit timestamp, and the position."""
    import numpy as np  # noqa: PLC0415

    def column(name: str, missing: int) -> NDArray[np.int64]:
        if name not in rows.column_names:
            return np.full(rows.num_rows, missing, dtype="int64")
        filled: NDArray[np.int64] = rows[name].fill_null(missing).to_numpy()
        return filled

    physical = column("commit_physical", _UNTIMED)
    logical = column("commit_logical", 0)
    logical = np.where(physical == _UNTIMED, 0, logical)
    return physical, logical, column(POSITION, 0)


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans that are apart from each other, ascending.

    Two that meet in one transaction may do so in different rows of it, which are neighbours: they are then
    two spans, and each has the transaction.
    """
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.first <= found[-1].last:
            found[-1] = Span(found[-1].first, max(found[-1].last, span.last))
        else:
            found.append(span)
    return tuple(found)


def overlapping(batch: pa.RecordBatch, spans: Sequence[Span], last: str) -> pa.RecordBatch:
    """The transactions that stand in one of the spans; `last` names the column of their last positions."""
    import pyarrow as pa  # noqa: PLC0415

    table = pa.Table.from_batches([batch])
    physical, logical, first = _rank_columns(table)
    ends = table[last].to_numpy()
    rows = zip(physical.tolist(), logical.tolist(), first.tolist(), ends.tolist(), strict=True)
    return batch.filter(pa.array([*_marks(rows, spans)], pa.bool_()))


def _marks(rows: Iterable[tuple[int, int, int, int]], spans: Sequence[Span]) -> Iterator[bool]:
    firsts = [span.first for span in spans]
    for physical, logical, first, last in rows:
        # The last span that begins no later than the transaction ends.
        at = bisect_right(firsts, (physical, logical, last)) - 1
        yield at >= 0 and spans[at].last >= (physical, logical, first)
