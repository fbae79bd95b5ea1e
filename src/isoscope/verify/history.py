"""What happened, as plain Python: transactions of operations, and the values that keys start with.

An operation is the tuple (kind, key, value); the value of a read of a list is a Python list. Scalars are
compared by type and value, so those that Python would take for equal are told apart: integers and texts are
themselves, nil is None, anything else is a `Term`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ABORTED",
    "APPEND",
    "COMMITTED",
    "DELETE",
    "INDETERMINATE",
    "INSTALLS",
    "MARKER",
    "RANGE",
    "READ",
    "UNKNOWN",
    "WRITE",
    "BadInputError",
    "History",
    "Initial",
    "Kinds",
    "Operation",
    "RejectedError",
    "Term",
    "Timestamp",
    "Transaction",
    "kinds_of_keys",
    "show",
]

READ, WRITE, APPEND, DELETE, RANGE, MARKER = "read", "write", "append", "delete", "range-read", "marker"
#: What leaves a version; a delete leaves one that reads as nil.
INSTALLS = (WRITE, APPEND, DELETE)
COMMITTED, ABORTED, INDETERMINATE = "committed", "aborted", "indeterminate"


class BadInputError(Exception):
    """A file cannot be read; the text says where and why."""


class RejectedError(Exception):
    """The certificate does not prove its verdict; the text says why, in one sentence."""


class Term(NamedTuple):
    """A scalar that is neither an integer, nor a text, nor nil: its kind and its text."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


#: The result of a read that the client never learned, and an initial value that is not known.
UNKNOWN: Final = Term("unknown", "unknown")

Scalar: TypeAlias = int | str | Term | None
Operation: TypeAlias = tuple[str, Any, Any]
Timestamp: TypeAlias = tuple[int, int]


def show(value: Any) -> str:
    """A value as messages have it: nil, and lists in brackets."""
    if isinstance(value, list):
        return f"[{' '.join(map(show, value))}]"
    return "nil" if value is None else str(value)


class Initial(NamedTuple):
    """The values of keys before the first write; a list starts empty, whatever is said here."""

    value: Scalar = UNKNOWN
    of_key: dict[Any, Any] = {}  # noqa: RUF012 - never changed
    replaceable: bool = False

    def of(self, key: Any) -> Scalar:
        """The initial value of a key, UNKNOWN if it is not known."""
        return self.of_key.get(key, self.value)

    def is_open(self, key: Any) -> bool:
        """Whether the initial value of a key is not known."""
        return self.of(key) is UNKNOWN


class Transaction:
    """One transaction; `begin` and `end` are places in real time, None where they are not known."""

    __slots__ = (
        "begin",
        "commit",
        "end",
        "id",
        "is_first",
        "left_out",
        "number",
        "operations",
        "place",
        "sequence",
        "session",
        "session_id",
        "start",
        "status",
    )

    def __init__(self, number: int, name: Scalar, session: int, status: str = COMMITTED) -> None:
        self.number = number
        self.id = name
        self.session = session
        self.session_id: Scalar = UNKNOWN
        self.place = 0
        self.status = status
        self.operations: list[Operation] = []
        #: The places of reads that say what a range read did not show.
        self.left_out: set[int] = set()
        #: Whether it fills the database before all others.
        self.is_first = False
        self.sequence: int | None = None
        self.start: Timestamp | None = None
        self.commit: Timestamp | None = None
        self.begin: int | None = None
        self.end: int | None = None

    def __str__(self) -> str:
        return f"T{self.id}" if isinstance(self.id, int) else str(self.id)


class History:
    """All transactions in the order of the input, and what was recorded beside them."""

    def __init__(self, transactions: list[Transaction], initial: Initial, form: str) -> None:
        self.transactions = transactions
        self.initial = initial
        self.form = form
        #: Rows of a log and of a declared order: source -> key -> values, the oldest first.
        self.recorded: dict[str, dict[Any, list[Any]]] = {}
        #: In a history that a choice gives: the versions that rows are, and all that took effect.
        self.versions: dict[str, dict[Any, list[tuple[int, int]]]] = {}
        self.effective: frozenset[int] | None = None
        self.has_real_time = False
        self.has_indeterminate = any(t.status == INDETERMINATE for t in transactions)
        self.has_ranges = form != "plume" and any(o[0] == RANGE for t in transactions for o in t.operations)
        if form != "plume":
            _make_normal(transactions)
        #: Keys that a first transaction fills, by its number.
        self.filled = {key: t.number for t in transactions if t.is_first for _, key, _ in t.operations}
        #: Keys that some transaction deletes, whatever became of it: they may not exist at first.
        self.may_be_absent = kinds_of_keys(transactions).deleted if form != "plume" else set()
        used = (t for t in transactions if form != "plume" and t.status != ABORTED)
        self.lists, self.registers, _ = kinds = kinds_of_keys(used)
        #: Keys that some transaction deletes, whatever became of it.
        self.deleted = kinds_of_keys(transactions).deleted if form != "plume" else set()
        self.unjudged = kinds.unjudged
        self._places_in_sessions()

    def by_id(self) -> dict[Any, Transaction]:
        """Transactions by id; ids are unique."""
        return {t.id: t for t in self.transactions}

    def _places_in_sessions(self) -> None:
        sessions: dict[int, list[Transaction]] = {}
        for t in self.transactions:
            sessions.setdefault(t.session, []).append(t)
        for members in sessions.values():
            if any(t.sequence is not None for t in members):
                _sort_by_sequence(members)
            for place, t in enumerate(members):
                t.place = place


def _sort_by_sequence(members: list[Transaction]) -> None:
    numbers = {t.sequence for t in members}
    if None in numbers or len(numbers) < len(members):
        raise BadInputError(f"the sequence numbers of the session of {members[0]} are missing or repeated")
    members.sort(key=lambda t: t.sequence or 0)


class Kinds(NamedTuple):
    """List keys, register keys, those that are deleted at times, and those whose reads are not judged."""

    lists: set[Any]
    registers: set[Any]
    deleted: set[Any]

    @property
    def unjudged(self) -> set[Any]:
        """Keys that are used as lists, and also otherwise."""
        return self.lists & (self.registers | self.deleted)


def kinds_of_keys(transactions: Iterable[Transaction]) -> Kinds:
    """How these transactions use keys."""
    found = Kinds(set(), set(), set())
    for t in transactions:
        for kind, key, value in t.operations:
            if kind == APPEND or (kind == READ and isinstance(value, list)):
                found.lists.add(key)
            elif kind == WRITE or (kind == READ and value is not None and value is not UNKNOWN):
                found.registers.add(key)
            elif kind == DELETE:
                found.deleted.add(key)
    return found


def _make_normal(transactions: list[Transaction]) -> None:
    """On a list, nil is the empty list; a delete leaves nil behind."""
    lists = kinds_of_keys(transactions).lists
    for t in transactions:
        t.operations = [_normal(operation, lists) for operation in t.operations]


def _normal(operation: Operation, lists: set[Any]) -> Operation:
    kind, key, value = operation
    if kind == DELETE:
        return kind, key, None
    return (kind, key, []) if kind == READ and value is None and key in lists else operation
