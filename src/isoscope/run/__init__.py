"""Run a workload on a database, record it, verify it live, and say whether the database kept its promise.

The room can be called; `help(isoscope.run.run_database)` lists the arguments:

>>> import isoscope
>>> result = isoscope.run("simulated", transactions=100)
>>> str(result.answer.outcome)
'yes'

In steps, `Plan.of` names database, workload and limits as the command line does, `execute` runs the plan,
and the completed run checks itself. `run` is one run of a driver and a workload of your own.

>>> from isoscope import run
>>> plan = run.Plan.of("simulated", limits=run.Limits(transactions=100))
>>> completed = run.execute(plan)
>>> report = completed.check()
>>> str(report.answer.outcome)
'yes'

`verify_live` verifies transactions while the run goes on, `HistoryFile` writes the history where it is safe,
`HistoryLog` while the run goes on, `run_hermitage` and `run_scripts` send scripts by statement. Each
transaction is built into columns once: the history, the verifier and the service share them.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from isoscope.run.database_run import DatabaseRun, run_database
from isoscope.run.faults import FaultPlan
from isoscope.run.hermitage import HERMITAGE, IsolationResult, run_hermitage
from isoscope.run.history_file import HistoryFile, SavedHistory, refuse_unwritable
from isoscope.run.history_log import HistoryLog
from isoscope.run.plan import CompletedRun, Plan, execute, verify_live
from isoscope.run.recording import Sink
from isoscope.run.result import Limits, Progress, Run
from isoscope.run.scripts import ScriptedRun, ScriptResult, run_scripts
from isoscope.run.sessions import run
from isoscope.run.verification import SentSummary, Verification, VerificationProgress, VerifiedSummary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.levels import Level

__all__ = [
    "HERMITAGE",
    "CompletedRun",
    "DatabaseRun",
    "FaultPlan",
    "HistoryFile",
    "HistoryLog",
    "IsolationResult",
    "Limits",
    "Plan",
    "Progress",
    "Run",
    "SavedHistory",
    "ScriptResult",
    "ScriptedRun",
    "SentSummary",
    "Sink",
    "Verification",
    "VerificationProgress",
    "VerifiedSummary",
    "execute",
    "refuse_unwritable",
    "run",
    "run_database",
    "run_hermitage",
    "run_scripts",
    "verify_live",
]


class _Room(ModuleType):
    """A module that can be called, so that `isoscope.run("sqlite")` and `isoscope.run.Plan` both work."""

    def __call__(
        self, target: str = "", levels: Level | str | Iterable[Level | str] | None = None, **options: Any
    ) -> DatabaseRun:
        """Run a workload on a database and check what it promises, as `run_database` does."""
        return run_database(target, levels, **options)


sys.modules[__name__].__class__ = _Room
