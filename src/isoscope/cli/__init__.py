"""The command line: one file for each command; results on stdout, everything else on stderr.

Exit status: 0 holds or nothing asked, 1 violated, 2 bad input or usage, 3 a named level is unknown, 70 a
fault of Isoscope itself. No exception leaves as status 1, also none of an import: nothing is imported here
before `main` can handle it.
"""

from __future__ import annotations

import sys
from typing import NoReturn

__all__ = ["BAD_INPUT", "COMMANDS", "INTERRUPTED", "main"]

BAD_INPUT = 2
INTERRUPTED = 130

#: Commands with their summaries, so that `--help` need not import them.
COMMANDS = {
    "check": "Check recorded histories against isolation levels",
    "clean": "Remove what killed runs left on a database server",
    "compare": "Compare two runs: verdicts, anomalies, latency, throughput",
    "completion": "Print the script that completes commands in your shell",
    "convert": "Convert a history to another format",
    "databases": "List the databases that can be run: isolations, promises, evidence",
    "demo": "Run embedded databases and show what a violation looks like",
    "explain": "Explain an anomaly, with a small history that shows it",
    "generate": "Generate a history of any size, valid or broken as asked",
    "graph": "Store a dependency graph in a graph database and query it",
    "hunt": "Run many combinations, and keep every anomaly of a new shape",
    "levels": "List the isolation levels and what each implies",
    "new": "Write the skeleton of a driver for your own database",
    "profiles": "List the profiles of databases: their mechanisms, level by level",
    "record": "Record a program that uses a database, unchanged",
    "run": "Run a workload on a database and check what it promises",
    "serve": "Check a running database online, over HTTP",
    "shrink": "Shrink a history to the few transactions that break a level",
    "stats": "Show what a history holds: sizes, evidence, repeated values",
    "stress": "Run the transactions of a program against each other",
    "verify": "Verify a certificate: the proof of verdicts about a history",
    "watch": "Check a growing file of transactions, in the terminal",
}


def main() -> NoReturn:
    """Run the command line; a user's mistake is one message and status 2."""
    try:
        from isoscope.cli.program import run  # noqa: PLC0415 - see the docstring of the module

        status = run()
    except BaseException as error:
        status = _status(error)
    sys.exit(status)


def _status(error: BaseException) -> int:
    """The status after an exception, which is reported on standard error."""
    try:
        from isoscope.cli.failure import report  # noqa: PLC0415 - see the docstring of the module

        return report(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException:
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 70
