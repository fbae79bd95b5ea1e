"""`isoscope check --certificate`: the proofs of all verdicts, which `isoscope verify` accepts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.test_cases import CASES

FINE = "w(1,1,1,1)\nr(1,1,2,2)\nw(1,2,2,2)\n"
SKEW = "r(1,0,1,1)\nw(2,1,1,1)\nr(2,0,2,2)\nw(1,1,2,2)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fine.txt").write_text(FINE)
    (tmp_path / "skew.txt").write_text(SKEW)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_verifier_accepts_what_check_wrote() -> None:
    levels = ["--level", "serializable", "--level", "snapshot-isolation"]
    assert run("check", "skew.txt", *levels, "--certificate", "proofs.jsonl").status == 1
    verified = run("verify", "skew.txt", "proofs.jsonl")
    assert verified.status == 0
    assert "verified  violated  serializable" in verified.out
    assert "verified  holds     snapshot-isolation" in verified.out


def test_a_name_with_gz_is_compressed_and_has_the_same_lines() -> None:
    assert run("check", "fine.txt", "--certificate", "proofs.jsonl").status == 0
    assert run("check", "fine.txt", "--certificate", "proofs.jsonl.gz").status == 0
    assert gzip.decompress(Path("proofs.jsonl.gz").read_bytes()) == Path("proofs.jsonl").read_bytes()
    assert run("verify", "fine.txt", "proofs.jsonl.gz").status == 0


def test_a_history_in_the_place_of_the_certificate_is_told_the_order() -> None:
    assert run("check", "fine.txt", "--certificate", "proofs").status == 0
    swapped = run("verify", "proofs", "fine.txt")
    assert (swapped.status, swapped.out) == (2, "")
    assert "hint: the history comes first, then its certificate" in swapped.err


def test_the_report_is_the_same_as_without() -> None:
    assert run("check", "fine.txt", "--certificate", "proofs.jsonl").out == run("check", "fine.txt").out


def test_initial_values_of_the_command_line_are_in_the_certificate() -> None:
    Path("seven.txt").write_text("r(1,7,1,1)\n")
    assert run("check", "seven.txt", "--initial", "7", "--certificate", "proofs.jsonl").status == 0
    header = json.loads(Path("proofs.jsonl").read_text().splitlines()[0])
    assert header["initial"]["value"] == "7"
    assert run("verify", "seven.txt", "proofs.jsonl").status == 0


def write_deletes(transactions: int) -> str:
    """A history in which each transaction deletes what it wrote."""
    line = "{{:type :ok, :process 0, :value [[:w :x {}] [:delete :x nil]]}}\n"
    Path("deleted.edn").write_text("".join(map(line.format, range(transactions))))
    return "deleted.edn"


def test_a_level_that_holds_beside_deletes_is_certified_in_a_larger_history() -> None:
    arguments = ("--level", "pl-1", "--certificate", "proofs.jsonl")
    assert run("check", write_deletes(40), *arguments).err == ""
    assert run("verify", "deleted.edn", "proofs.jsonl").status == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["fine.txt", "skew.txt", "--certificate", "c"], "--certificate is about one history"),
        (["fine.txt", "--certificate", "-"], "--certificate needs the name of a file"),
        (["fine.txt", "--certificate", "fine.txt"], "fine.txt would replace a history"),
        (["fine.txt", "--certificate", "no/c"], "there is no folder no"),
        (["fine.txt", "--certificate", "c.zst"], "the verifier unpacks .gz alone"),
        (["fine.txt", "--certificate", "c", "--assume", "sequential-keys"], "has no --assume"),
        (
            ["fine.txt", "--certificate", "c", "--summary"],
            "--summary keeps no orders and has no --certificate",
        ),
        (["fine.txt", "--certificate", "c", "--anomaly", "long-fork"], "--anomaly about anomalies"),
    ],
)
def test_what_cannot_be_certified_is_refused(arguments: list[str], problem: str) -> None:
    result = run("check", *arguments)
    assert result.status == 2
    assert problem in result.err
    assert not Path("c").exists()


def test_a_format_that_the_verifier_does_not_read_is_refused_with_advice() -> None:
    clocked = next(path for path in CASES if path.suffix == ".json")
    result = run("check", str(clocked), "--certificate", "proofs.jsonl")
    assert result.status == 2
    assert "`isoscope convert` makes Parquet" in result.err
