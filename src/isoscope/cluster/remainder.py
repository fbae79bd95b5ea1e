"""What the parts of a history leave to the driver: transactions that may stand on a cycle, and their keys.

All cycles lie within the spans of edges that lead back in the recorded order. Of the transactions in spans,
the driver gets all operations on all of their keys, whichever transactions these are of: so the small history
has every edge between transactions in spans, with all that shows it, and no edge that the whole has not.
Transactions, keys and sessions keep their order: of each session, the first transaction of all is there, too,
without its operations. Its cycles are those of the whole, and so are its findings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoscope import levels as lattice
from isoscope.checkers import timestamps, values
from isoscope.cluster.gathered import Gathered
from isoscope.cluster.part_history import part_of
from isoscope.history import EvidenceKind, History
from isoscope.levels import DEFINITIONS, Family, Level
from isoscope.verdict import Method

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from isoscope.cluster.part_history import PartHistory
    from isoscope.cluster.parts import Parts

__all__ = ["Remainder", "read_stream", "remainders_of"]

#: Anomalies of reads after which the order of a list's versions is not one.
_FORKS = ("incompatible-order", "duplicate-elements")
#: Real-time order is between any two transactions, not between those of a key or session.
_REAL_TIME = frozenset(level for level in Level if DEFINITIONS[level].family is Family.REAL_TIME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remainder:
    """What remains of a history: nothing, a small history, the whole, or too many rows.

    `undecided` are the levels that the rows on the driver do not decide.
    """

    part: PartHistory | None = None
    whole: History | None = None
    excess: int = 0
    undecided: frozenset[Level] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Need:
    """Which rows the driver needs: if `is_whole` all, or else unknown is the answer for `undecided`."""

    is_whole: bool
    undecided: frozenset[Level]


def remainders_of(
    frames: Parts,
    gathered: Sequence[object],
    asked: Mapping[int, Sequence[Level]],
    method: Method,
    limit: int,
) -> dict[int, Remainder]:
    """What remains of each history whose order of transactions is asked for; at most `limit` rows of each."""
    found: dict[int, Remainder] = {}
    small: dict[int, _Need] = {}
    whole: set[int] = set()
    for number, one in enumerate(gathered):
        if not isinstance(one, Gathered) or one.order is None:
            continue
        need = _need(one, asked[number], method)
        rows = sum(frames.histories[number].rows)
        if need.is_whole and rows <= limit:
            whole.add(number)
        elif need.undecided >= {*asked[number]} - {Level.CUT_ISOLATION}:
            found[number] = Remainder(excess=rows, undecided=need.undecided)
        elif one.order.spans:
            small[number] = need
        else:
            found[number] = Remainder(excess=rows if need.undecided else 0, undecided=need.undecided)
    return found | _whole(frames, whole) | _small(frames, gathered, small, limit)


def _need(found: Gathered, asked: Sequence[Level], method: Method) -> _Need:
    every = frozenset(Level) - {Level.CUT_ISOLATION}
    if {*asked} <= {*timestamps.LEVELS}:
        return _Need(is_whole=True, undecided=every)
    undecided = _by_values(found, asked) if method is Method.VALUES else _by_versions(found, asked)
    if undecided is None:
        return _Need(is_whole=True, undecided=every)
    return _Need(is_whole=bool(undecided & {*asked}), undecided=undecided)


def _by_values(found: Gathered, asked: Sequence[Level]) -> frozenset[Level] | None:
    """The levels that spans do not decide by values; None: all of them."""
    assert found.order is not None
    assert found.reads is not None
    is_timed = EvidenceKind.TIMESTAMPS in found.evidence
    is_unsure = is_timed and found.order.has_appends and found.order.has_repeated_values
    if found.reads.repeated_reads or found.has_versions or is_unsure:
        # Which transaction wrote a repeated value is found by a search.
        return None
    if not found.order.spans or values.strongest_asked(asked) is not Level.CAUSAL:
        return frozenset()
    # What happens before a reader may lead through transactions outside of all spans.
    return frozenset(level for level in Level if Level.CAUSAL in lattice.implied(level))


def _by_versions(found: Gathered, asked: Sequence[Level]) -> frozenset[Level] | None:
    """The levels that spans do not decide by version orders; None: all of them."""
    order, reads = found.order, found.reads
    assert order is not None
    assert reads is not None
    is_odd = reads.repeated_reads or reads.mixed_keys or reads.deleted_keys or order.is_doubtful
    if is_odd or any(reads.read_counts.get(name) for name in _FORKS):
        return None
    if order.spans and order.is_open:
        return None
    return frozenset() if order.is_untimed else _REAL_TIME & {*asked}


def _whole(frames: Parts, numbers: set[int]) -> dict[int, Remainder]:
    if not numbers:
        return {}
    return {
        number: Remainder(whole=History(_part(frames, number, rows).history.columns, source))
        for number, rows in frames.whole(numbers).items()
        for source in [frames.histories[number].source]
    }


def _small(
    frames: Parts, gathered: Sequence[object], needs: dict[int, _Need], limit: int
) -> dict[int, Remainder]:
    if not needs:
        return {}
    spans = {n: one.order.spans for n in needs if isinstance(one := gathered[n], Gathered) and one.order}
    found: dict[int, Remainder] = {}
    for number, [rows] in frames.remaining(spans, limit).items():
        undecided = needs[number].undecided
        if isinstance(rows, int):
            every = frozenset(Level) - {Level.CUT_ISOLATION}
            found[number] = Remainder(excess=rows, undecided=every)
        else:
            size = sum(frames.histories[number].rows) if undecided else 0
            found[number] = Remainder(part=_part(frames, number, [rows]), excess=size, undecided=undecided)
    return found


def _part(frames: Parts, number: int, streams: list[Any]) -> PartHistory:
    return part_of(read_stream(streams).to_batches(), frames.tasks.beginnings[number])


def read_stream(results: list[Any]) -> pa.Table:
    """The rows of the one Arrow stream among results."""
    import pyarrow as pa  # noqa: PLC0415 - heavy: only this engine pays for it

    [stream] = [one for one in results if isinstance(one, bytes)]
    with pa.ipc.open_stream(pa.py_buffer(stream)) as reader:
        return reader.read_all().combine_chunks()
