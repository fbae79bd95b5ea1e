"""The registry of rules, and short ways to write a history and to judge it."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from isoscope import formats
from isoscope.checkers import check
from isoscope.formats.source import File, Input
from isoscope.reference import weak

if TYPE_CHECKING:
    from isoscope.history import History

Test = Callable[[], None]
RULES: list[tuple[str, str, Test]] = []


def rule(heading: str, quote: str) -> Callable[[Test], Test]:
    """Registers a test of the paragraph under `heading`, which says `quote`."""

    def register(test: Test) -> Test:
        RULES.append((heading, quote, test))
        return test

    return register


def read(text: str, name: str = "plume") -> History:
    source = Input("<text>", (File.streamed("<text>", io.BytesIO(text.replace(" ; ", "\n").encode())),))
    return formats.find(name).read(source)


def edn(*transactions: str) -> History:
    """A Jepsen history from lines such as `ok 0 [:append :x 1]`, or `init 0 {:x 1}`."""
    lines = []
    for line in transactions:
        kind, process, operations = line.split(maxsplit=2)
        if kind == "init":
            lines.append(f"{{:type :ok, :process {process}, :f :init, :value {operations}}}")
            continue
        lines.append(f"{{:type :{kind}, :process {process}, :value [{operations}]}}")
    return read("\n".join(lines), "jepsen")


def names(history: History) -> dict[str, int]:
    """The anomalies found, with their numbers."""
    found: dict[str, int] = {}
    for verdict in check(history, ["pl-2", "cut-isolation"]).verdicts:
        found |= verdict.anomaly_counts
    return found


def weakly(history: History) -> dict[str, int]:
    """The anomalies that the specification of the weak levels finds, with their numbers."""
    found = weak.judge(history)
    return dict(
        Counter(one.name for part in (found.reads, found.affected_reads, found.components) for one in part)
    )


def broken(history: History) -> str:
    """The weak levels that the specification finds violated, weak ones first."""
    found = weak.judge(history).outcomes
    return " ".join(level for level, outcome in found.items() if outcome == "violated")


def outcome(history: History, level: str) -> str:
    return str(check(history, [level]).verdicts[0].outcome)
