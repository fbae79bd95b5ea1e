"""Hermitage: directed scripts on every isolation of a database, compared with what is published."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from isoscope import databases
from isoscope.run.scripts import run_scripts
from isoscope.workloads.published import Cell, expectation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.databases.database import Database
    from isoscope.run.scripts import ScriptedRun, ScriptResult
    from isoscope.workloads.published import Expectation

__all__ = ["HERMITAGE", "IsolationResult", "run_hermitage"]

#: The name of the workload.
HERMITAGE = "hermitage"
_WEAKEST_FIRST = tuple(reversed(Cell))


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationResult:
    """The results of all scripts at one isolation, and what is known of it, if anything is."""

    isolation: str
    scripted: ScriptedRun
    expected: Expectation | None

    @property
    def is_weaker(self) -> bool:
        """Whether an anomaly can occur that is known to be prevented, or prevented for more transactions."""
        known = {} if self.expected is None else self.expected.cells
        return any(
            _WEAKEST_FIRST.index(cell) < _WEAKEST_FIRST.index(known[name])
            for name, cell in self.scripted.found.items()
            if name in known
        )


def run_hermitage(
    target: str,
    *,
    isolation: str | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
    progress: Callable[[Database, ScriptResult | None], None] | None = None,
) -> tuple[IsolationResult, ...]:
    """Runs all scripts at `isolation`, or at every isolation of the database.

    `progress` is called before each isolation and after each script.
    """
    first = databases.connect(target, isolation=isolation, settings=settings)
    isolations = [isolation] if isolation is not None else list(first.ISOLATIONS)
    results = []
    for asked in isolations:
        database = databases.connect(target, isolation=asked, settings=settings)
        if progress is not None:
            progress(database, None)
        scripted = _scripted(database, progress)
        expected = expectation(first.NAME, asked, database.promises)
        results.append(IsolationResult(isolation=asked, scripted=scripted, expected=expected))
    return tuple(results)


def _scripted(
    database: Database, progress: Callable[[Database, ScriptResult | None], None] | None
) -> ScriptedRun:
    if progress is None:
        return run_scripts(database)
    return run_scripts(database, progress=lambda result: progress(database, result))
