"""The versions that stale reads show whose keys are cut in slices: their writers may be in any slice.

The rows of the reader, of the version that was due and of all transactions that wrote the value are a history
of their own. The native core says which of the writes a read shows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope._native import judge_clock
from isoscope.cluster.gathered import Gathered
from isoscope.cluster.part_history import HISTORY, Beginning, part_of
from isoscope.cluster.remainder import read_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from isoscope.cluster.findings import DistributedClock, DistributedClockFinding
    from isoscope.cluster.parts import Parts
    from isoscope.errors import IsoscopeError

__all__ = ["with_shown_versions"]


def with_shown_versions(
    frames: Parts, gathered: Sequence[Gathered | IsoscopeError]
) -> list[Gathered | IsoscopeError]:
    """What was gathered, with the versions that stale reads in slices show."""
    found = {
        number: [finding for judged in one.clock for finding in judged.findings if _is_open(finding)]
        for number, one in enumerate(gathered)
        if isinstance(one, Gathered)
    }
    reads = {n: {one.operation for one in some if one.operation} for n, some in found.items() if some}
    if not reads:
        return [*gathered]
    due = {n: {one.against for one in found[n] if one.against is not None} for n in reads}
    tables = {n: read_stream(rows) for n, rows in frames.same_values(reads, due).items()}
    return [
        replace(one, clock=tuple(_completed(judged, tables[number]) for judged in one.clock))
        if isinstance(one, Gathered) and number in tables
        else one
        for number, one in enumerate(gathered)
    ]


def _is_open(finding: DistributedClockFinding) -> bool:
    return finding.slice_initial is not None and finding.name == "stale-read"


def _completed(judged: DistributedClock, rows: pa.Table) -> DistributedClock:
    findings = [_with_version(one, judged.level, rows) if _is_open(one) else one for one in judged.findings]
    return replace(judged, findings=findings)


def _with_version(finding: DistributedClockFinding, level: str, rows: pa.Table) -> DistributedClockFinding:
    assert finding.slice_initial is not None
    of_key = _of_key(rows, finding)
    part = part_of(of_key.to_batches(), Beginning((finding.slice_initial, False, [])))
    [judged] = judge_clock(part.history.columns, [level], of_key.num_rows)
    [same] = [
        one
        for one in judged.findings
        if one.name == finding.name
        and one.operation is not None
        and part.of_operation(one.operation) == finding.operation
    ]
    if same.version_write is None:
        return replace(finding, version_class=same.version_class, version_write=None)
    writer, _ = part.history.columns.locate(same.version_write)
    names = part.names(part.history.transaction(writer).line)
    return replace(
        finding,
        version_class=same.version_class,
        version_write=part.of_operation(same.version_write),
        ids=tuple(dict.fromkeys([*finding.ids, names])),
    )


def _of_key(rows: pa.Table, finding: DistributedClockFinding) -> pa.Table:
    """The rows of the key that a finding is about, without markers."""
    import pyarrow as pa  # noqa: PLC0415 - heavy: only this engine pays for it
    import pyarrow.compute as pc  # noqa: PLC0415

    at = pc.index(rows["_position"], finding.operation).as_py()
    kept = pc.is_valid(rows["kind"])
    for name in ("key", "key_edn"):
        if name in rows.column_names:
            cell = rows[name][at]
            same = pc.equal(rows[name], cell) if cell.is_valid else pc.is_null(rows[name])
            kept = pc.and_(kept, pc.fill_null(same, pa.scalar(False)))  # noqa: FBT003
    return rows.filter(kept).drop_columns([HISTORY]).combine_chunks()
