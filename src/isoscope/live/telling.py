"""What the service tells: one event a violation, and the status of a level."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from isoscope.reports import dumps

if TYPE_CHECKING:
    from isoscope.checkers.online import News, OnlineStatus
    from isoscope.levels import Level

__all__ = ["event", "status"]


def event(number: int, time: int, level: Level, news: News) -> bytes:
    """A violation, or one that is taken back, as one line of JSON without its end."""
    # A broken database has one for every read: this takes a third of the time of an encoder.
    return (
        f'{{"id": {number}, "time": {time}, "level": "{level}", "number": {news.number}, '
        f'"name": "{news.name}", "axiom": "{news.axiom}", "transaction": {_scalar(news.transaction)}, '
        f'"other": {_scalar(news.other)}, "key": {_scalar(news.key)}, '
        f'"retracted": {"true" if news.is_retracted else "false"}}}'
    ).encode()


def status(
    level: Level, so_far: OnlineStatus, stability: tuple[list[int], list[int], list[int]]
) -> dict[str, Any]:
    """How far one level is."""
    flips = dict(zip(("reads", "transactions", "rectified"), stability, strict=True))
    return {"level": str(level), **asdict(so_far), "flips": flips}


def _scalar(value: object) -> str:
    """A scalar as JSON has it; one that JSON does not have, as text."""
    if type(value) is int:
        return str(value)
    return dumps(value if value is None or isinstance(value, bool | int | float | str) else str(value))
