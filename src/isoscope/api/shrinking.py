"""Shrink a history to the few transactions that break a level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope import explain
from isoscope import levels as lattice
from isoscope.checkers import check, version_order
from isoscope.verdict import Claim, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.verdict import Anomaly, Verdict

__all__ = ["Question", "shrink"]


def shrink(
    history: History,
    level: Level | str | Callable[[History], bool] | None = None,
    *,
    near: Iterable[Anomaly] = (),
    method: str | None = None,
    assume: Iterable[str] = (),
) -> History:
    """The few transactions of a history that still break a level.

    level   the level that the result breaks, by any of its names; by default the weakest that the history
            breaks. Or a function that says of a history whether it is still broken
    near    with a function: anomalies of the history, around which the search begins
    method  with a level: use this method only
    assume  with a level: claims about the order of versions

    The result is broken, and is not without any one of its transactions or operations. It is a part of the
    history: nothing is renamed or moved, and with a write go the reads of it. Raises ValueError if there is
    nothing to shrink.
    """
    if callable(level) and not isinstance(level, str):
        return explain.shrink(history, level, near=near)
    wanted = None if level is None else lattice.parse(str(level))
    return Question(method, tuple(assume)).shrunk(history, wanted)[0]


def _quiet(part: History) -> None:
    del part


@dataclass(frozen=True, slots=True)
class Question:
    """How levels are decided; `progress` is called before each part is judged."""

    method: str | None = None
    assume: tuple[str, ...] = ()
    progress: Callable[[History], None] = _quiet

    def shrunk(self, history: History, level: Level | None) -> tuple[History, Level]:
        """The part of the history that breaks the level, or the weakest broken one; and that level."""
        broken = self._broken(history, level)
        doubts = self.doubts(history)

        def still_broken(part: History) -> bool:
            is_violated = self.verdict(part, broken.level).outcome is Outcome.VIOLATED
            return is_violated and not self.believes_more(part, doubts)

        return explain.shrink(history, still_broken, near=broken.anomalies), broken.level

    def verdict(self, part: History, level: Level) -> Verdict:
        """The verdict on one level."""
        self.progress(part)
        [verdict] = check(part, [level], method=self.method, assume=self.assume, max_anomalies=1).verdicts
        return verdict

    def doubts(self, history: History) -> frozenset[tuple[str, object]]:
        """The keys that contradict a claim, and why."""
        claims = [Claim(name) for name in self.assume]
        return frozenset(version_order.disbelieved(history, claims)) if claims else frozenset()

    def believes_more(self, part: History, doubts: frozenset[tuple[str, object]]) -> bool:
        """Whether a claim that a key of the whole contradicts would be believed in the part.

        Then the part could break a level by an order of versions that is none in the whole.
        """
        left = {(why, key) for why, key in doubts if key in part.keys}
        return bool(left) and not left <= self.doubts(part)

    def _broken(self, history: History, level: Level | None) -> Verdict:
        """The verdict on the level, or on the weakest violated one. Raises ValueError if none is violated."""
        levels = None if level is None else [level]
        report = check(history, levels, method=self.method, assume=self.assume)
        if not report.weakest_violated:
            raise ValueError(f"nothing to shrink: {_why_not(report.verdicts[0] if level else None)}")
        return report[report.weakest_violated[0]]


def _why_not(verdict: Verdict | None) -> str:
    if verdict is None:
        return "no level is violated"
    if verdict.outcome is Outcome.UNKNOWN:
        return f"{verdict.level} is unknown: {verdict.reason}"
    return f"{verdict.level} {verdict.outcome}"
