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
    told = {
        "id": number,
        "time": time,
        "level": str(level),
        "number": news.number,
        "name": news.name,
        "axiom": news.axiom,
        "transaction": _plain(news.transaction),
        "other": _plain(news.other),
        "key": _plain(news.key),
        "retracted": news.is_retracted,
    }
    return dumps(told).encode()


def status(
    level: Level, so_far: OnlineStatus, stability: tuple[list[int], list[int], list[int]]
) -> dict[str, Any]:
    """How far one level is."""
    flips = dict(zip(("reads", "transactions", "rectified"), stability, strict=True))
    return {"level": str(level), **asdict(so_far), "flips": flips}


def _plain(value: object) -> object:
    """A scalar or a list of them as JSON has it; anything else as text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(element) for element in value]
    return str(value)
