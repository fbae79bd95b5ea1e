"""What a run says before its report: what ran, how fast, and whether the database kept its promise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from isoscope import levels as lattice
from isoscope.cli.progress import rate
from isoscope.explain import harmless
from isoscope.verdict import Outcome, Report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.levels import Level
    from isoscope.run import Run

__all__ = ["Promise", "Ran", "judge", "verdict_line"]

#: So many reasons of aborts are told.
_MOST_REASONS = 3
#: So many times as many that abort are worth a remark.
_BUSY = 3


class Promise(StrEnum):
    """What came of a promise."""

    KEPT = "kept"
    BROKEN = "broken"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run, and what it was asked to be."""

    run: Run
    isolation: str
    workload: str
    sessions: int
    seed: int
    settings: Mapping[str, str]
    promises: tuple[Level, ...]

    def lines(self) -> list[tuple[str, str]]:
        """What ran, and how fast: heads and texts."""
        options = "".join(f", {name}={value}" for name, value in self.settings.items())
        sessions = "1 session" if self.sessions == 1 else f"{self.sessions:,} sessions"
        return [
            (
                harmless(f"{self.run.database}, {self.isolation}{options}"),
                f"{self.workload}, {sessions}, seed {self.seed}",
            ),
            ("rate", self._rate()),
        ]

    def _rate(self) -> str:
        progress = self.run.progress
        said = [
            f"{progress.committed:,} committed in {progress.seconds:.1f} s"
            f" ({rate(progress.committed, progress.seconds)})",
            f"{progress.aborted:,} aborted",
            f"{progress.indeterminate:,} indeterminate",
        ]
        return ", ".join(said) + self._reasons() + self._remark()

    def _remark(self) -> str:
        """What to do if the database was mostly busy with conflicts."""
        progress = self.run.progress
        is_busy = progress.aborted > _BUSY * progress.committed > 0
        return "; most conflict: fewer --sessions or more keys let more commit" if is_busy else ""

    def told(self, report: Report) -> Report:
        """The report, with what ran."""
        head, text = self.lines()[0]
        return replace(report, assumptions=(f"recorded from {head}: {text}", *report.assumptions))

    def _reasons(self) -> str:
        """Why transactions did not commit, the most frequent reasons first."""
        found = self.run.reasons.most_common(_MOST_REASONS)
        rest = len(self.run.reasons) - len(found)
        said = [f"{harmless(reason)}: {count:,}" for reason, count in found]
        more = [f"{rest} more reasons"] if rest else []
        return f" ({', '.join([*said, *more])})" if found else ""

    def document(self) -> dict[str, Any]:
        """The same for machines."""
        progress = self.run.progress
        return {
            "database": self.run.database,
            "isolation": self.isolation,
            "settings": dict(self.settings),
            "workload": self.workload,
            "sessions": self.sessions,
            "seed": self.seed,
            "seconds": round(progress.seconds, 6),
            "committed": progress.committed,
            "aborted": progress.aborted,
            "indeterminate": progress.indeterminate,
            "operations": progress.operations,
            "reasons": dict(self.run.reasons.most_common()),
            "promises": [str(level) for level in self.promises],
            "problem": self.run.problem,
            "interrupted": self.run.interrupted,
        }


def judge(promises: Sequence[Level], report: Report) -> Promise:
    """Broken if one promised level is violated, kept if all hold."""
    outcomes = {_settled(level, report) for level in promises}
    if Outcome.VIOLATED in outcomes:
        return Promise.BROKEN
    return Promise.OPEN if Outcome.UNKNOWN in outcomes else Promise.KEPT


def verdict_line(ran: Ran, report: Report) -> tuple[str, str]:
    """The answer to the one question: a head and a text."""
    promises = ran.promises
    if not promises:
        return "promised", "nothing"
    if not ran.run.progress.committed:
        return "not put to the test", "nothing was committed"
    match judge(promises, report):
        case Promise.KEPT:
            return "kept its promise", _joined(promises, "holds", "hold")
        case Promise.BROKEN:
            return "broke its promise", _broken(promises, report)
        case Promise.OPEN:
            return "may have kept its promise", _open(promises, report)


def _settled(promised: Level, report: Report) -> Outcome:
    """What the verdicts say of a promised level, whether it was asked about or follows from others."""
    if any(level in lattice.implied(promised) for level in report.levels(Outcome.VIOLATED)):
        return Outcome.VIOLATED
    if any(promised in lattice.implied(level) for level in report.levels(Outcome.HOLDS)):
        return Outcome.HOLDS
    return Outcome.UNKNOWN


def _broken(promises: Sequence[Level], report: Report) -> str:
    """The promised levels that are violated, and the weakest levels that are so already."""
    broken = [level for level in promises if _settled(level, report) is Outcome.VIOLATED]
    implied = {level for promised in broken for level in lattice.implied(promised)}
    weakest = lattice.weakest([level for level in report.levels(Outcome.VIOLATED) if level in implied])
    further = [level for level in weakest if level not in broken]
    said = _joined(broken, "is violated", "are violated")
    return f"{said}, as {_joined(further, 'is', 'are')}" if further else said


def _open(promises: Sequence[Level], report: Report) -> str:
    open_ = [level for level in promises if _settled(level, report) is Outcome.UNKNOWN]
    asked = {verdict.level: verdict.reason for verdict in report.verdicts}
    reasons = dict.fromkeys(asked.get(level) or "not asked" for level in open_)
    return f"{_joined(open_, 'is unknown', 'are unknown')} ({'; '.join(reasons)})"


def _joined(levels: Sequence[Level], one: str, several: str) -> str:
    *others, last = levels
    if not others:
        return f"{last} {one}"
    return f"{', '.join(others)} and {last} {several}"
