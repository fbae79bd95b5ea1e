"""How a session understands PostgreSQL's answers, without a server: a small class stands for libpq."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.databases.postgresql.session import PostgreSQLSession
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from isoscope.databases.database import Content


class Answer:
    """A result: rows, or an error with its code."""

    def __init__(self, *rows: tuple[bytes, ...], done: bytes = b"", code: str | None = None) -> None:
        self.status = ExecStatus.TUPLES_OK if code is None else ExecStatus.FATAL_ERROR
        self.ntuples = len(rows)
        self.command_status = done
        self.command_tuples = int(done.split()[-1]) if done[-1:].isdigit() else None
        self.error_message = b"server closed the connection unexpectedly\n\tThis probably means ..."
        self._rows = rows
        self._fields = {
            DiagnosticField.SQLSTATE: code,
            DiagnosticField.MESSAGE_PRIMARY: code and "it says so",
        }

    def get_value(self, row: int, column: int) -> bytes:
        return self._rows[row][column]

    def error_field(self, field: DiagnosticField) -> bytes | None:
        text = self._fields[field]
        return text.encode() if text else None


class Libpq:
    """Answers what it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.answer: Answer | Exception = Answer()
        self.transaction_status = TransactionStatus.IDLE
        self.is_closed = False

    @property
    def pgconn(self) -> Libpq:
        return self

    def prepare(self, name: bytes, statement: bytes) -> Answer:
        return Answer()

    def exec_(self, statement: bytes) -> Answer:
        return self._said(statement)

    def exec_prepared(self, name: bytes, parameters: list[bytes]) -> Answer:
        return self._said((name, *parameters))

    def close(self) -> None:
        self.is_closed = True

    def _said(self, question: Any) -> Answer:
        self.asked.append(question)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def session(libpq: Libpq, content: Content = "register") -> PostgreSQLSession:
    connection: Any = libpq
    return PostgreSQLSession(connection, b"BEGIN ISOLATION LEVEL SERIALIZABLE", content, "s.isoscope")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("40001", Aborted),
        ("40P01", Aborted),
        ("55P03", Aborted),
        ("23505", Aborted),
        ("25P02", Aborted),
        ("57014", Aborted),
        ("57P01", ConnectionLost),
        ("57P03", ConnectionLost),
        ("08006", ConnectionLost),
        ("53100", DatabaseError),
        ("42P01", DatabaseError),
        ("XX000", DatabaseError),
    ],
)
def test_the_code_of_an_error_says_what_became_of_the_transaction(
    code: str, expected: type[Exception]
) -> None:
    libpq = Libpq()
    one = session(libpq)
    libpq.answer = Answer(code=code)
    with pytest.raises(expected, match=r"it says so$"):
        one.read(1)
    with pytest.raises(expected, match=r"it says so$"):
        one.commit()


def test_an_error_without_a_code_is_a_lost_connection() -> None:
    libpq = Libpq()
    one = session(libpq)
    libpq.answer = Answer(code="")
    with pytest.raises(ConnectionLost, match=r"^server closed the connection unexpectedly$"):
        one.write(1, 2)


def test_a_connection_that_libpq_has_given_up_is_lost() -> None:
    libpq = Libpq()
    one = session(libpq)
    libpq.answer = psycopg.OperationalError("the connection is closed")
    libpq.transaction_status = TransactionStatus.UNKNOWN
    with pytest.raises(ConnectionLost, match="the connection is closed"):
        one.begin()
    with pytest.raises(ConnectionLost, match="the connection is closed"):
        one.read(1)
    with pytest.raises(ConnectionLost, match="the connection is closed"):
        one.commit()
    one.rollback()
    one.close()
    assert libpq.is_closed


def test_a_commit_that_is_answered_with_a_rollback_is_an_abort() -> None:
    libpq = Libpq()
    one = session(libpq)
    libpq.answer = Answer(done=b"ROLLBACK")
    with pytest.raises(Aborted, match="had failed before"):
        one.commit()
    libpq.answer = Answer(done=b"COMMIT")
    one.commit()


def test_each_operation_is_one_statement() -> None:
    libpq = Libpq()
    one = session(libpq)
    one.begin()
    libpq.answer = Answer((b"5",))
    assert one.read(1) == 5
    libpq.answer = Answer((b"1", b"5"), (b"2", b"-6"))
    assert one.range_read(1, 2) == [(1, 5), (2, -6)]
    libpq.answer = Answer(done=b"UPDATE 1")
    one.write(1, -7)
    one.insert(3, 8)
    one.delete(3)
    one.commit()
    assert libpq.asked == [
        b"BEGIN ISOLATION LEVEL SERIALIZABLE",
        (b"read", b"1"),
        (b"range_read", b"1", b"2"),
        (b"write", b"1", b"-7"),
        (b"insert", b"3", b"8"),
        (b"delete", b"3"),
        b"COMMIT",
    ]


def test_lists_are_read_as_postgresql_writes_them() -> None:
    libpq = Libpq()
    one = session(libpq, "list")
    for text, elements in (b"{}", ()), (b"{7}", (7,)), (b"{7,-8}", (7, -8)):
        libpq.answer = Answer((text,))
        assert one.read(1) == elements
    libpq.answer = Answer()
    assert one.read(1) is None
    libpq.answer = Answer(done=b"UPDATE 0")
    with pytest.raises(Aborted, match="the row is not there"):
        one.append(1, 9)


def test_an_open_transaction_is_rolled_back_before_the_next_begin() -> None:
    libpq = Libpq()
    one = session(libpq)
    one.rollback()
    libpq.transaction_status = TransactionStatus.INERROR
    one.begin()
    assert libpq.asked == [b"ROLLBACK", b"BEGIN ISOLATION LEVEL SERIALIZABLE"]
