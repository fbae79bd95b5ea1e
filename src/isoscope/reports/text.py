"""The verdicts as text for a terminal: plain words, no colour needed."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from isoscope.explain import message
from isoscope.levels import Level
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.verdict import Anomaly, Report, Verdict

__all__ = ["paragraph", "render_text"]

_MARGIN = 12
#: More levels with one reason are counted, not listed.
_FEW = 4
#: What most people ask for; these stand for a longer list.
WELL_KNOWN = (
    Level.READ_COMMITTED,
    Level.READ_ATOMIC,
    Level.CAUSAL,
    Level.SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE,
)


def render_text(report: Report, *, width: int = 100) -> str:
    """The report; lines are no longer than `width` where words allow it."""
    blocks = [
        _heading(report),
        "\n".join(_outcomes(report, width)),
        *_anomalies(report, width),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _heading(report: Report) -> str:
    history = report.history
    sizes = ", ".join(_count(history, name) for name in ("sessions", "transactions", "operations", "keys"))
    ends = "".join(f", {history[name]:,} {name}" for name in ("aborted", "indeterminate") if history[name])
    evidence = ", ".join(map(str, history["evidence"]))  # type: ignore[call-overload]
    lines = [f"{history['path']} ({history['format']}): {sizes}{ends}", f"evidence: {evidence}"]
    return "\n".join([*lines, *(f"assumed: {assumption}" for assumption in report.assumptions)])


def _count(history: Mapping[str, object], name: str) -> str:
    number = history[name]
    return f"{number:,} {name.removesuffix('s') if number == 1 else name}"


def _outcomes(report: Report, width: int) -> Iterator[str]:
    """One line an outcome; a level that others follow from stands for them."""
    holds, violated = report.levels(Outcome.HOLDS), report.levels(Outcome.VIOLATED)
    if violated:
        yield _row("violated", _with_rest(report.weakest_violated, violated, "stronger"), width)
    if holds:
        yield _row("holds", _with_rest(report.strongest_holding, holds, "weaker"), width)
    unknown: dict[str, list[str]] = {}
    for verdict in report.verdicts:
        if verdict.outcome is Outcome.UNKNOWN:
            unknown.setdefault(verdict.reason, []).append(str(verdict.level))
    for reason, levels in unknown.items():
        listed = ", ".join(levels) if len(levels) <= _FEW else f"{len(levels)} levels"
        yield _row("unknown", f"{listed}: {reason}", width)


def _with_rest(first: Sequence[Level], every: Sequence[Level], side: str) -> str:
    """The levels that decide, and those that follow from them: all of a few, the best known of many."""
    rest = [level for level in every if level not in first]
    chosen = ", ".join(first)
    if not rest:
        return chosen
    if len(rest) <= _FEW:
        return f"{chosen}, and so {', '.join(rest)}"
    known = ", ".join(level for level in WELL_KNOWN if level in rest)
    return f"{chosen}, and so {len(rest)} {side} levels ({known}, ...)"


def paragraph(text: str, *, width: int = 100, head: str = "", margin: int = 0) -> str:
    """`text` in lines of `width`, indented by `margin`, with `head` in the margin of the first one.

    Names and places are never broken.
    """
    return textwrap.fill(
        text,
        width,
        initial_indent=f"{head:<{margin}}",
        subsequent_indent=" " * margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _row(head: str, text: str, width: int) -> str:
    return paragraph(text, width=width, head=f"  {head}", margin=_MARGIN)


def _anomalies(report: Report, width: int) -> Iterator[str]:
    """Each name once, with its count and the first of its counterexamples."""
    counts: dict[str, int] = {}
    examples: dict[str, tuple[Anomaly, ...]] = {}
    for verdict in report.verdicts:
        counts |= verdict.anomaly_counts
        for name in verdict.anomaly_counts:
            examples[name] = _named(verdict, name)
    for name, count in counts.items():
        shown = [
            paragraph(message(anomaly), width=width, head="  - ", margin=4) for anomaly in examples[name]
        ]
        more = count - len(shown)
        if more > 0:
            shown.append(f"  ... and {more:,} more")
        yield "\n".join([f"{name}: {count:,} found", *shown])


def _named(verdict: Verdict, name: str) -> tuple[Anomaly, ...]:
    return tuple(anomaly for anomaly in verdict.anomalies if anomaly.name == name)
