"""When a run ends, how far it is, and what it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter

    from isoscope.history import Fault, History

__all__ = ["Limits", "Progress", "Run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a run ends, and how fast it goes: transactions are attempts, `rate` is attempts a second.

    `until_violated` ends it when a promised level is violated. With `adapts`, sessions stop if most
    transactions are aborted.
    """

    seconds: float | None = None
    transactions: int | None = None
    rate: float | None = None
    retries: int = 0
    until_violated: bool = False
    adapts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is."""

    seconds: float
    committed: int
    aborted: int
    indeterminate: int
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of a run: the history (None if nothing was recorded) and its counts.

    `reasons` counts the messages of aborted transactions, `problem` is why a run ended early. `error` is the
    exception if that was a fault of Isoscope. `active_sessions` were at work in the end. With
    `found_violation`, the run ended because a promised level is violated. `nodes` are those that sessions
    were spread over, and `faults` were injected meanwhile.
    """

    database: str
    history: History | None
    progress: Progress
    reasons: Counter[str]
    problem: str | None = None
    interrupted: bool = False
    error: BaseException | None = None
    active_sessions: int = 0
    found_violation: bool = False
    nodes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
