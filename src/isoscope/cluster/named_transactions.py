"""The rows of the transactions that reports show: the only rows that come to the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.cluster.excerpt import Excerpt
from isoscope.cluster.gathered import Gathered
from isoscope.cluster.remainder import read_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from isoscope.cluster.part_history import RawNames
    from isoscope.cluster.parts import Parts

__all__ = ["excerpts_of"]


def excerpts_of(
    frames: Parts, gathered: Sequence[object], further: Mapping[int, set[RawNames]]
) -> dict[int, Excerpt]:
    """The transactions that the findings of each history name, and `further` ones, by its number."""
    some = (
        (number, one.named | further.get(number, set()))
        for number, one in enumerate(gathered)
        if isinstance(one, Gathered)
    )
    named = {number: names for number, names in some if names}
    if not named:
        return {}
    found = frames.excerpts(named)
    whole = _with_lists(frames, {number: read_stream(some) for number, some in found.items()})
    return {
        number: Excerpt(
            whole[number].to_batches(),
            frames.tasks.beginnings[number],
            frames.histories[number].source,
            {first: place for one in found[number] if isinstance(one, dict) for first, place in one.items()},
        )
        for number in named
    }


def _with_lists(frames: Parts, tables: dict[int, pa.Table]) -> dict[int, pa.Table]:
    """The same rows with each list in full: other rows of the key say what nil and lengths stand for."""
    keys = {(number, *key) for number, table in tables.items() for key in _open_keys(table)}
    if not keys:
        return tables
    longest = frames.longest_lists(keys)
    return {number: _completed(table, number, longest) for number, table in tables.items()}


def _open_keys(table: pa.Table) -> set[tuple[int | None, str | None]]:
    """Keys with a read of nil, which is the empty list if others append, or with lengths of lists."""
    columns = _columns(table)
    lengths, texts = columns["value_length"], columns["value_edn"]
    keys = zip(columns["key"], columns["key_edn"], strict=True)
    rows = zip(keys, lengths, texts, strict=True)
    return {key for key, length, text in rows if length is not None or text == "nil"}


def _completed(table: pa.Table, number: int, longest: dict[Any, Any]) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415

    columns = _columns(table)
    lists, lengths, texts = columns["value_list"], columns["value_length"], columns["value_edn"]
    kinds, edn_lists = table["kind"].to_pylist(), longest
    for row, key in enumerate(zip(columns["key"], columns["key_edn"], strict=True)):
        if (number, *key) not in edn_lists:
            continue
        if lengths[row] is not None:
            lists[row], lengths[row] = edn_lists[number, *key][: lengths[row]], None
        elif texts[row] == "nil" and kinds[row] == "read":
            lists[row], texts[row] = [], None
    types = {"value_list": pa.list_(pa.int64()), "value_length": pa.int64(), "value_edn": pa.string()}
    for name, cells in (("value_list", lists), ("value_length", lengths), ("value_edn", texts)):
        if name in table.column_names:
            table = table.drop_columns([name])
        table = table.append_column(name, pa.array(cells, types[name]))
    return table.combine_chunks()


def _columns(table: pa.Table) -> dict[str, list[Any]]:
    """The columns of keys and values; null where there is none."""
    names = ("key", "key_edn", "value_list", "value_length", "value_edn")
    empty = [None] * table.num_rows
    return {name: table[name].to_pylist() if name in table.column_names else [*empty] for name in names}
