"""Every program in `examples/` runs and prints what it is there to show."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import isoscope
from isoscope.anomalies import CATALOGUE

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def example(name: str) -> str:
    shown = CATALOGUE[name].example
    assert shown is not None
    return shown.text


def test_a_recorded_dirty_read_is_found(tmp_path: Path) -> None:
    done = run("record_and_check.py", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "But payment aborted: no transaction may see what it wrote." in done.stdout
    assert "audit read bob = 30 and later bob = 0" in done.stdout
    assert "violated  read-committed, cut-isolation" in done.stdout


def test_histories_are_kept_as_parquet(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(example("aborted-read"))
    done = run("convert_to_parquet.py", "run.txt", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "run.txt -> run.parquet\n")
    assert isoscope.load(tmp_path / "run.parquet") == isoscope.load(tmp_path / "run.txt")


def test_a_file_that_is_missing_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(example("aborted-read"))
    done = run("convert_to_parquet.py", "missing.txt", "run.txt", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "run.txt -> run.parquet\n")
    assert "missing.txt" in done.stderr


def test_ci_passes_a_history_that_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("w(1,1,1,1)\nr(1,1,2,2)\n")
    done = run("check_in_ci.py", "run.txt", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout == "run.txt: read-committed: holds\nrun.txt: cut-isolation: holds\n"


def test_ci_fails_on_a_broken_promise(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("w(1,1,1,1)\nr(1,1,2,2)\n")
    (tmp_path / "bad.txt").write_text(example("intermediate-read"))
    done = run("check_in_ci.py", "bad.txt", "good.txt", folder=tmp_path)
    assert done.returncode == 1
    assert "bad.txt: read-committed: violated\n  T2 read key 1 = 1 (bad.txt:3)" in done.stdout
    assert "good.txt: cut-isolation: holds" in done.stdout


def test_a_log_shows_what_values_do_not(tmp_path: Path) -> None:
    done = run("check_with_a_log.py", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    without, with_log, *proof = done.stdout.splitlines()
    assert without == "without the log: snapshot-isolation holds"
    assert with_log == "with the log: snapshot-isolation violated"
    assert proof[0] == "  read-skew: transfer (wr) audit (rw) transfer"
    assert proof[1].endswith("which transfer overwrote with 70: the log has 100 before 70.")


def test_a_bank_is_tested_with_the_plugin(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "test_bank.py", tmp_path)
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "isoscope.pytest_plugin", "test_bank.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    shown = {}
    for option in ("-q", "--runxfail"):
        done = subprocess.run(
            [*command, option],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        shown[option] = (done.returncode, done.stdout)
    assert shown["-q"][0] == 0
    assert "1 passed, 1 xfailed" in shown["-q"][1]
    assert shown["--runxfail"][0] == 1
    assert "the recorded history breaks serializable" in shown["--runxfail"][1]
    assert "lost-update: 1 found" in shown["--runxfail"][1]


def test_every_example_is_run_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{path.name}"' in text for path in EXAMPLES.glob("*.py"))
