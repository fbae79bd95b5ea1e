"""The judge of some keys: all their rows, in the order of the whole history, as a history of its own.

EXT, INT and NOCONFLICT of the clock levels, and whatever single reads show, follow from the operations on one
key and the timestamps of their transactions alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isoscope._native import judge_clock, judge_values, ordered_keys
from isoscope.checkers.reads import NAMES as READ_NAMES
from isoscope.checkers.witnesses import token
from isoscope.cluster.event_order import commit_order, reading_order
from isoscope.cluster.findings import (
    ClockPart,
    DistributedClockFinding,
    DistributedReadFinding,
    KeyList,
    ReadsPart,
)
from isoscope.cluster.part_history import POSITION
from isoscope.cluster.spans import spans_of
from isoscope.history import OperationKind
from isoscope.levels import Level
from isoscope.scalars import edn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope._native import ClockFinding, ClockJudgement, ReadFinding
    from isoscope.cluster.part_history import PartHistory
    from isoscope.cluster.spans import Span
    from isoscope.cluster.time_slices import TimeSlice
    from isoscope.history import Transaction

__all__ = ["KeyPart", "OrderPart", "judge_keys", "judge_slice"]

_RANKS = {name: rank for rank, name in enumerate(READ_NAMES)}
_INSTALLS = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.APPEND, OperationKind.DELETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPart:
    """What the rows of some keys show of the order of versions and transactions.

    `ordered` is for each source how many keys it orders, and how many of them to the last version.
    """

    spans: tuple[Span, ...]
    is_open: bool
    is_doubtful: bool
    has_appends: bool
    has_repeated_values: bool
    ordered: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPart:
    """What the rows of some keys show."""

    keys: int
    evidence: tuple[str, ...]
    has_versions: bool
    clock: tuple[ClockPart, ...]
    reads: ReadsPart | None
    order: OrderPart | None


def judge_keys(
    part: PartHistory, *, clock_levels: Sequence[str], with_reads: bool, with_order: bool, shown: int
) -> KeyPart:
    """Judges the reads and writes of a part; of each anomaly the first `shown` are kept."""
    columns = part.history.columns
    judgements = judge_clock(columns, [*clock_levels], shown) if clock_levels else []
    return KeyPart(
        keys=columns.key_count,
        evidence=tuple(columns.present_evidence()),
        has_versions=bool(columns.versions()),
        clock=tuple(_clock(part, judgement) for judgement in judgements),
        reads=_reads(part, shown) if with_reads else None,
        order=_order_part(part) if with_order else None,
    )


def judge_slice(part: PartHistory, one: TimeSlice, *, clock_levels: Sequence[str], shown: int) -> KeyPart:
    """Judges the reads and commits of a key in a range of time; the key counts in the first slice."""
    columns = part.history.columns
    judgements = judge_clock(columns, [*clock_levels], shown, one.window)
    return KeyPart(
        keys=int(one.is_first),
        evidence=tuple(columns.present_evidence()),
        has_versions=False,
        clock=tuple(_in_slice(_clock(part, judgement), one) for judgement in judgements),
        reads=None,
        order=None,
    )


def _in_slice(found: ClockPart, one: TimeSlice) -> ClockPart:
    findings = (replace(finding, slice_initial=one.initial) for finding in found.findings)
    return replace(found, findings=tuple(findings))


def _order_part(part: PartHistory) -> OrderPart:
    history = part.history
    found = spans_of(part)
    return OrderPart(
        spans=found.spans,
        is_open=found.is_open,
        is_doubtful=found.is_doubtful,
        has_appends=history.counts["append"] > 0,
        has_repeated_values=history.evidence.repeated_values > 0,
        ordered=tuple((row.source, row.keys, row.whole) for row in ordered_keys(history.columns, claims=[])),
    )


def _clock(part: PartHistory, judgement: ClockJudgement) -> ClockPart:
    is_serial = judgement.level == Level.CLOCK_SERIALIZABLE
    found = enumerate(one for one in judgement.findings if one.key is not None or one.operation is not None)
    return ClockPart(
        level=judgement.level,
        counts=judgement.counts,
        findings=tuple(_clock_finding(part, one, place, is_serial=is_serial) for place, one in found),
        untimed_keys=judgement.untimed_keys,
        deleted_keys=_key_list(part, judgement.deleted_keys),
        mixed_keys=_key_list(part, judgement.mixed_keys),
    )


def _clock_finding(
    part: PartHistory, finding: ClockFinding, place: int, *, is_serial: bool
) -> DistributedClockFinding:
    operations = (finding.operation, finding.against, finding.version_write)
    operation, against, version_write = (_position(part, number) for number in operations)
    transactions = [part.history.transaction(finding.transaction)]
    if finding.other is not None:
        transactions.append(part.history.transaction(finding.other))
    lines = [transaction.line for transaction in transactions]
    owners = (part.history.columns.locate(number)[0] for number in operations if number is not None)
    lines += [part.history.transaction(number).line for number in owners]
    return DistributedClockFinding(
        name=finding.name,
        axiom=finding.axiom,
        transaction=part.of_transaction(finding.transaction),
        other=None if finding.other is None else part.of_transaction(finding.other),
        key=finding.key,
        operation=operation,
        against=against,
        expected=finding.expected,
        version_class=finding.version_class,
        version_write=version_write,
        order=(*_order(part, finding, transactions, is_serial=is_serial), operation, place),
        ids=tuple({part.names(line) for line in lines}),
    )


def _order(
    part: PartHistory, finding: ClockFinding, transactions: list[Transaction], *, is_serial: bool
) -> tuple[Any, ...]:
    """Where the replay of the whole history comes to this finding."""
    if finding.name != "write-conflict":
        [reader] = transactions
        return reading_order(reader, is_serial=is_serial)
    first, second = transactions
    # A transaction that starts at its commit, or later, finds the conflicts with commits before it.
    assert second.start is not None
    assert second.commit is not None
    finder = second if second.start >= second.commit else first
    key = token(finding.key)
    writes = (o.line for o in finder.operations if o.kind in _INSTALLS and token(o.key) == key)
    return *commit_order(finder), part.position(next(writes))


def _reads(part: PartHistory, shown: int) -> ReadsPart:
    judged = judge_values(part.history.columns, strongest=None, max_anomalies=shown)
    unjudged = judged.unjudged
    return ReadsPart(
        counts=judged.read_counts,
        findings=tuple(_read(part, one, place) for place, one in enumerate(judged.read_findings)),
        repeated_reads=unjudged.repeated_reads,
        repeated_keys=_key_list(part, unjudged.repeated_keys),
        deleted_keys=_key_list(part, unjudged.deleted_keys),
        mixed_keys=_key_list(part, unjudged.mixed_keys),
    )


def _read(part: PartHistory, finding: ReadFinding, place: int) -> DistributedReadFinding:
    numbers = [number for number in (finding.read, finding.other) if number is not None]
    owners = {part.history.columns.locate(number)[0] for number in numbers}
    read = part.of_operation(finding.read)
    return DistributedReadFinding(
        anomaly=finding.anomaly,
        read=read,
        other=_position(part, finding.other),
        value=finding.value,
        is_logged=finding.is_logged,
        order=(read, _RANKS[finding.anomaly], place),
        ids=tuple(part.names(part.history.transaction(number).line) for number in sorted(owners)),
    )


def _position(part: PartHistory, operation: int | None) -> int | None:
    return None if operation is None else part.of_operation(operation)


def _key_list(part: PartHistory, keys: Sequence[Any]) -> KeyList:
    """The keys of a part come in the order of their first rows; the first are named."""
    named = tuple((_first_row(part, key), key) for key in keys[: KeyList.named])
    return KeyList(len(keys), named)


def _first_row(part: PartHistory, key: object) -> int:
    import pyarrow.compute as pc  # noqa: PLC0415 - heavy: only this engine pays for it

    for name, value in (("key", key), ("key_edn", edn(key))):
        if name in part.rows.column_names and (name == "key_edn" or _is_integer(value)):
            row = pc.index(part.rows[name], value).as_py()
            if row >= 0:
                return int(part.rows[POSITION][row].as_py())
    return 0


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
