"""The one answer of a report: did this database keep its promise, or does the history satisfy a level?"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope.verdict.answers import Mechanism, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.levels import Level
    from isoscope.verdict.anomaly import Anomaly
    from isoscope.verdict.findings import Finding
    from isoscope.verdict.report import Report

__all__ = ["Answer", "Decision", "Origin", "answer_of"]


class Decision(StrEnum):
    """The answer in a word; `not-asked` if nothing was promised and no level was named."""

    YES = "yes"
    NO = "no"
    NOT_DECIDED = "not-decided"
    NOT_ASKED = "not-asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The database that a history is from: name and version, and its isolation as the vendor calls it.

    `documented` is where the vendor documents the promise. `seconds` and `committed` describe the run, if
    there was one.
    """

    database: str
    isolation: str
    version: str = ""
    documented: str = ""
    seconds: float | None = None
    committed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Yes, no or not decided, with all that the sentence says.

    `levels` are those in question, promised by the database (`is_promise`) or named by the user; without
    them, `holds` and `broken` are the border between the levels that hold and those that are violated.

    `broken` are the levels in question that are violated, `weakest` the weakest violated levels below them,
    `mechanisms` those that did not work, `unknown` the levels in question that nothing decides, for `reason`.
    `broken_by` and `allowed` count anomalies: those that break a level in question, and the others.
    """

    outcome: Decision
    subject: str
    origin: Origin | None
    levels: tuple[Level, ...]
    is_promise: bool
    transactions: int
    holds: tuple[Level, ...] = ()
    broken: tuple[Level, ...] = ()
    weakest: tuple[Level, ...] = ()
    mechanisms: tuple[Mechanism, ...] = ()
    unknown: tuple[Level, ...] = ()
    reason: str = ""
    broken_by: Mapping[str, int] = field(default_factory=dict)
    allowed: Mapping[str, int] = field(default_factory=dict)
    example: Anomaly | None = None

    @property
    def sentence(self) -> str:
        """The answer in words, on one line."""
        from isoscope.verdict.answer_text import sentence  # noqa: PLC0415 - it is about this class

        return sentence(self)

    def __str__(self) -> str:
        return self.sentence


def answer_of(report: Report) -> Answer:
    """The answer that the verdicts of the report give."""
    asked = report.asked or report.promises
    if not asked and report.mechanisms is None:
        return _border(report)
    outcomes = {level: _outcome(level, report) for level in dict.fromkeys((*asked, *report.promises))}
    broken = tuple(level for level, outcome in outcomes.items() if outcome is Outcome.VIOLATED)
    unknown = tuple(level for level in asked if outcomes[level] is Outcome.UNKNOWN)
    mechanisms = _violated_mechanisms(report)
    breaking = [one for one in report.findings if is_breaking(report, one)]
    decision, reason = _decision(report, [*broken, *mechanisms], unknown)
    return Answer(
        outcome=decision,
        reason=reason,
        subject=_subject(report),
        origin=report.origin,
        transactions=_transactions(report),
        levels=asked,
        is_promise=not report.asked,
        broken=broken,
        weakest=_weakest(broken, report),
        mechanisms=mechanisms,
        unknown=unknown,
        broken_by={one.name: one.count for one in breaking},
        allowed={one.name: one.count for one in report.findings if one not in breaking},
        example=next((anomaly for one in breaking for anomaly in one.anomalies), None),
    )


def is_breaking(report: Report, finding: Finding) -> bool:
    """Whether these anomalies break a level in question, or a mechanism."""
    return not finding.levels or any(level in report.demanded for level in finding.levels)


def _subject(report: Report) -> str:
    """The file; standard input and a history in memory have none."""
    path = str(report.history["path"])
    return "the history" if path in ("-", "") or path.startswith("<") else path


def _transactions(report: Report) -> int:
    committed = report.origin.committed if report.origin else None
    return int(str(report.history["transactions"])) if committed is None else committed


def _decision(report: Report, broken: Sequence[object], unknown: Sequence[Level]) -> tuple[Decision, str]:
    """The decision, and the reason if there is none."""
    if report.origin is not None and report.origin.committed == 0:
        return Decision.NOT_DECIDED, "nothing was committed"
    if broken:
        return Decision.NO, ""
    silent = _silence(report)
    if not report.verdicts and (left := _undecided(report)):
        return Decision.NOT_DECIDED, silent or left
    if report.verdicts and unknown:
        reasons = {verdict.level: verdict.reason for verdict in report.verdicts}
        told = dict.fromkeys(reasons.get(level) or "it was not checked" for level in unknown)
        return Decision.NOT_DECIDED, "; ".join(told)
    return (Decision.NOT_DECIDED, silent) if silent else (Decision.YES, "")


def _silence(report: Report) -> str:
    """Why nothing is known about a mechanism; empty if something was checked of each."""
    verdicts = report.mechanisms.verdicts if report.mechanisms else ()
    silent = [one.reason for one in verdicts if one.outcome is Outcome.UNKNOWN and not one.checked]
    return silent[0] if silent else ""


def _undecided(report: Report) -> str:
    """How many checks of mechanisms are open; empty if all are decided."""
    verdicts = report.mechanisms.verdicts if report.mechanisms else ()
    left = sum(one.undecided for one in verdicts)
    is_open = any(one.outcome is Outcome.UNKNOWN for one in verdicts)
    return f"no violation was found; {left:,} checks depend on intervals that overlap" if is_open else ""


def _violated_mechanisms(report: Report) -> tuple[Mechanism, ...]:
    verdicts = report.mechanisms.verdicts if report.mechanisms else ()
    return tuple(one.mechanism for one in verdicts if one.outcome is Outcome.VIOLATED)


def _outcome(promised: Level, report: Report) -> Outcome:
    """The outcome of a level, from its own verdict or from those of other levels."""
    if any(level in lattice.implied(promised) for level in report.levels(Outcome.VIOLATED)):
        return Outcome.VIOLATED
    if any(promised in lattice.implied(level) for level in report.levels(Outcome.HOLDS)):
        return Outcome.HOLDS
    return Outcome.UNKNOWN


def _weakest(broken: Sequence[Level], report: Report) -> tuple[Level, ...]:
    implied = {level for promised in broken for level in lattice.implied(promised)}
    weakest = lattice.weakest([level for level in report.levels(Outcome.VIOLATED) if level in implied])
    return tuple(level for level in weakest if level not in broken)


def _border(report: Report) -> Answer:
    """Without a question: the strongest level that holds and the weakest that is violated.

    The best known levels stand for all, if one of them holds or is violated.
    """
    outcomes = {verdict.level: verdict.outcome for verdict in report.verdicts}
    holds = [level for level in lattice.LADDER if outcomes.get(level) is Outcome.HOLDS]
    broken = [level for level in lattice.LADDER if outcomes.get(level) is Outcome.VIOLATED]
    open_ = [level for level in lattice.LADDER if outcomes.get(level) is Outcome.UNKNOWN]
    return Answer(
        outcome=Decision.NOT_ASKED,
        subject=_subject(report),
        origin=report.origin,
        transactions=_transactions(report),
        levels=(),
        is_promise=False,
        holds=tuple(holds[-1:]) or report.strongest_holding,
        broken=tuple(broken[:1]) or report.weakest_violated,
        unknown=tuple(open_[-1:]),
        broken_by={one.name: one.count for one in report.findings},
        example=next((anomaly for one in report.findings for anomaly in one.anomalies), None),
    )
