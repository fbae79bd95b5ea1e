"""What a collector sends: transactions in one of three forms, taken whole or refused whole with a reason."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope._native import Reader
from isoscope.errors import FormatError
from isoscope.formats import parquet
from isoscope.formats.format import feed
from isoscope.formats.source import File, Input

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["FORMS", "Batch", "Refused"]

#: Content types; the journal keeps their numbers.
FORMS = ("application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream")
_ARROW = 2


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
        """Its transactions. Raises Refused if the body is not what its form says."""
        name = f"{self.collector}#{self.sequence}"
        try:
            if self.form == _ARROW:
                return parquet.from_stream(self.body, path=name)
            source = Input(name, (File(name, io.BytesIO(self.body)),))
            return feed(Reader("aion"), source, name="aion")
        except FormatError as error:
            raise Refused(400, str(error), error.line, error.column) from None
