"""The page of a campaign: which anomalies were seen at which isolation of which database, and findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.explain.value_text import enumeration
from isoscope.reports.plain_text import counted
from isoscope.reports.template_engine import asset, content_hash, render_template
from isoscope.verdict import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CampaignFinding",
    "CampaignRow",
    "campaign_answer",
    "campaign_outcome",
    "render_campaign",
    "render_campaign_markdown",
]

_BROKEN, _SEEN, _NOT_SEEN = "broken", "seen", "not seen"
_REAL_TIME, _VARIANTS = "-real-time", ("-session", "-cm", "-co")
#: What `CampaignRow.outcome` says, from the worst on.
_WORST_FIRST = ("broken", "not decided", "did not run")
#: More rows than this are not named in the answer.
_MAX_NAMES = 3
_LEGEND = (
    "*seen*: the anomaly occurred, and what is promised allows it; **broken**: it breaks what is promised; "
    "*-*: it was not seen in these runs, which proves nothing."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRow:
    """A database at one isolation, with or without faults, over all its runs.

    `seen` has the names of anomalies, `broken` those that break a promise. `problems` are of runs that did
    not end as they should.
    """

    database: str
    isolation: str
    faults: str
    runs: int
    committed: int
    promises: str
    outcome: str
    seen: frozenset[str]
    broken: frozenset[str]
    problems: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The database, its isolation and the faults, inside a sentence."""
        return f"{self.database} at {self.isolation}" + (f" with {self.faults}" if self.faults else "")

    def cell(self, column: str) -> str:
        """The result for the anomalies of one column."""
        if column in map(_column, self.broken):
            return _BROKEN
        return _SEEN if column in map(_column, self.seen) else _NOT_SEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFinding:
    """A finding: an anomaly of one shape, and the links to its report and its history."""

    database: str
    isolation: str
    anomaly: str
    level: str
    pattern: str
    is_broken: bool
    transactions: int
    report: str
    history: str


def campaign_outcome(rows: Sequence[CampaignRow]) -> Decision:
    """No if one row broke its promise, else not decided if one is not decided or did not run, else yes."""
    outcomes = {row.outcome for row in rows}
    if "broken" in outcomes:
        return Decision.NO
    return Decision.NOT_DECIDED if outcomes & {*_WORST_FIRST} or not rows else Decision.YES


def campaign_answer(rows: Sequence[CampaignRow], findings: Sequence[CampaignFinding], left: int = 0) -> str:
    """The answer in one sentence, and what it rests on; `left` runs of the grid were not made."""
    made = counted(sum(row.runs for row in rows), "run")
    counts = [made, *([f"{left:,} left"] if left else []), counted(len(findings), "finding")]
    worst = next((one for one in _WORST_FIRST if any(row.outcome == one for row in rows)), "")
    names = [row.name for row in rows if row.outcome == worst]
    others = [f"{len(names) - _MAX_NAMES:,} more"] if len(names) > _MAX_NAMES else []
    shown = enumeration([*names[:_MAX_NAMES], *others]) if names else ""
    promise = "its promise" if len(names) == 1 else "their promises"
    said = {
        "broken": f"No. {shown} broke {promise}",
        "not decided": f"Not decided: whether {shown} kept {promise}",
        "did not run": f"Not decided: {shown} did not run",
        "": f"Yes. Every promise was kept{' so far' * bool(left)}"
        if rows
        else "Not decided: nothing was run",
    }
    return f"{said[worst]} ({', '.join(counts)})."


def _columns(rows: Sequence[CampaignRow]) -> list[str]:
    return sorted({_column(name) for row in rows for name in row.seen})


def _column(anomaly: str) -> str:
    """The column of an anomaly: its variants by session order share one, all of real time another."""
    if anomaly.endswith(_REAL_TIME):
        return "only in real time"
    return next((anomaly.removesuffix(one) for one in _VARIANTS if anomaly.endswith(one)), anomaly)


def render_campaign(
    title: str, rows: Sequence[CampaignRow], findings: Sequence[CampaignFinding], left: int = 0
) -> str:
    """The page as one HTML file."""
    style = asset("assets/page.css")
    return render_template(
        "campaign.html.j2",
        title=title,
        policy=f"default-src 'none'; style-src {content_hash(style)}",
        style=style,
        rows=rows,
        columns=_columns(rows),
        findings=findings,
        answer=campaign_answer(rows, findings, left),
        outcome=campaign_outcome(rows),
    )


def render_campaign_markdown(rows: Sequence[CampaignRow], findings: Sequence[CampaignFinding]) -> str:
    """Both tables in Markdown."""
    columns = _columns(rows)
    head = ["database", "isolation", "faults", "committed", "promise", *columns]
    table = [
        [
            f"`{row.database}`",
            row.isolation,
            row.faults or "-",
            f"{row.committed:,}",
            f"{row.promises or 'nothing'}: {row.outcome}",
            *({_BROKEN: "**broken**", _SEEN: "seen", _NOT_SEEN: "-"}[row.cell(name)] for name in columns),
        ]
        for row in rows
    ]
    found = [
        [
            f"`{one.database}`",
            one.isolation,
            one.anomaly,
            one.level,
            one.pattern or "-",
            f"[{one.transactions} transactions]({one.report})" if one.report else str(one.transactions),
        ]
        for one in findings
    ]
    names = ["database", "isolation", "anomaly", "weakest level that it breaks", "steps", "smallest example"]
    return "\n\n".join([_LEGEND, _table(head, table), _table(names, found)]) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
