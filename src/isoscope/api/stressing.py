"""Stress the transactions of a program: run each pair of them against each other, and check what happened."""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

from isoscope import formats
from isoscope import levels as lattice
from isoscope.checkers import check
from isoscope.errors import UsageError
from isoscope.explain import Remedy, suggestions
from isoscope.history import History
from isoscope.record import Change, Interleaving, record
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from isoscope.explain import Suggestion
    from isoscope.levels import Level
    from isoscope.record import Recorded, Round
    from isoscope.verdict import Anomaly, Report

__all__ = ["Stress", "StressFinding", "StressResult", "stress"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StressFinding:
    """An interleaving that broke the level.

    `stopped` was stopped in its gap number `gap` while `other` ran. `suggestion` prevents it: the same
    interleaving was run again with that change and did not break the level; None if no change was found
    that does. `recorded` is the content of the file that `isoscope check` reads.
    """

    stopped: str
    other: str
    gap: int
    history: History
    recorded: bytes
    report: Report
    suggestion: Suggestion | None

    @property
    def anomaly(self) -> Anomaly:
        """The first anomaly that was found."""
        return next(iter(self.report.findings)).anomalies[0]


@dataclass(slots=True, kw_only=True)
class StressResult:
    """What a stress test found in `rounds` interleavings; `undecided` of them could not be decided."""

    level: Level
    findings: list[StressFinding] = field(default_factory=list)
    rounds: int = 0
    undecided: int = 0
    reasons: dict[str, None] = field(default_factory=dict)
    is_complete: bool = True

    @property
    def outcome(self) -> Outcome:
        """Violated if an interleaving broke the level; unknown if some were not decided or not run."""
        if self.findings:
            return Outcome.VIOLATED
        return Outcome.UNKNOWN if self.undecided or not self.is_complete else Outcome.HOLDS


def stress(  # noqa: PLR0913 - all but the first have defaults
    transactions: Sequence[Callable[[], Any]],
    *,
    setup: Callable[[], Any] | None = None,
    level: Level | str = "serializable",
    seed: int = 0,
    max_seconds: float = 30.0,
    find_all: bool = False,
) -> StressResult:
    """Run every pair of transactions against each other, and check each interleaving.

    transactions  callables, each of which runs one transaction, or several, of the program
    setup         makes the rows that they need; called before each interleaving
    level         the level that every interleaving must satisfy
    seed          decides the order of the pairs
    max_seconds   no interleaving begins after this time
    find_all      go on after the first interleaving that breaks the level

    Connections that were made before are not recorded: dispose of pools first.
    """
    with Stress(transactions, setup=setup, level=level) as test:
        return test.run(seed=seed, max_seconds=max_seconds, find_all=find_all)


class Stress:
    """A stress test; connections are recorded from the moment that it is entered."""

    def __init__(
        self,
        transactions: Sequence[Callable[[], Any]] = (),
        *,
        setup: Callable[[], Any] | None = None,
        level: Level | str = "serializable",
    ) -> None:
        self.transactions = _named(transactions)
        self.setup = setup
        self.level = lattice.parse(str(level))
        self._interleaving = Interleaving()
        self._stack = ExitStack()

    def __enter__(self) -> Stress:
        self._recorded: Recorded = self._stack.enter_context(record(hook=self._interleaving))
        self._folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="isoscope-")))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def take(self, transactions: Sequence[Callable[[], Any]], setup: Callable[[], Any] | None) -> None:
        """The transactions of a program that was imported only now."""
        self.transactions, self.setup = _named(transactions), setup

    def run(self, *, seed: int = 0, max_seconds: float = 30.0, find_all: bool = False) -> StressResult:
        """Every pair, and every gap of the transaction that is stopped."""
        deadline, result = monotonic() + max_seconds, StressResult(level=self.level)
        for name in self.transactions:
            self._run_alone(name)
        pairs = [(one, other) for one in self.transactions for other in self.transactions]
        random.Random(seed).shuffle(pairs)
        for stopped, other in pairs:
            for finding in self._pair(stopped, other, result, deadline):
                result.findings.append(finding)
                if not find_all:
                    return result
        return result

    def _run_alone(self, name: str) -> None:
        """A transaction that fails by itself, or is not recorded, would make every answer worthless."""
        self._prepare()
        started = monotonic()
        try:
            self.transactions[name]()
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            raise UsageError(f"the transaction {name} fails when it runs alone: {problem}") from error
        self._interleaving.took_alone(monotonic() - started)
        if not self._recorded.count:
            raise UsageError(
                f"the transaction {name} ran, and no statement of it was recorded\n\n"
                "hint: its connection was made before, or by a driver that is not recorded"
            )

    def _pair(
        self, stopped: str, other: str, result: StressResult, deadline: float
    ) -> Iterator[StressFinding]:
        gap = 0
        while True:
            if monotonic() > deadline:
                result.is_complete = False
                return
            happened, history = self._round(stopped, other, gap)
            if not happened.has_gap:
                return
            result.rounds += 1
            report = self._check(history)
            verdict, recorded = report.verdicts[0], (self._folder / "interleaving.program").read_bytes()
            if verdict.outcome is Outcome.UNKNOWN:
                result.undecided += 1
                result.reasons[verdict.reason] = None
            if verdict.outcome is Outcome.VIOLATED:
                found = self._tested(stopped, other, gap, report)
                yield StressFinding(
                    stopped=stopped,
                    other=other,
                    gap=gap,
                    history=history,
                    recorded=recorded,
                    report=report,
                    suggestion=found,
                )
                return
            gap += 1

    def _round(self, stopped: str, other: str, gap: int) -> tuple[Round, History]:
        self._prepare()
        happened = self._interleaving.run(self.transactions[stopped], self.transactions[other], gap)
        path = self._recorded.save(self._folder / "interleaving.program")
        history = formats.load(path)
        return happened, History(history.columns, replace(history.source, path=f"{stopped} and {other}"))

    def _prepare(self) -> None:
        if self.setup is not None:
            self.setup()
        self._recorded.restart()

    def _check(self, history: History) -> Report:
        return check(history, [self.level], max_anomalies=1)

    def _tested(self, stopped: str, other: str, gap: int, report: Report) -> Suggestion | None:
        """The first suggestion with which the same interleaving does not break the level."""
        anomaly = next(iter(report.findings)).anomalies[0]
        for suggestion in suggestions(anomaly):
            self._interleaving.change = _change(suggestion)
            try:
                happened, history = self._round(stopped, other, gap)
            finally:
                self._interleaving.change = Change()
            is_useful = None in happened.errors and len(history) > 0
            if is_useful and self._check(history).verdicts[0].outcome is Outcome.HOLDS:
                return suggestion
        return None


def _change(suggestion: Suggestion) -> Change:
    if suggestion.remedy is Remedy.SERIALIZABLE:
        return Change(level="SERIALIZABLE")
    return Change(locked=frozenset(sql for sql, _ in suggestion.statements))


def _named(transactions: Sequence[Callable[[], Any]]) -> Mapping[str, Callable[[], Any]]:
    names = [getattr(one, "__name__", f"transaction {number}") for number, one in enumerate(transactions, 1)]
    if len(set(names)) < len(names):
        names = [f"{name} {number}" for number, name in enumerate(names, 1)]
    return dict(zip(names, transactions, strict=True))
