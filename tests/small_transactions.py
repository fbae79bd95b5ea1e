"""Transactions and operations in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.history import (
    Operation,
    OperationKind,
    Transaction,
)

if TYPE_CHECKING:
    from isoscope.history import Scalar

READ, WRITE, APPEND = OperationKind.READ, OperationKind.WRITE, OperationKind.APPEND


def transaction(name: Scalar, *operations: Operation, session: Scalar = 1, **fields: Any) -> Transaction:
    return Transaction(number=0, id=name, session=0, session_id=session, operations=operations, **fields)


def write(key: Scalar, value: Scalar) -> Operation:
    return Operation(kind=WRITE, key=key, value=value)


def read(key: Scalar, value: Any) -> Operation:
    return Operation(kind=READ, key=key, value=value)


def append(key: Scalar, value: Scalar) -> Operation:
    return Operation(kind=APPEND, key=key, value=value)
