"""Commands that mean more on CockroachDB and YugabyteDB than on PostgreSQL, whose protocol they speak.

- A rollback to the outermost savepoint begins the transaction anew, and what it read before is void
  (CockroachDB, "Advanced client-side transaction retries"). The statements since any savepoint are
  left out there.
- `RELEASE SAVEPOINT` of that savepoint commits, and so does `SHOW COMMIT TIMESTAMP` inside of a
  transaction: `COMMIT` then only ends it.
- Some settings and clauses let reads see versions that have been replaced ("Follower reads").
- The end of a transaction may not be known although the server answers: 40003 (statement completion
  unknown) and XXA00 (committed, but a change of the schema failed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.record.plan import Kind, Plan, not_understood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.record.done import Done
    from isoscope.record.plan import Dialect

__all__ = ["UNKNOWN_ENDS", "DistributedCommands"]

UNKNOWN_ENDS = frozenset({"40003", "XXA00"})
_NOTHING = Plan(kind=Kind.NO_ROWS, text="")


class DistributedCommands:
    """What the commands of one connection say; nothing on other databases."""

    def __init__(self, dialect: Dialect, *, reads_past: bool) -> None:
        self._dialect = dialect
        #: Whether reads may see old versions: from such a command on, for the rest of the connection.
        self._reads_past = reads_past
        #: Whether the level was set in a way that is not followed.
        self._is_level_open = False
        self._released_at = 0
        self._is_unclear = False

    def failed(self, sqlstate: str | None) -> None:
        """A statement was refused."""
        self._is_unclear |= sqlstate in UNKNOWN_ENDS

    def command(self, text: str) -> None:
        """A command of the program."""
        lower = text.lower()
        self._reads_past |= any(word in lower for word in self._dialect.past)
        self._is_level_open |= "transaction_isolation" in lower and not lower.startswith("show")

    def follow(self, words: Sequence[str], done: Sequence[Done], outermost: str | None) -> None:
        """A command that may commit the transaction before COMMIT does; `words` are its words."""
        is_release = words[0] == "release" and words[-1] in ("cockroach_restart", outermost)
        is_commit = is_release or list(words[:2]) == ["show", "commit"]
        if self._dialect.is_restarting and is_commit and done:
            self._released_at = self._released_at or done[-1].invoke

    def undone(self, one: Done) -> Done:
        """A statement behind a savepoint to which the transaction was rolled back."""
        if self._dialect.is_restarting:
            return one._replace(plan=_NOTHING, rows=(), reader=None)
        return one._replace(is_undone=True)

    def known(self, done: list[Done]) -> list[Done]:
        """The statements that count, those that may have read old versions as not understood."""
        if self._dialect.is_restarting:
            done = [one for one in done if one.plan is not _NOTHING]
        return [_of_the_past(one) for one in done] if self._reads_past else done

    def can_ask_stamp(self, level: str) -> bool:
        """Whether the time of the commit is that of the versions: at SERIALIZABLE only."""
        return bool(self._dialect.stamp) and level == "serializable" and not self._is_level_open

    def end(self, status: str, invoke: int) -> tuple[str, int]:
        """How the transaction ended, and when its end was asked for at the earliest."""
        found = "indeterminate" if self._is_unclear else status, min(invoke, self._released_at or invoke)
        self._released_at, self._is_unclear = 0, False
        return found


def _of_the_past(one: Done) -> Done:
    if one.plan.kind is not Kind.SELECT:
        return one
    plan = not_understood(one.sql, "a command before it lets reads see old versions")
    return one._replace(plan=plan, rows=(), reader=None)
