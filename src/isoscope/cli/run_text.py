"""The text of a run: workload, rate and the verification."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from isoscope.cli.progress import rate
from isoscope.explain import harmless
from isoscope.reports.plain_text import counted
from isoscope.run import VerifiedSummary

if TYPE_CHECKING:
    from isoscope.run import CompletedRun, SentSummary, VerificationProgress

__all__ = ["description", "faults_line", "rate_line", "summary_text", "verification_text"]

#: Reasons of aborts that are shown.
_MAX_REASONS = 3
#: Aborts for each commit from which on a hint is given.
_MANY_ABORTS = 3


def description(completed: CompletedRun) -> tuple[str, str]:
    """What ran: a head and a text."""
    plan = completed.plan
    options = "".join(f", {name}={value}" for name, value in plan.settings.items())
    count = plan.clients.sessions
    sessions = counted(count, "session")
    nodes = completed.run.nodes
    sessions += f" at {counted(len(nodes), 'node')}" if nodes else ""
    return (
        harmless(f"{completed.run.database}, {completed.isolation}{options}"),
        f"{plan.workload}, {sessions}, seed {plan.seed}",
    )


def rate_line(completed: CompletedRun) -> tuple[str, str]:
    """How fast it was: a head and a text."""
    progress = completed.run.progress
    counts = [
        f"{progress.committed:,} committed in {progress.seconds:.1f} s"
        f" ({rate(progress.committed, progress.seconds)})",
        f"{progress.aborted:,} aborted",
        f"{progress.indeterminate:,} indeterminate",
    ]
    is_contended = progress.aborted > _MANY_ABORTS * progress.committed > 0
    hint = "; most conflict: fewer --sessions or more keys let more commit" if is_contended else ""
    return "rate", ", ".join(counts) + _reasons(completed) + hint


def faults_line(completed: CompletedRun) -> tuple[str, str]:
    """How often each fault was injected, and what did not work again: a head and a text."""
    faults = completed.run.faults
    counts = Counter(fault.kind for fault in faults)
    said = [f"{kind} {count:,}" for kind, count in sorted(counts.items())]
    remarks = [f"{fault.kind} of {fault.node}: {harmless(fault.remark)}" for fault in faults if fault.remark]
    rest = len(remarks) - _MAX_REASONS
    more = [counted(rest, "more remark")] if rest > 0 else []
    return "faults", "; ".join([", ".join(said) or "none", *remarks[:_MAX_REASONS], *more])


def _reasons(completed: CompletedRun) -> str:
    """Why transactions did not commit, the most frequent reasons first."""
    reasons = completed.run.reasons
    shown = [f"{harmless(reason)}: {count:,}" for reason, count in reasons.most_common(_MAX_REASONS)]
    rest = len(reasons) - len(shown)
    more = [counted(rest, "more reason")] if rest else []
    return f" ({', '.join([*shown, *more])})" if shown else ""


def verification_text(progress: VerificationProgress) -> str:
    """How far a verification is, and how far behind the run."""
    behind = "" if progress.behind is None else f", {progress.behind:.1f} s behind"
    violations = f", {counted(progress.violations, 'violation')}" if progress.violations else ""
    return f"verified {progress.verified:,} of {progress.ended:,}{behind}{violations}"


def summary_text(summary: VerifiedSummary | SentSummary, seconds: float) -> str:
    """The result of a verification during a run of so many seconds."""
    share = 100 * summary.held_up / (seconds or 1)
    held_up = f"sessions were held up for {summary.held_up:.2f} s in all ({share:.1f} % of the run)"
    if isinstance(summary, VerifiedSummary):
        return (
            f"live: {verification_text(summary.at_end)} when the run ended, all {summary.seconds:.2f} s "
            f"later, against {summary.profile}; {held_up}"
        )
    left_out = f", {summary.left_out:,} left out" if summary.left_out else ""
    return f"live: {counted(summary.transactions, 'transaction')} told to {summary.url}{left_out}; {held_up}"
