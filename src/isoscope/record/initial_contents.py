"""The contents that rows had before the recording, where rows do not name their writers.

The same content may be written again later. A read that was answered before any transaction asked to write
the content shows the state before the recording; one that came later may show either, and has both as its
possible writers. If several contents of a row may be that of before, all have another possible writer.
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
    """The content of each row before the recording, if a read shows it, or if only one can have been it."""

    def __init__(self, transactions: Sequence[TracedTransaction], versions: Versions) -> None:
        self._versions = versions
        #: When each content of a row was first asked to be written.
        self._asked: dict[tuple[str, str], int] = {}
        self.of_key: dict[str, str] = {}
        self._doubtful: set[tuple[str, str]] = set()
        for one, done in _statements(transactions):
            for seen in seen_rows(done, one.database) if done.is_change else ():
                written = seen.key, written_content(one, seen)
                self._asked[written] = min(done.invoke, self._asked.get(written, done.invoke))
        reads = [(one, done) for one, done in _statements(transactions) if done.plan.kind is Kind.SELECT]
        for one, done in sorted(reads, key=lambda read: read[1].complete):
            for seen in seen_rows(done, one.database):
                if seen.key not in self.of_key and self._is_initial(one, done, seen):
                    self.of_key[seen.key] = content_text(seen.content)
        self._add_possible(reads)

    def _add_possible(self, reads: Sequence[tuple[TracedTransaction, Statement]]) -> None:
        """Gives readers of a content that may be that of before a second possible writer.

        One content of a row is taken for that of before, and others for writes that were not recorded.
        """
        possible: dict[str, dict[str, None]] = {}
        for one, done in reads:
            for seen in seen_rows(done, one.database):
                if self._versions.stamped_value(seen) is None and self._is_doubtful(one, done, seen):
                    possible.setdefault(seen.key, {})[content_text(seen.content)] = None
        for key, (first, *others) in possible.items():
            self.of_key[key] = first
            self._doubtful |= {(key, text) for text in others}

    def _is_initial(self, reader: TracedTransaction, done: Statement, seen: SeenRow) -> bool:
        is_written = self._versions.stamped_value(seen) is not None or not self._is_unwritten(done, seen)
        return not is_written and not _has_written(reader, done, seen.key)

    def is_from_outside(self, done: Statement, seen: SeenRow) -> bool:
        """Whether a read may show what no recorded transaction wrote, nor the row was before."""
        text = content_text(seen.content)
        is_open = self._is_unwritten(done, seen) or (seen.key, text) in self._doubtful
        return is_open and self.of_key.get(seen.key) != text

    def _is_unwritten(self, done: Statement, seen: SeenRow) -> bool:
        """Whether no transaction that was recorded can have written what a read shows."""
        asked = self._asked.get((seen.key, content_text(seen.content)))
        return asked is None or asked > done.complete

    def _is_doubtful(self, reader: TracedTransaction, done: Statement, seen: SeenRow) -> bool:
        """Whether a content that was written may be that of before, too, because that is not known."""
        if seen.key in self.of_key or self._is_unwritten(done, seen):
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
