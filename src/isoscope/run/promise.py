"""Whether a database kept its promise: the promised levels, judged by the verdicts of a report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.levels import Level
    from isoscope.verdict import Report

__all__ = ["Answer", "Promise", "answer"]


class Promise(StrEnum):
    """What became of a promise."""

    KEPT = "kept"
    BROKEN = "broken"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether the promised levels hold.

    `broken` are the promised levels that are violated, `weakest` the weakest violated levels below them,
    `unknown` the promised levels that are neither proven nor violated, with the `reasons`. If nothing was
    committed, the promise was not tested and stays open.
    """

    promise: Promise
    promises: tuple[Level, ...]
    is_tested: bool
    broken: tuple[Level, ...] = ()
    weakest: tuple[Level, ...] = ()
    unknown: tuple[Level, ...] = ()
    reasons: tuple[str, ...] = ()


def answer(promises: Sequence[Level], report: Report, *, committed: int) -> Answer:
    """Broken if one promised level is violated, kept if all hold, else open."""
    outcomes = {level: _outcome(level, report) for level in promises}
    broken = tuple(level for level in promises if outcomes[level] is Outcome.VIOLATED)
    unknown = tuple(level for level in promises if outcomes[level] is Outcome.UNKNOWN)
    return Answer(
        promise=_promise(broken, unknown) if committed else Promise.OPEN,
        promises=tuple(promises),
        is_tested=committed > 0,
        broken=broken,
        weakest=_weakest(broken, report),
        unknown=unknown,
        reasons=_reasons(unknown, report),
    )


def _promise(broken: Sequence[Level], unknown: Sequence[Level]) -> Promise:
    if broken:
        return Promise.BROKEN
    return Promise.OPEN if unknown else Promise.KEPT


def _outcome(promised: Level, report: Report) -> Outcome:
    """The outcome of a promised level, from its own verdict or from those of other levels."""
    if any(level in lattice.implied(promised) for level in report.levels(Outcome.VIOLATED)):
        return Outcome.VIOLATED
    if any(promised in lattice.implied(level) for level in report.levels(Outcome.HOLDS)):
        return Outcome.HOLDS
    return Outcome.UNKNOWN


def _weakest(broken: Sequence[Level], report: Report) -> tuple[Level, ...]:
    implied = {level for promised in broken for level in lattice.implied(promised)}
    weakest = lattice.weakest([level for level in report.levels(Outcome.VIOLATED) if level in implied])
    return tuple(level for level in weakest if level not in broken)


def _reasons(unknown: Sequence[Level], report: Report) -> tuple[str, ...]:
    asked = {verdict.level: verdict.reason for verdict in report.verdicts}
    return tuple(dict.fromkeys(asked.get(level) or "not asked" for level in unknown))
