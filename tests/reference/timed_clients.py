"""The state of the clients of a replayed database: plans, events, locks and versions."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from isoscope.history import Operation, Scalar, Status
    from isoscope.profiles import Lock

__all__ = ["Client", "Event", "Locked", "RefusedError", "ReplayedVersion", "WaitError"]


class ReplayedVersion(NamedTuple):
    instant: int
    transaction: int
    value: Scalar


class Event(NamedTuple):
    """An operation of a client, when the database began it, and when it was done."""

    operation: Operation
    since: int
    done: int


class Locked(NamedTuple):
    transaction: int
    resource: object
    mode: Lock
    bounds: tuple[int, int] | None = None


@dataclass
class Client:
    number: int
    plan: list[str]
    status: Status | None = None
    events: list[Event] = field(default_factory=list)
    waits_since: int | None = None
    snapshot: int | None = None
    wrote: dict[Scalar, list[Scalar]] = field(default_factory=dict)
    wrote_at: dict[Scalar, int] = field(default_factory=dict)
    saw: list[tuple[Scalar, int]] = field(default_factory=list)
    committed_at: float = inf


class RefusedError(Exception):
    """The transaction is rolled back."""


class WaitError(Exception):
    """Another transaction holds a lock."""
