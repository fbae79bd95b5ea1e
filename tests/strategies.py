"""Random histories for Hypothesis, all made by `isoscope.recorder.build`.

- `histories()`: small ones in which anomalies are likely, for checkers;
- `any_histories()`: everything that a history can hold, in any mixture;
- `plume_histories()`, `jepsen_histories()`, `aion_histories()`: everything that a format can hold.

A test that needs one history more often than a generated one takes `EVERYTHING`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from isoscope.history import (
    UNKNOWN,
    Deployment,
    Fault,
    History,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Range,
    Scalar,
    Source,
    Status,
    Term,
    Timestamp,
    Transaction,
    VersionSource,
)
from isoscope.recorder import build
from tests.format_histories import aion_histories, jepsen_histories, plume_histories
from tests.varied_histories import FLOATS, INTEGERS, SCALARS, TERMS, TEXTS, any_histories

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

__all__ = [
    "EVERYTHING",
    "FLOATS",
    "INTEGERS",
    "SCALARS",
    "TERMS",
    "TEXTS",
    "aion_histories",
    "any_histories",
    "histories",
    "jepsen_histories",
    "plume_histories",
]


@st.composite
def histories(
    draw: DrawFn,
    *,
    lists: bool | None = None,
    unique: bool = True,
    statuses: tuple[Status, ...] = (Status.COMMITTED, Status.COMMITTED, Status.COMMITTED, *Status),
    timestamps: bool = False,
    initial: Initial = Initial(value=0),  # noqa: B008 - immutable
) -> History:
    """Small histories in which anomalies are likely: up to five transactions on two or three keys.

    Registers or lists (`lists=None`: either). With `unique`, no two writes of a key write the same value,
    nor the initial value 0. Reads see a written value, or now and then another one.
    """
    is_list = draw(st.booleans()) if lists is None else lists
    keys = ["x", "y", "z"][: draw(st.integers(2, 3))]
    count = draw(st.integers(1, 5))
    sizes = [draw(st.integers(1, 4)) for _ in range(count)]
    kind = OperationKind.APPEND if is_list else OperationKind.WRITE
    fresh = iter(range(1, sum(sizes) + 1))
    plans = [[(draw(st.sampled_from(keys)), draw(st.booleans())) for _ in range(size)] for size in sizes]
    written: dict[str, list[int]] = {key: [] for key in keys}
    writes: list[list[Operation | str]] = []
    for plan in plans:
        steps: list[Operation | str] = []
        for key, is_write in plan:
            if is_write:
                written[key].append(next(fresh) if unique else draw(st.integers(1, 2)))
                steps.append(Operation(kind=kind, key=key, value=written[key][-1]))
            else:
                steps.append(key)
        writes.append(steps)
    read = _list_read if is_list else _register_read
    transactions = [
        Transaction(
            number=0,
            id=number,
            session=0,
            session_id=draw(st.integers(0, 2)),
            status=draw(st.sampled_from(statuses)),
            operations=tuple(read(draw, step, written) if isinstance(step, str) else step for step in steps),
        )
        for number, steps in enumerate(writes, start=1)
    ]
    if timestamps:
        transactions = [draw(_clocked(transaction)) for transaction in transactions]
    return build(transactions, initial=initial)


def _register_read(draw: DrawFn, key: str, written: dict[str, list[int]]) -> Operation:
    value = draw(st.sampled_from([0, *written[key], *written[key], 99] if draw(st.integers(0, 9)) else [99]))
    return Operation(kind=OperationKind.READ, key=key, value=value)


def _list_read(draw: DrawFn, key: str, written: dict[str, list[int]]) -> Operation:
    elements = written[key]
    if draw(st.integers(0, 5)) == 0:
        elements = draw(st.permutations(elements))
    return Operation(
        kind=OperationKind.READ, key=key, value=tuple(elements[: draw(st.integers(0, len(elements)))])
    )


@st.composite
def _clocked(draw: DrawFn, transaction: Transaction) -> Transaction:
    start = draw(st.integers(0, 12))
    commit = start + draw(st.integers(0, 5))
    return replace(transaction, start=Timestamp(start), commit=Timestamp(commit))


def _everything() -> History:
    """One history with every feature, for tests that need only one."""
    details: dict[str, Any] = {
        "interval": Interval(1, 2),
        "table": "accounts",
        "columns": ("balance", "owner"),
        "statement": "select for update",
        "lock_mode": "EXCLUSIVE_LOCK",
        "read_mode": "LOCKING_READ",
        "predicate": "x > 1",
    }
    scalars: tuple[Scalar, ...] = (None, True, 7, 2**70, 1.5, "text", Term(":term"))
    row = (("x", 1), (7, "text"))
    operations = (
        Operation(kind=OperationKind.BEGIN),
        *(Operation(kind=OperationKind.WRITE, key=scalar, value=scalar) for scalar in scalars),
        *(Operation(kind=OperationKind.READ, key=scalar, value=scalar) for scalar in scalars),
        Operation(kind=OperationKind.APPEND, key="list", value=1),
        Operation(kind=OperationKind.READ, key="list", value=(1, "two")),
        Operation(kind=OperationKind.READ, key="list", value=UNKNOWN),
        Operation(kind=OperationKind.INSERT, key="row", value=1, **details),
        Operation(kind=OperationKind.DELETE, key="row", tombstone=True, **details),
        Operation(kind=OperationKind.RANGE_READ, value=Range(low=1, high="z", rows=row, tombstones=row)),
        Operation(kind=OperationKind.COMMIT),
    )
    full = Transaction(
        number=0,
        id=1,
        session=0,
        session_id="session",
        operations=operations,
        sequence=1,
        start=Timestamp(1, 2),
        commit=Timestamp(3, 4),
        interval=Interval(5, 6),
        positions=Interval(0, 1),
    )
    empty = Transaction(number=0, id="two", session=0, session_id=None, status=Status.INDETERMINATE)
    aborted = replace(empty, id=-3, session_id=4, status=Status.ABORTED, operations=operations[:3])
    versions = [(source, "list", value) for source in VersionSource for value in (1, "two")]
    initial = Initial(value=0, of_key={"x": 5, "row": UNKNOWN}, replaceable=True)
    fault = Fault(kind="kill", node="n1", start=5, stop=None, remark="it did not start again")
    deployment = Deployment(nodes={"session": "n1", 4: "n2"}, faults=(fault,))
    source = Source(deployment=deployment)
    return build([full, empty, aborted], initial=initial, versions=versions, source=source)


EVERYTHING = _everything()
