"""What the service tells: one event a violation, the status of a level, the report."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from isoscope.reports import dumps
from isoscope.verdict import Report

if TYPE_CHECKING:
    from isoscope.checkers.online import News, OnlineStatus
    from isoscope.levels import Level
    from isoscope.live.engines import Engines

__all__ = ["event", "report", "status"]


def event(number: int, time: int, level: Level, news: News) -> bytes:
    """A violation as one line of JSON, without its end."""
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
        "found": _plain(news.found),
        "expected": _plain(news.expected),
    }
    return dumps(told).encode()


def status(level: Level, of_level: OnlineStatus) -> dict[str, Any]:
    """How far one level is."""
    return {"level": str(level), **asdict(of_level)}


def report(engines: Engines) -> Report:
    """The verdicts as of now, with the sizes of all that was taken."""
    sizes = next(iter(engines.statuses().values()))
    return Report(
        history={
            "path": "<live>",
            "format": "aion",
            **{name: getattr(sizes, name) for name in ("sessions", "transactions", "operations", "keys")},
            "aborted": 0,
            "indeterminate": 0,
            "evidence": ["values", "timestamps"],
        },
        verdicts=engines.verdicts(),
    )


def _plain(value: object) -> object:
    """A scalar or a list of them as JSON has it; anything else as text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(element) for element in value]
    return str(value)
