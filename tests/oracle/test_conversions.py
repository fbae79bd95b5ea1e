"""Histories of the oracle that come from AWDIT and dbcop, in the formats of those: the same verdicts.

The oracle has them as Plume text; they are not ours to copy.
"""

from __future__ import annotations

import pytest

import isoscope
from isoscope.levels import Level
from tests.formats.forms import FORMS
from tests.oracle.test_oracle import ORACLE, PATHS, load

pytestmark = pytest.mark.skipif(not ORACLE.is_dir(), reason=f"no oracle at {ORACLE}")
CASES = [path for path in PATHS if path.startswith("weak/")]


def outcomes(history: isoscope.History) -> dict[str, tuple[str, dict[str, int]]]:
    report = isoscope.check(history, list(Level))
    return {
        str(verdict.level): (str(verdict.outcome), dict(verdict.anomaly_counts))
        for verdict in report.verdicts
    }


@pytest.mark.parametrize("name", ["dbcop-hist", "dbcop-json", "awdit"])
@pytest.mark.parametrize("path", CASES)
def test_a_history_in_another_format_has_the_same_verdicts(name: str, path: str) -> None:
    history = load(path)
    if name == "awdit" and history.counts["aborted"]:
        pytest.skip("AWDIT's test format has no aborted transactions")
    again = FORMS[name].read(FORMS[name].write(history))
    if again.counts["sessions"] > history.counts["sessions"]:
        pytest.skip("AWDIT's test format has no initial transaction that precedes the others")
    assert outcomes(again) == outcomes(history)
