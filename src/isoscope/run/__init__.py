"""Run a workload on a database, record it, verify it live, and say whether the database kept its promise.

`run` is one run: a database, a workload and limits in, a history out. `Plan.of` names them as the command
line does, `execute` runs the plan, and the completed run checks itself:

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

from isoscope.run.hermitage import HERMITAGE, IsolationResult, run_hermitage
from isoscope.run.history_file import HistoryFile, SavedHistory, refuse_unwritable
from isoscope.run.history_log import HistoryLog
from isoscope.run.plan import CompletedRun, Plan, execute, verify_live
from isoscope.run.recording import Sink
from isoscope.run.result import Limits, Progress, Run
from isoscope.run.scripts import ScriptedRun, ScriptResult, run_scripts
from isoscope.run.sessions import run
from isoscope.run.verification import SentSummary, Verification, VerificationProgress, VerifiedSummary

__all__ = [
    "HERMITAGE",
    "CompletedRun",
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
    "run_hermitage",
    "run_scripts",
    "verify_live",
]
