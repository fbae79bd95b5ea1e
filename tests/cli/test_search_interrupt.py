"""Ctrl-C stops a search that would take long."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from benchmarks.solver import CASES, recorded

if TYPE_CHECKING:
    from pathlib import Path

#: No search has decided this history at this level in a minute.
UNDECIDED = "VeriStrong WH-10k"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_ctrl_c_stops_a_search_at_once(tmp_path: Path) -> None:
    [case] = [case for case in CASES if case.name == UNDECIDED]
    path = tmp_path / "history.txt"
    recorded(case, "snapshot-isolation").save(path)
    arguments = ["-m", "isoscope", "check", str(path), "--level", "serializable", "--time-limit", "600"]
    command = [sys.executable, *arguments]
    # A suite that was started in the background ignores the signal, and so would its children.
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=_listen) as process:  # noqa: PLW1509 - no threads here
        assert process.stderr is not None
        # The first line comes when the search has taken some seconds.
        assert process.stderr.readline().startswith("checking ")
        process.send_signal(signal.SIGINT)
        # Far below the time limit of the search, also on a busy machine.
        assert process.wait(60) == 130


def _listen() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
