"""The mechanisms of a profile in words: their outcomes, the checks made, the checks left open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.value_text import enumeration
from isoscope.reports.plain_text import counted
from isoscope.verdict import Mechanism, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verdict import Dependencies, Mechanisms, MechanismVerdict, Report

__all__ = ["HEADS", "answer", "beta", "checks", "depends", "rows", "units", "unverified"]

#: Heads of rows that are no outcome.
HEADS = ("wr", "ww", "rw", "open")
#: The unit that each mechanism checks, in singular and plural.
_UNITS = {
    Mechanism.CONSISTENT_READ: ("read", "reads"),
    Mechanism.MUTUAL_EXCLUSION: ("lock", "locks"),
    Mechanism.FIRST_UPDATER_WINS: ("write", "writes"),
    Mechanism.SERIALIZATION_CERTIFIER: ("transaction", "transactions"),
    Mechanism.AGREEMENT: ("order of two versions", "orders of two versions"),
}


def answer(report: Report) -> str:
    """Whether the mechanisms were at work, on one line; empty without a profile."""
    found = report.mechanisms
    if found is None:
        return ""
    broken = [str(verdict.mechanism) for verdict in found.verdicts if verdict.outcome is Outcome.VIOLATED]
    if broken and broken != [Mechanism.AGREEMENT]:
        return f"{found.title} broke {enumeration(broken)}"
    if broken:
        return f"{found.title}: its mechanisms contradict each other"
    if levels := [level for level in report.weakest_violated if level in report.demanded]:
        return f"{found.title}: no mechanism is convicted, but {enumeration(levels)} is violated"
    return f"{found.title}: {_at_work(found)}"


def _at_work(found: Mechanisms) -> str:
    """The answer if no mechanism is violated."""
    if _is_silent(found):
        return "nothing shows whether its mechanisms were at work"
    is_open = any(verdict.outcome is Outcome.UNKNOWN for verdict in found.verdicts)
    return f"its mechanisms were at work{' wherever intervals decide it' if is_open else ''}"


def _is_silent(found: Mechanisms) -> bool:
    return any(verdict.outcome is Outcome.UNKNOWN and not verdict.checked for verdict in found.verdicts)


def rows(found: Mechanisms) -> Iterator[tuple[str, str]]:
    """Head and text of each row: the mechanisms, the dependencies, the checks left open."""
    for verdict in found.verdicts:
        yield str(verdict.outcome), f"{verdict.mechanism}: {checks(verdict)}"
    for row in found.dependencies:
        yield row.kind, depends(row)
    if open_ := unverified(found):
        yield "open", f"not verified: {open_}"


def checks(verdict: MechanismVerdict) -> str:
    """How many checks of a mechanism were made, how many failed, and how many are open."""
    if verdict.outcome is Outcome.UNKNOWN and not verdict.checked:
        return verdict.reason
    if not verdict.checked and not verdict.anomaly_counts:
        return "nothing to check"
    said = [f"{units(verdict)} checked"]
    said += [f"{count:,} {name}" for name, count in verdict.anomaly_counts.items()]
    if verdict.undecided:
        said.append(f"{verdict.undecided:,} may be right or wrong: intervals overlap")
    elif verdict.reason:
        said.append(verdict.reason)
    return ", ".join(said)


def units(verdict: MechanismVerdict) -> str:
    """The number of checks with their unit."""
    return counted(verdict.checked, *_UNITS[verdict.mechanism])


def depends(row: Dependencies) -> str:
    """The number of dependencies, and of those whose order is open."""
    known = counted(row.total, "dependency", "dependencies")
    if not row.total:
        return known
    open_ = f"{row.overlapping:,} with intervals that overlap, {row.uncertain:,} uncertain"
    return f"{known}, {open_} (beta {100 * beta(row):.3g} %)"


def beta(row: Dependencies) -> float:
    """The share of dependencies that stay uncertain (Li et al. 2023)."""
    return round(row.uncertain / row.total, 6) if row.total else 0.0


def unverified(found: Mechanisms) -> str:
    """The number of checks that the intervals leave open; empty if there are none."""
    left = [f"{verdict.undecided:,} of {units(verdict)}" for verdict in found.verdicts if verdict.undecided]
    uncertain = [f"{row.uncertain:,} {row.kind}" for row in found.dependencies if row.uncertain]
    if uncertain:
        left.append(f"whatever rests on {enumeration(uncertain)} that may be either way round")
    return "; ".join(left)
