"""How answers are compared with the specification: every difference is one line to read and to count."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from isoscope.checkers import check
from isoscope.levels import Level
from isoscope.reference import adya, explanations, verdicts
from isoscope.verdict import Method, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.history import History

__all__ = ["right_outcomes", "together", "told", "with_each_method"]

#: To judge more explanations takes too long.
MOST_EXPLANATIONS = 200
#: By timestamps, these ask for the levels of the clock.
BY_THE_CLOCK = {
    Level.SNAPSHOT_ISOLATION: Level.CLOCK_SNAPSHOT_ISOLATION,
    Level.STRONG_SESSION_SNAPSHOT_ISOLATION: Level.CLOCK_SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE: Level.CLOCK_SERIALIZABLE,
}


def right_outcomes(history: History, assume: Sequence[str] = ()) -> dict[Level, set[Outcome]]:
    """What may be answered for each level.

    The native core knows no explanations at the weak levels: what the definitions leave `unknown` there may
    stay so. It may also stay so if there are many explanations.
    """
    plain = verdicts.outcomes(history, assume)
    if len([*islice(explanations.explanations(history), MOST_EXPLANATIONS + 1)]) > MOST_EXPLANATIONS:
        return {level: {*Outcome} if plain[level] is Outcome.UNKNOWN else {plain[level]} for level in Level}
    explained = explanations.outcomes(history, assume)
    return {level: {explained[level], *_left_open(level, plain)} for level in Level}


def _left_open(level: Level, plain: Mapping[Level, Outcome]) -> set[Outcome]:
    is_weak = level not in adya.LEVELS and plain[level] is Outcome.UNKNOWN
    return {Outcome.UNKNOWN} if is_weak else set()


def told(history: History, *levels: Level, method: Method | None = None) -> dict[Level, Outcome]:
    """The answers for these levels, asked together."""
    return {v.level: v.outcome for v in check(history, levels, method=method).verdicts}


def together(history: History, *, alone: bool = False) -> Iterator[str]:
    """Differences if all levels are asked at once; `alone`: also if each is asked by itself."""
    expected = right_outcomes(history)
    yield from _differences("together", expected, told(history, *Level))
    for level in Level if alone else ():
        yield from _differences("alone", expected, told(history, level))


def with_each_method(history: History) -> Iterator[str]:
    """Answers of a single method that are neither those of the specification nor `unknown`.

    By timestamps, some levels ask for those of the clock.
    """
    expected = right_outcomes(history)
    for method in (Method.VALUES, Method.VERSION_ORDER, Method.TIMESTAMPS):
        for level, outcome in told(history, *Level, method=method).items():
            allowed = {*expected[level], Outcome.UNKNOWN}
            if method is Method.TIMESTAMPS and level in BY_THE_CLOCK:
                allowed |= expected[BY_THE_CLOCK[level]]
            if outcome not in allowed:
                yield f"{method}: {level} is {_either(expected[level])}, not {outcome}"


def _differences(
    how: str, expected: Mapping[Level, set[Outcome]], found: Mapping[Level, Outcome]
) -> Iterator[str]:
    for level, outcome in found.items():
        if outcome not in expected[level]:
            yield f"{how}: {level} is {_either(expected[level])}, not {outcome}"


def _either(outcomes: set[Outcome]) -> str:
    return " or ".join(sorted(outcomes))
