"""The contents that rows had before the recording, where rows do not name their writers.

The same content may be written again later. A read that was answered before any transaction asked to write
the content shows the state before the recording; one that came later may show either, and is told apart
only if the clock excludes the one or the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.record.plan import Kind
from isoscope.record.rows import seen_rows
from isoscope.record.versions import content_text, written_content

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.record.rows import SeenRow
    from isoscope.record.traces import Statement, TracedTransaction
    from isoscope.record.versions import Versions

__all__ = ["InitialContents"]


class InitialContents:
    """The content of each row before the recording, as far as some read shows it for certain."""

    def __init__(self, transactions: Sequence[TracedTransaction], versions: Versions) -> None:
        self._versions = versions
        #: When each content of a row was first asked to be written.
        self._asked: dict[tuple[str, str], int] = {}
        self.of_key: dict[str, str] = {}
        for one, done in _statements(transactions):
            for seen in seen_rows(done, one.database) if done.is_change else ():
                written = seen.key, written_content(one, seen)
                self._asked[written] = min(done.invoke, self._asked.get(written, done.invoke))
        reads = [(one, done) for one, done in _statements(transactions) if done.plan.kind is Kind.SELECT]
        for one, done in sorted(reads, key=lambda read: read[1].complete):
            for seen in seen_rows(done, one.database):
                if seen.key not in self.of_key and self._is_initial(one, done, seen):
                    self.of_key[seen.key] = content_text(seen.content)

    def _is_initial(self, reader: TracedTransaction, done: Statement, seen: SeenRow) -> bool:
        is_written = self._versions.stamped_value(seen) is not None or not self.is_unwritten(done, seen)
        return not is_written and not _has_written(reader, done, seen.key)

    def is_unwritten(self, done: Statement, seen: SeenRow) -> bool:
        """Whether no transaction that was recorded can have written what a read shows."""
        asked = self._asked.get((seen.key, content_text(seen.content)))
        return asked is None or asked > done.complete

    def is_doubtful(self, reader: TracedTransaction, done: Statement, seen: SeenRow) -> bool:
        """Whether a content that was written may be that of before, too, because that is not known."""
        if seen.key in self.of_key or self.is_unwritten(done, seen):
            return False
        row = self._versions.rows.get(seen.key)
        if row is not None and not row.existed:
            return False
        writers = [one.writer for one in row.versions if one.writer is not None] if row is not None else []
        is_over = any(one.status == "committed" and one.end[1] < reader.begin for one in writers)
        return not is_over and not _has_written(reader, done, seen.key)

    def written_again(self) -> dict[str, str]:
        """The contents of before that some transaction wrote, too."""
        return {key: text for key, text in self.of_key.items() if (key, text) in self._asked}


def _statements(transactions: Sequence[TracedTransaction]) -> Iterator[tuple[TracedTransaction, Statement]]:
    for one in transactions:
        if not one.database.has_versions:
            yield from ((one, done) for done in one.statements)


def _has_written(reader: TracedTransaction, done: Statement, key: str) -> bool:
    """Whether a transaction wrote the row before it read it."""
    before = (one for one in reader.statements if one.is_change and one.invoke < done.invoke)
    return any(seen.key == key for one in before for seen in seen_rows(one, reader.database))
