"""Plume text: one operation a line, `w(key,value,session,transaction)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from isoscope.verify.history import ABORTED, READ, WRITE, BadInputError, History, Initial, Transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["read"]

_LINE = re.compile(r"([rw])\((-?[0-9]+),(-?[0-9]+),(-?[0-9]+),(-?[0-9]+)\)\s*")


class _Reading:
    """The transactions so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.transactions: list[Transaction] = []
        self.by_id: dict[int, Transaction] = {}
        self.sessions: dict[int, int] = {}
        self.aborted = 0

    def begin(self, name: Any, session: int, number: int) -> Transaction:
        """The new transaction with this id."""
        if isinstance(name, int) and not 0 <= name < 2**62:
            raise BadInputError(f"{self.name}:{number}: expected a transaction id, found {name}")
        place = self.sessions.setdefault(session, len(self.sessions))
        transaction = Transaction(len(self.transactions), name, place)
        transaction.session_id = session
        self.transactions.append(transaction)
        return transaction

    def abort(self, operation: tuple[str, str, str], session: int, number: int) -> None:
        """A line of transaction -1: a write is an aborted transaction, a read is dropped."""
        kind, key, value = operation
        if kind == "r":
            return
        self.aborted += 1
        transaction = self.begin(f"aborted-{self.aborted}", session, number)
        transaction.status = ABORTED
        transaction.operations.append((WRITE, int(key), int(value)))


def read(lines: Iterable[str], name: str) -> History:
    """The history of these lines."""
    reading = _Reading(name)
    by_id = reading.by_id
    keys: dict[str, int] = {}
    match_line = _LINE.fullmatch
    for number, line in enumerate(lines, start=1):
        match = match_line(line)
        if match is None:
            if line.strip():
                raise BadInputError(f"{name}:{number}: expected an operation such as `w(1,10,1,1)`")
            continue
        kind, key, value, session_text, id_text = match.groups()
        session = int(session_text)
        if id_text == "-1":
            reading.abort((kind, key, value), session, number)
            continue
        transaction = by_id.get(int(id_text))
        if transaction is None:
            transaction = by_id[int(id_text)] = reading.begin(int(id_text), session, number)
        elif session != transaction.session_id:
            raise BadInputError(f"{name}:{number}: transaction {id_text} is in another session, too")
        place = keys.get(key)
        if place is None:
            place = keys[key] = int(key)
        transaction.operations.append((READ if kind == "r" else WRITE, place, int(value)))
    return History(reading.transactions, Initial(value=0, replaceable=True), "plume")
