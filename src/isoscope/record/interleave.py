"""Two transactions of a program, one of them stopped in a gap while the other runs.

A gap is before a statement, or before the commit, of a transaction that has read something: there, another
transaction can change what was read.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoscope.record.plan import Kind
from isoscope.record.recording import Hook

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoscope.record.recording import Session

__all__ = ["Change", "Interleaving", "Round"]

#: Seconds after which a transaction that has not ended waits for a lock of the stopped one: at least, at
#: most, and as a multiple of what it took alone, because a loaded machine is slow in everything.
_BLOCKED, _MOST_BLOCKED, _TIMES_ALONE = 0.25, 5.0, 5
#: Seconds that a whole round may take.
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the program that is tried out: locking reads, by their text, or a level."""

    locked: frozenset[str] = frozenset()
    level: str = ""

    def statement(self, sql: str) -> str:
        """The statement with the change."""
        text = " ".join(sql.split())
        is_locking = re.search(r"\bfor (update|share|no key update|key share)\b", text, re.IGNORECASE)
        if text not in self.locked or is_locking:
            return sql
        return f"{sql.rstrip().rstrip(';')} FOR UPDATE"

    def begin(self, command: str) -> str:
        """The command that begins a transaction with the change."""
        if not self.level or "isolation" in command.lower():
            return command
        return f"{command.rstrip('; ')} ISOLATION LEVEL {self.level}"


@dataclass(frozen=True, slots=True)
class Round:
    """What became of one interleaving: whether the gap was reached, and the errors of the two."""

    has_gap: bool
    is_blocked: bool
    errors: tuple[BaseException | None, BaseException | None]


class Interleaving(Hook):
    """Stops one thread in its n-th gap until another has run; without `prepare`, it stops none."""

    def __init__(self) -> None:
        self.change = Change()
        self._blocked = _BLOCKED
        self._stopped: int | None = None
        self._gaps = -1
        self._reached = threading.Event()
        self._go_on = threading.Event()

    def before(self, session: Session) -> None:
        """A statement of a transaction that has read is a gap."""
        self._gap(session)

    def before_end(self, session: Session) -> None:
        """So is its commit."""
        self._gap(session)

    def changed(self, sql: str) -> str:
        """The statement with the change that is tried out."""
        return self.change.statement(sql)

    def begin(self, command: str) -> str:
        """The same for the command that begins a transaction."""
        return self.change.begin(command)

    def _gap(self, session: Session) -> None:
        is_here = self._stopped == threading.get_ident()
        if not is_here or not any(one.plan.kind is Kind.SELECT for one in session.done):
            return
        if self._gaps == 0:
            self._reached.set()
            self._go_on.wait(_PATIENCE)
        self._gaps -= 1

    def took_alone(self, seconds: float) -> None:
        """A transaction took so long with nothing that it could wait for."""
        self._blocked = max(self._blocked, min(_MOST_BLOCKED, seconds * _TIMES_ALONE))

    def run(self, stopped: Callable[[], Any], other: Callable[[], Any], gap: int) -> Round:
        """Runs one transaction up to its gap, then the other, then the rest of the first."""
        self._gaps = gap
        self._reached.clear()
        self._go_on.clear()
        first = _Client(stopped, before=self._stop_this_thread)
        first.start()
        while first.is_alive() and not self._reached.wait(0.002):
            pass
        has_gap, is_blocked = self._reached.is_set(), False
        second = _Client(other)
        if has_gap:
            second.start()
            second.join(self._blocked)
            is_blocked = second.is_alive()
        self._stopped = None
        self._go_on.set()
        for client in (first, second) if has_gap else (first,):
            client.join(_PATIENCE)
        return Round(has_gap, is_blocked, (first.error, second.error))

    def _stop_this_thread(self) -> None:
        self._stopped = threading.get_ident()


class _Client(threading.Thread):
    """Runs a transaction of the program; an error of it is a result."""

    def __init__(self, work: Callable[[], Any], before: Callable[[], Any] | None = None) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._before = before
        self.error: BaseException | None = None

    def run(self) -> None:
        """The transaction."""
        if self._before is not None:
            self._before()
        try:
            self._work()
        except BaseException as error:
            self.error = error
