"""What transactions do to keys: the values that they write, in program order, and the reads of them.

Here a delete is a write of nil. Range reads do not occur: `rows` has made single reads of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, OperationKind, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import Operation, Transaction

__all__ = [
    "INSTALLS",
    "LEFT_OUT",
    "NIL",
    "ON_A_KEY",
    "asked",
    "installed",
    "installed_before",
    "is_empty",
    "is_left_out",
    "known_reads",
    "left",
    "reads_of",
    "seen",
    "shape",
    "token",
    "writers",
]

INSTALLS = (OperationKind.WRITE, OperationKind.APPEND, OperationKind.INSERT, OperationKind.DELETE)
ON_A_KEY = (OperationKind.READ, *INSTALLS)
#: Begins the predicate of a single read that stands for a key that a range read leaves out.
LEFT_OUT = "left out"


def token(value: object) -> object:
    """Two values are the same if their types and texts are: 1, 1.0 and True are three values."""
    return (type(value).__name__, str(value))


NIL = token(None)


def installed(transaction: Transaction, key: object, after: int = -1) -> list[object]:
    """Values of `key` that the transaction installs behind place `after`, in program order."""
    return [
        NIL if operation.kind is OperationKind.DELETE else token(operation.value)
        for place, operation in enumerate(transaction.operations)
        if place > after and operation.kind in INSTALLS and token(operation.key) == token(key)
    ]


def installed_before(transaction: Transaction, key: object, place: int) -> list[object]:
    """Values of `key` that the transaction installed before its operation at `place`."""
    everything = installed(transaction, key)
    return everything[: len(everything) - len(installed(transaction, key, after=place - 1))]


def left(transactions: list[Transaction], reader: Transaction, key: object) -> dict[int, object]:
    """The value that each other transaction that wrote the key and did not abort left there."""
    others = [t for t in transactions if t is not reader and t.status is not Status.ABORTED]
    return {t.number: written[-1] for t in others if (written := installed(t, key))}


def is_left_out(read: Operation) -> bool:
    """Whether a single read stands for a key that a range read does not show."""
    return (read.predicate or "").startswith(LEFT_OUT)


def asked(read: Operation) -> str | None:
    """The predicate that left the key out, if that is all that the read says of the value."""
    return (read.predicate or "").removeprefix(f"{LEFT_OUT}: ") if _is_asked(read) else None


def _is_asked(read: Operation) -> bool:
    return (read.predicate or "").startswith(f"{LEFT_OUT}: ")


def known_reads(transaction: Transaction) -> Iterator[tuple[int, Operation]]:
    """Reads whose results the client learned, with their places; also of keys that were left out."""
    for place, operation in enumerate(transaction.operations):
        if operation.kind is OperationKind.READ and operation.value is not UNKNOWN:
            yield place, operation


def reads_of(transaction: Transaction, key: object) -> Iterator[tuple[int, Operation]]:
    """Reads of `key` whose results the client learned, with their places."""
    return ((place, read) for place, read in known_reads(transaction) if token(read.key) == token(key))


def seen(read: Operation) -> list[object]:
    """The elements of the list, or the single value, that a read returned."""
    values = read.value if isinstance(read.value, tuple) else (read.value,)
    return [token(value) for value in values]


def is_empty(transaction: Transaction) -> bool:
    """Whether it neither reads nor writes; a begin, a commit or an abort is no operation on a key."""
    return not any(o.kind in (OperationKind.RANGE_READ, *ON_A_KEY) for o in transaction.operations)


def writers(
    transactions: list[Transaction],
    reader: Transaction | None,
    place: int,
    key: object,
    value: object,
) -> list[Transaction]:
    """The possible writers of `value`, as seen by the read at `place`: others, or the reader later."""
    return [
        t
        for t in transactions
        if value in (installed(t, key, after=place) if t is reader else installed(t, key))
    ]


def shape(transactions: list[Transaction], key: object) -> str:
    """What a key holds, by what was done to it: `register`, `list`, or a reason not to judge it.

    A list that is deleted is not judged. A delete of a register is a write.
    """
    register = growing = deleted = False
    for transaction in transactions:
        for operation in transaction.operations:
            if operation.kind not in ON_A_KEY or token(operation.key) != token(key):
                continue
            is_list = operation.kind is OperationKind.APPEND or isinstance(operation.value, tuple)
            is_delete = operation.kind is OperationKind.DELETE
            growing |= is_list
            deleted |= is_delete
            register |= not is_list and not is_delete and operation.value is not UNKNOWN
    if growing and (register or deleted):
        return "mixed" if register else "deleted"
    return "list" if growing else "register"
