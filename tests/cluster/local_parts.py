"""The parts of histories without Spark: the same tasks, on rows that Python spreads by key and by session."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from isoscope.cluster.part_history import HISTORY, POSITION, RawNames
from isoscope.cluster.session_part import OF_TRANSACTION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from isoscope.cluster.files import HistoryFiles
    from isoscope.cluster.spans import Span
    from isoscope.cluster.tasks import Tasks

#: Rows of a batch: few, so that batches cut transactions.
BATCH = 7


@dataclass(frozen=True)
class LocalParts:
    """What `Frames` does, in this process."""

    histories: Sequence[HistoryFiles]
    tasks: Tasks
    parts: int

    def judged(self) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        for number, table in enumerate(map(self._rows, range(len(self.histories)))):
            found[number] = [*self._judged(table)]
        return found

    def _rows(self, number: int) -> pa.Table:
        files = self.histories[number].files
        table = pa.concat_tables([pq.read_table(name) for name in files], promote_options="default")
        table = table.cast(pa.schema([_plain(field) for field in table.schema]))
        positions = pa.array(range(1, table.num_rows + 1), pa.int64())
        marked = table.append_column(HISTORY, pa.array([number] * table.num_rows, pa.int32()))
        if "kind" not in marked.column_names:
            marked = marked.append_column("kind", pa.nulls(table.num_rows, pa.string()))
        return marked.append_column(POSITION, positions)

    def _judged(self, table: pa.Table) -> Iterable[Any]:
        marks = pc.is_in(table["kind"], value_set=pa.array(["begin", "commit", "abort"]))
        rows = table.filter(pc.and_(pc.is_valid(table["kind"]), pc.invert(marks)))
        yield from self._each(rows, ("key", "key_edn"), self.tasks.keys)
        transactions = self._transactions(table)
        yield from self._each(transactions, RawNames._fields[2:], self.tasks.sessions)
        if self.tasks.clock_levels:
            yield from _loaded(self.tasks.ties(_tied(transactions)))

    def _transactions(self, table: pa.Table) -> pa.Table:
        is_operation = pc.or_(pc.is_null(table["kind"]), pc.not_equal(table["kind"], "version"))
        rows = table.filter(pc.fill_null(is_operation, True))
        batches = [*self.tasks.collapse(rows.combine_chunks().to_batches(BATCH))]
        return pa.Table.from_batches(batches)

    def _each(self, rows: pa.Table, by: Sequence[str], task: Callable[..., Any]) -> Iterable[Any]:
        columns = [rows[name].to_pylist() for name in by if name in rows.column_names]
        own = rows["transaction"].to_pylist() if "transaction" in rows.column_names else [0] * rows.num_rows
        cells = [*zip(*columns, strict=True)] or [()] * rows.num_rows
        names = [c if any(x is not None for x in c) else (o,) for c, o in zip(cells, own, strict=True)]
        places = pa.array([sum(repr(name).encode()) % self.parts for name in names], pa.int64())
        for part in range(self.parts):
            chosen = rows.filter(pc.equal(places, part))
            if chosen.num_rows:
                yield from _loaded(task(chosen.combine_chunks().to_batches(BATCH)))

    def excerpts(self, named: dict[int, set[RawNames]]) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        for number, names in named.items():
            table = self._rows(number)
            ids = {name[:2] for name in names}
            rows = _of(table, RawNames._fields[:2], ids)
            found[number] = [*_loaded(self.tasks.whole_rows(rows.combine_chunks().to_batches()))]
            transactions = self._transactions(table)
            wanted = [one in ids for one in _cells(transactions, RawNames._fields[:2])]
            marked = transactions.append_column("_wanted", pa.array(wanted))
            members = _of(marked, RawNames._fields[2:], {name[2:] for name in names})
            found[number] += self._each(members, RawNames._fields[2:], self.tasks.places)
        return found

    def same_values(self, reads: dict[int, set[int]], others: dict[int, set[int]]) -> dict[int, list[Any]]:
        raise NotImplementedError("no key is cut here")

    def whole(self, numbers: set[int]) -> dict[int, list[Any]]:
        return {number: self._stream(self._rows(number)) for number in numbers}

    def remaining(self, spans: dict[int, tuple[Span, ...]], limit: int) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        for number in spans:
            table = self._rows(number)
            transactions = self._transactions(table).combine_chunks().to_batches(BATCH)
            within = pa.Table.from_batches([*self.tasks.within(spans, transactions)])
            rows = _of(table, RawNames._fields[:2], {*_cells(within, RawNames._fields[:2])})
            keys = {key for key in _cells(rows, ("key", "key_edn")) if any(one is not None for one in key)}
            kept = _of(table, ("key", "key_edn"), keys)
            whole = self._with_sessions(kept, table)
            found[number] = self._stream(whole) if kept.num_rows <= limit else [kept.num_rows]
        return found

    def _with_sessions(self, rows: pa.Table, table: pa.Table) -> pa.Table:
        names = ("session", "session_edn")
        wanted = {one for one in _cells(rows, names) if any(name is not None for name in one)}
        firsts: dict[Any, int] = {}
        for row, one in enumerate(_cells(table, names)):
            if one in wanted:
                firsts.setdefault(one, row)
        kept = [HISTORY, POSITION, *(name for name in OF_TRANSACTION if name in table.column_names)]
        first = table.take(pa.array([*firsts.values()], pa.int64())).select(kept)
        return pa.concat_tables([rows, first], promote_options="default").sort_by(POSITION)

    def _stream(self, rows: pa.Table) -> list[Any]:
        return [*_loaded(self.tasks.whole_rows(rows.combine_chunks().to_batches()))]

    def longest_lists(self, keys: set[tuple[int, int | None, str | None]]) -> dict[Any, list[int]]:
        found: dict[Any, list[int]] = {}
        for number in {key[0] for key in keys}:
            table = self._rows(number)
            lists = _column(table, "value_list")
            kinds, texts = table["kind"].to_pylist(), _column(table, "value_edn")
            for row, name in enumerate(_cells(table, ("key", "key_edn"))):
                key = (number, *name)
                is_list = lists[row] is not None or kinds[row] == "append" or str(texts[row])[0] == "["
                if key in keys and is_list:
                    found[key] = max(found.get(key, []), lists[row] or [], key=len)
        return found


def _plain(field: pa.Field) -> pa.Field:
    return pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type)


def _loaded(batches: Iterable[pa.RecordBatch]) -> Iterable[Any]:
    return [pickle.loads(batch["payload"][0].as_py()) for batch in batches]


def _column(table: pa.Table, name: str) -> list[Any]:
    return table[name].to_pylist() if name in table.column_names else [None] * table.num_rows


def _cells(table: pa.Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    return [*zip(*(_column(table, name) for name in names), strict=True)]


def _of(table: pa.Table, names: Sequence[str], wanted: set[Any]) -> pa.Table:
    return table.filter(pa.array([cell in wanted for cell in _cells(table, names)]))


def _tied(transactions: pa.Table) -> list[pa.RecordBatch]:
    """A row for each timestamp of several committed transactions, as Spark counts them."""
    seen: dict[Any, set[Any]] = {}
    known = {name: _column(transactions, name) for name in (*OF_TRANSACTION, "_touches")}
    for row in range(transactions.num_rows):
        physical = [known[f"{end}_physical"][row] for end in ("start", "commit")]
        if None in physical or not known["_touches"][row] or known["status"][row] not in (None, "committed"):
            continue
        for end in ("start", "commit"):
            time = (known[f"{end}_physical"][row], known[f"{end}_logical"][row] or 0)
            seen.setdefault(time, set()).add((known["transaction"][row], known["transaction_edn"][row]))
    count = sum(len(owners) > 1 for owners in seen.values())
    number = transactions[HISTORY][0].as_py()
    rows: list[pa.RecordBatch] = pa.table({HISTORY: pa.array([number] * count, pa.int32())}).to_batches()
    return rows
