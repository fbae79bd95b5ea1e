"""The JSON of the service: one event for each violation, and the progress of levels or mechanisms."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.reports import dumps
from isoscope.reports.mechanisms import beta

if TYPE_CHECKING:
    from isoscope.checkers.online import ClockStability, LevelNews, OnlineStatus
    from isoscope.checkers.online_intervals import IntervalsStatus, MechanismNews
    from isoscope.levels import Level
    from isoscope.verdict import Mechanisms

__all__ = ["ClockEvent", "Event", "MechanismEvent", "event_line", "level_status", "mechanisms_status"]

_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ClockEvent:
    """A violation of a level, or the retraction of one."""

    level: Level
    news: LevelNews

    def fields(self) -> str:
        """The fields that only an event of a level has, as JSON."""
        news = self.news
        return (
            f'"level": "{self.level}", "number": {news.number}, '
            f'"name": "{news.name}", "axiom": "{news.axiom}"'
        )

    @property
    def is_retracted(self) -> bool:
        """Whether the event takes an earlier one back."""
        return self.news.is_retracted

    def line(self) -> str:
        """One line for a terminal."""
        return f"{self.level}: {_line(self.news)}" + (" (taken back)" if self.is_retracted else "")


@dataclass(frozen=True, slots=True)
class MechanismEvent:
    """A violation of a mechanism; it is never taken back."""

    news: MechanismNews
    is_retracted = False

    def fields(self) -> str:
        """The fields that only an event of a mechanism has, as JSON."""
        news = self.news
        return (
            f'"mechanism": "{news.mechanism}", "number": {news.number}, '
            f'"name": "{news.name}", "case": "{news.case}"'
        )

    def line(self) -> str:
        """One line for a terminal."""
        return f"{self.news.mechanism}: {_line(self.news, f' ({self.news.case})')}"


Event: TypeAlias = ClockEvent | MechanismEvent


def event_line(number: int, time: int, event: Event) -> bytes:
    """The event as one line of JSON without its end of line."""
    # A broken database has an event for every read: this takes a third of the time of an encoder.
    news = event.news
    return (
        f'{{"id": {number}, "time": {time}, {event.fields()}, "transaction": {_scalar(news.transaction)}, '
        f'"other": {_scalar(news.other)}, "key": {_scalar(news.key)}, '
        f'"retracted": {"true" if event.is_retracted else "false"}}}'
    ).encode()


def level_status(level: Level, so_far: OnlineStatus, stability: ClockStability) -> dict[str, Any]:
    """The progress of one level."""
    flips = {name: getattr(stability, name) for name in ("reads", "transactions", "rectified")}
    return {"level": str(level), **asdict(so_far), "flips": flips}


def mechanisms_status(so_far: IntervalsStatus, found: Mechanisms) -> dict[str, Any]:
    """The progress of the mechanisms of a profile."""
    behind = so_far.behind
    return {
        "profile": found.profile,
        "clock_error": found.clock_error,
        **asdict(so_far),
        "holding_back": [_plain(session) for session in so_far.holding_back],
        "behind": None if behind is None else behind / _SECOND,
        "verdicts": [
            {
                "mechanism": str(verdict.mechanism),
                "outcome": str(verdict.outcome),
                "reason": verdict.reason,
                "checked": verdict.checked,
                "undecided": verdict.undecided,
                "counts": dict(verdict.anomaly_counts),
            }
            for verdict in found.verdicts
        ],
        "dependencies": [{**asdict(one), "beta": beta(one)} for one in found.dependencies],
    }


def _line(news: LevelNews | MechanismNews, case: str = "") -> str:
    """A violation in a few words."""
    where = "" if news.key is None else f", key {news.key!r}"
    against = "" if news.other is None else f", against {news.other!r}"
    return f"{news.name}{case} in transaction {news.transaction!r}{where}{against}"


def _scalar(value: object) -> str:
    """A scalar as JSON; a scalar without a JSON form becomes text."""
    if type(value) is int:
        return str(value)
    return dumps(_plain(value))


def _plain(value: object) -> bool | int | float | str | None:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
