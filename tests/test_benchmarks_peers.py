"""Another checker on the same file: its command, its figures, and the table beside ours."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import pytest
from benchmarks.__main__ import main
from benchmarks.peers import OURS, Run, beside, measurements, parse_peer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def history(tmp_path: Path) -> Path:
    path = tmp_path / "history.txt"
    path.write_text("w(1,1,0,0)\nr(1,1,1,1)\n")
    return path


def run(wall: float, peak: float = 1e6) -> Run:
    return Run(wall=wall, cpu=wall, peak=peak, status=0, yardstick=0.5)


def test_a_peer_is_a_name_and_a_command() -> None:
    assert parse_peer("other=check -l 'read committed'") == ("other", ["check", "-l", "read committed"])


@pytest.mark.parametrize("text", ["other", "=check", "other=", "isoscope=check"])
def test_a_peer_without_a_name_or_a_command_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected NAME=COMMAND"):
        parse_peer(text)


def test_ratios_compare_runs_of_the_same_turn() -> None:
    runs = {OURS: [run(1.0), run(2.0), run(4.0)], "other": [run(3.0), run(6.0), run(12.0, peak=5e6)]}
    ours, other = ([*one.figures.values()] for one in beside(runs))
    assert ours == ["2.000 s", "2.000 s", "1 MB", "0", "1.00", "1.00", "0.500 s", "4.00"]
    assert other == ["6.000 s", "6.000 s", "5 MB", "0", "3.00", "5.00", "0.500 s", "12.00"]


def test_each_checker_has_a_line_with_its_status(history: Path) -> None:
    # The file stands where the command names it, otherwise last.
    count = f'{sys.executable} -c "import sys; sys.exit(len(open(sys.argv[%d]).readlines()))"'
    peers = [parse_peer(f"first={count % 1} {{file}} more"), parse_peer(f"last={count % 2} more")]
    found = measurements(peers, history, "causal", is_full=False, repeats=1)
    statuses = [(one.name, one.figures["exit status"]) for one in found]
    assert statuses == [("isoscope", "0"), ("first", "2"), ("last", "2")]


def test_a_race_is_run_by_the_command_of_all_benchmarks(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--peer", f"other={sys.executable} -c pass", "--history", str(history), "--level", "causal"])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["isoscope", "other"]
    with pytest.raises(SystemExit):
        main(["weak", "--peer", "other=check"])
    assert "takes no suite" in capsys.readouterr().err
