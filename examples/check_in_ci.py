"""The last step of a CI job: `python check_in_ci.py HISTORY...` fails if a history breaks a promise.

Unknown is not a failure here, but it is said; see `docs/how-to/use-in-ci.md`.
"""

from __future__ import annotations

import sys

import isoscope
from isoscope.explain import message

PROMISED = ("read-committed", "cut-isolation")


def check(path: str) -> bool:
    """Prints a line a level; whether the history breaks none of them."""
    kept = True
    for verdict in isoscope.check(isoscope.load(path), levels=PROMISED, max_anomalies=1).verdicts:
        print(f"{path}: {verdict.level}: {verdict.outcome}")
        for anomaly in verdict.anomalies:
            print(f"  {message(anomaly)}")
        kept &= verdict.outcome is not isoscope.Outcome.VIOLATED
    return kept


if __name__ == "__main__":
    kept = [check(path) for path in sys.argv[1:]]
    sys.exit(0 if all(kept) else 1)
