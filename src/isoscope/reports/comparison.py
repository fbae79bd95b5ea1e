"""Two runs side by side: the levels that only one of them breaks, and how their numbers differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoscope import __version__, levels
from isoscope.explain import harmless, shown
from isoscope.explain.value_text import duration
from isoscope.levels import Level
from isoscope.reports.activity import activity_document, percent
from isoscope.reports.findings import SIZES
from isoscope.reports.plain_text import counted
from isoscope.reports.terminal import paragraph, table
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from isoscope.activity import Activity
    from isoscope.verdict import Report

__all__ = ["Comparison", "Run"]

_ABSENT = "-"
_IN_NEITHER = [_ABSENT, _ABSENT]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One history: its report and its activity."""

    report: Report
    activity: Activity

    @property
    def outcomes(self) -> Mapping[Level, Outcome]:
        """The answer for each level."""
        return {verdict.level: verdict.outcome for verdict in self.report.verdicts}

    @property
    def anomalies(self) -> Mapping[str, int]:
        """How often each anomaly was found."""
        counts: dict[str, int] = {}
        for verdict in self.report.verdicts:
            for name, count in verdict.anomaly_counts.items():
                counts[name] = max(count, counts.get(name, 0))
        return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Run `a`, say yesterday's, and run `b`, today's."""

    a: Run
    b: Run

    @property
    def regressions(self) -> tuple[Level, ...]:
        """The levels that B violates and A is not known to violate."""
        return tuple(
            level for level, (a, b) in self._levels().items() if b is Outcome.VIOLATED and a is not b
        )

    def document(self) -> dict[str, Any]:
        """The comparison as data."""
        return {
            "isoscope": __version__,
            "comparison": {
                "a": _side(self.a),
                "b": _side(self.b),
                "regressions": [str(level) for level in self.regressions],
                "levels": [
                    {"level": str(level), "a": _outcome(a), "b": _outcome(b)}
                    for level, (a, b) in self._levels().items()
                ],
                "anomalies": [{"name": name, "a": a, "b": b} for name, a, b in self._anomalies()],
            },
        }

    def render_text(self, *, width: int = 100) -> str:
        """The differences in words, then tables."""
        blocks = [
            "\n".join(paragraph(line, width=width) for line in self._differences()),
            "\n".join(
                f"{name}: {harmless(str(run.report.history['path']))}"
                for name, run in zip("AB", (self.a, self.b), strict=True)
            ),
            _table(["level", "A", "B"], self._level_rows(), width),
            _table(["anomaly", "A", "B"], self._anomaly_rows(), width),
            _table(["", "A", "B"], [row for row in self._numbers() if row[1:] != _IN_NEITHER], width),
            paragraph(self._not_compared(), width=width),
        ]
        return "\n\n".join(block for block in blocks if block) + "\n"

    def _levels(self) -> dict[Level, tuple[Outcome | None, Outcome | None]]:
        """Both outcomes of each level that has one, in the order of `Level`."""
        a, b = self.a.outcomes, self.b.outcomes
        return {level: (a.get(level), b.get(level)) for level in Level if level in a or level in b}

    def _anomalies(self) -> list[tuple[str, int, int]]:
        a, b = self.a.anomalies, self.b.anomalies
        return [(name, a.get(name, 0), b.get(name, 0)) for name in sorted({*a, *b})]

    def _differences(self) -> Iterator[str]:
        """A sentence for each pair of outcomes that differ; levels with equal outcomes are counted."""
        both = self._levels()
        for (a, b), sentence in _SENTENCES.items():
            if found := [level for level, outcomes in both.items() if outcomes == (a, b)]:
                yield sentence.format(levels=_deciding(found, is_broken=Outcome.VIOLATED in (a, b)))
        alike = [a for a, b in both.values() if a is b]
        if len(alike) == len(both):
            yield "A and B agree on every level."
        elif alike:
            yield f"A and B agree on {len(alike)} of {counted(len(both), 'level')}."

    def _level_rows(self) -> list[list[str]]:
        rows = self._levels().items()
        return [
            [str(level), _outcome(a) or _ABSENT, _outcome(b) or _ABSENT]
            for level, (a, b) in rows
            if a is not b
        ]

    def _anomaly_rows(self) -> list[list[str]]:
        return [[name, f"{a:,}", f"{b:,}"] for name, a, b in self._anomalies()]

    def _numbers(self) -> Iterator[list[str]]:
        for name in SIZES:
            yield [name, *(f"{run.report.history[name]:,}" for run in (self.a, self.b))]
        yield ["evidence", *map(_evidence, (self.a, self.b))]
        for name, number in _NUMBERS.items():
            yield [name, *(number(run.activity) or _ABSENT for run in (self.a, self.b))]

    def _not_compared(self) -> str:
        names = [row[0] for row in self._numbers() if row[1:] == _IN_NEITHER]
        return f"in neither run: {'; '.join(names)}" if names else ""


#: The sentence for two outcomes that differ.
_SENTENCES: Mapping[tuple[Outcome | None, Outcome | None], str] = {
    (Outcome.HOLDS, Outcome.VIOLATED): "B breaks {levels}; A does not.",
    (Outcome.UNKNOWN, Outcome.VIOLATED): "B breaks {levels}; whether A does is unknown.",
    (None, Outcome.VIOLATED): "B breaks {levels}; the evidence of A does not speak of it.",
    (Outcome.VIOLATED, Outcome.HOLDS): "A breaks {levels}; B does not.",
    (Outcome.VIOLATED, Outcome.UNKNOWN): "A breaks {levels}; whether B does is unknown.",
    (Outcome.VIOLATED, None): "A breaks {levels}; the evidence of B does not speak of it.",
    (Outcome.HOLDS, Outcome.UNKNOWN): "A keeps {levels}; whether B does is unknown.",
    (Outcome.UNKNOWN, Outcome.HOLDS): "B keeps {levels}; whether A does is unknown.",
}


def _deciding(found: Sequence[Level], *, is_broken: bool) -> str:
    """The weakest of broken levels, or the strongest of kept ones; the others are counted."""
    first = levels.weakest(found) if is_broken else levels.strongest(found)
    rest = len(found) - len(first)
    more = f" and so {rest} {'stronger' if is_broken else 'weaker'} level{'s' if rest > 1 else ''}"
    return ", ".join(first) + (f",{more}" if rest else "")


def _evidence(run: Run) -> str:
    kinds = run.report.history["evidence"]
    return ", ".join(kinds) if isinstance(kinds, list) else ""


def _percentile(name: str) -> Callable[[Activity], str]:
    return lambda found: duration(getattr(found.latency, name)) if found.latency else ""


def _busiest(found: Activity) -> str:
    """The key that most transactions use, and their share."""
    if not found.keys or not (every := found.total("transactions") + found.untimed):
        return ""
    return f"{shown(found.keys[0].key)}: {percent(found.keys[0].transactions / every)}"


_NUMBERS: Mapping[str, Callable[[Activity], str]] = {
    "abort rate": lambda found: percent(found.share("aborted")),
    "indeterminate": lambda found: percent(found.share("indeterminate")),
    "latency p50": _percentile("p50"),
    "latency p95": _percentile("p95"),
    "latency p99": _percentile("p99"),
    "latency max": _percentile("max"),
    "committed a second": lambda found: "" if found.throughput is None else f"{found.throughput:,.0f}",
    "under way, mean": lambda found: f"{found.under_way.mean:,.1f}" if found.under_way else "",
    "under way, peak": lambda found: f"{found.under_way.peak:,}" if found.under_way else "",
    "busiest key": _busiest,
}


def _side(run: Run) -> dict[str, Any]:
    activity = activity_document(run.activity)
    # The numbers of whole runs: `stats --activity` has the parts.
    left_out = ("buckets", "keys_by_use")
    return {
        "history": dict(run.report.history),
        "activity": {name: value for name, value in activity.items() if name not in left_out},
    }


def _outcome(outcome: Outcome | None) -> str | None:
    return None if outcome is None else str(outcome)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """A table of three columns; cells are cut if it would be wider than `width`."""
    if not rows:
        return ""
    longest = max(8, (width - max(len(line[0]) for line in (head, *rows)) - 4) // 2)
    return table([[line[0], *(_cut(cell, longest) for cell in line[1:])] for line in (head, *rows)])


def _cut(cell: str, longest: int) -> str:
    return cell if len(cell) <= longest else f"{cell[: longest - 3]}..."
