"""The messages of a collector: batches of transactions, taken whole or refused whole, and heartbeats.

JSON is in the shape of AION (transactions with timestamps) or of Leopard (operations with intervals).
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope._native import Reader
from isoscope.errors import FormatError
from isoscope.formats import leopard, parquet
from isoscope.formats.format import feed
from isoscope.formats.source import File, Input
from isoscope.history import Status

if TYPE_CHECKING:
    from isoscope.history import History, Scalar

__all__ = ["FORMS", "Batch", "Refused", "heartbeats"]

#: Content types; the journal keeps their numbers.
FORMS = ("application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream")
_ARROW = 2
#: Bytes of a batch that show the shape of its JSON.
_HEAD = 1 << 12
_BEATS = 'expected heartbeats such as {"sessions": [[3, 1700000000000000000]]}'
_LIMIT = 2**63


@dataclass(eq=False)
class Refused(Exception):  # noqa: N818 - it is an answer, not a mistake of ours
    """A request that is refused: the status of the answer and the reason, with its place in the batch.

    `expected` is the number of the batch that should have come, `wait` the seconds until another attempt.
    """

    status: int
    reason: str
    line: int = 0
    column: int = 0
    expected: int | None = None
    wait: float = 0.0

    def document(self) -> dict[str, object]:
        """The answer as JSON."""
        told = {
            "line": self.line or None,
            "column": self.column or None,
            "expected": self.expected,
            "retry_after": self.wait or None,
        }
        return {"error": self.reason, **{name: value for name, value in told.items() if value is not None}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The `sequence`-th batch of a collector; `form` is a place in FORMS."""

    collector: str
    sequence: int
    form: int
    body: bytes

    def read(self) -> History:
        """The transactions of the batch. Raises Refused if the body does not have its form."""
        name = f"{self.collector}#{self.sequence}"
        try:
            if self.form == _ARROW:
                return parquet.from_stream(self.body, path=name)
            source = Input(name, (File(name, io.BytesIO(self.body)),))
            if leopard.FORMAT.sniff(self.body[:_HEAD]):
                return _ended(feed(Reader("leopard"), source, name="leopard"))
            return feed(Reader("aion"), source, name="aion")
        except FormatError as error:
            raise Refused(400, str(error), error.line, error.column) from None


def heartbeats(body: bytes) -> list[tuple[Scalar, int]]:
    """Sessions and their instants. Raises Refused if the body is something else."""
    try:
        rows = json.loads(body)["sessions"]
        beats = [(session, time) for session, time in rows]
    except (KeyError, TypeError, ValueError):
        raise Refused(400, _BEATS) from None
    if isinstance(rows, dict) or not all(_is_beat(session, time) for session, time in beats):
        raise Refused(400, _BEATS)
    return beats


def _is_beat(session: object, time: object) -> bool:
    is_name = isinstance(session, int | str) and not isinstance(session, bool)
    return is_name and type(time) is int and -_LIMIT < time < _LIMIT


def _ended(history: History) -> History:
    """The history itself. Raises Refused if a transaction has no end and may go on in another batch."""
    if history.columns.status_counts()[Status.INDETERMINATE]:
        one = next(one for one in history if one.status is Status.INDETERMINATE)
        raise Refused(
            422,
            f"transaction {one.id!r} has no COMMIT or ROLLBACK in this batch: send each transaction whole, "
            "when it has ended (in Arrow, a transaction may have the status indeterminate)",
            one.line or 0,
        )
    return history
