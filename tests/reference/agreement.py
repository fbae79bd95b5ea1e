"""How answers are compared with the specification: every difference is one line to read and to count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.checkers import check
from isoscope.levels import Level
from isoscope.reference import verdicts, weak
from isoscope.verdict import Method, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isoscope.history import History

__all__ = ["together", "told", "with_each_method"]

#: By timestamps, these ask for the levels of the clock.
BY_THE_CLOCK = {
    Level.SNAPSHOT_ISOLATION: Level.CLOCK_SNAPSHOT_ISOLATION,
    Level.STRONG_SESSION_SNAPSHOT_ISOLATION: Level.CLOCK_SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE: Level.CLOCK_SERIALIZABLE,
}


def told(history: History, *levels: Level, method: Method | None = None) -> dict[Level, Outcome]:
    """The answers for these levels, asked together."""
    return {v.level: v.outcome for v in check(history, levels, method=method).verdicts}


def together(history: History, *, alone: bool = False) -> Iterator[str]:
    """Differences if all levels are asked at once; `alone`: also if each is asked by itself."""
    expected = verdicts.outcomes(history)
    yield from _differences("together", expected, told(history, *Level))
    for level in Level if alone else ():
        yield from _differences("alone", expected, told(history, level))


def with_each_method(history: History) -> Iterator[str]:
    """Answers of a single method that are neither those of the specification nor `unknown`.

    Values alone show what lists and sessions say, whatever a log says. By timestamps, some levels ask for
    those of the clock.
    """
    expected = verdicts.outcomes(history)
    of_values = weak.judge(history, sources=["list read"]).outcomes
    for method in (Method.VALUES, Method.VERSION_ORDER, Method.TIMESTAMPS):
        for level, outcome in told(history, *Level, method=method).items():
            allowed = {expected[level], Outcome.UNKNOWN}
            if method is Method.VALUES and of_values.get(level) is Outcome.VIOLATED:
                allowed.add(Outcome.VIOLATED)
            if method is Method.TIMESTAMPS and level in BY_THE_CLOCK:
                allowed.add(expected[BY_THE_CLOCK[level]])
            if outcome not in allowed:
                yield f"{method}: {level} is {expected[level]}, not {outcome}"


def _differences(
    how: str, expected: Mapping[Level, Outcome], found: Mapping[Level, Outcome]
) -> Iterator[str]:
    for level, outcome in found.items():
        if outcome is not expected[level]:
            yield f"{how}: {level} is {expected[level]}, not {outcome}"
