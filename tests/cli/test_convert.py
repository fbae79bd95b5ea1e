"""`convert` and `generate`: nothing is lost silently, and the same seed is the same file."""

from __future__ import annotations

import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.verdict import Outcome
from tests.cli.running import COMMAND, run, run_apart

if TYPE_CHECKING:
    from pathlib import Path

LIST = "{:type :ok, :process 0, :value [[:append :x 1] [:r :x [1]]]}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.edn").write_text(LIST)
    (tmp_path / "registers.txt").write_text("w(1,1,1,1)\nr(1,1,2,2)\n")
    return tmp_path


@pytest.mark.parametrize("target", ["out.parquet", "out.txt", "out.txt.gz", "out.plume.zst"])
def test_a_converted_history_is_the_same_history(folder: Path, target: str) -> None:
    done = run("convert", "registers.txt", target)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert isoscope.load(target) == isoscope.load("registers.txt")


def test_a_loss_is_refused_by_name_and_nothing_is_written(folder: Path) -> None:
    done = run("convert", "list.edn", "out.txt")
    assert done.status == 2
    assert done.err.startswith("error: plume cannot hold all of this history; it would lose\n  - ")
    assert "  - lists\n" in done.err
    assert "  - keys that are no integers: all keys are numbered\n" in done.err
    assert done.err.endswith(
        "\n\nhint: --lossy (in Python `lossy=True`) writes the rest; Parquet holds everything\n"
    )
    assert not (folder / "out.txt").exists()


def test_lossy_drops_it_and_says_so(folder: Path) -> None:
    done = run("convert", "list.edn", "out.parquet", "--lossy")
    assert (done.status, done.err) == (0, "")
    (folder / "mixed.edn").write_text('{:type :ok, :process 0, :value [[:w 1 1] [:w 2 "two"]]}\n')
    done = run("convert", "mixed.edn", "out.txt", "--lossy")
    assert done.status == 0
    assert done.out == ""
    assert "lost: values that are no integers: all values are numbered" in done.err.splitlines()


def test_a_file_without_any_operation_of_the_history_is_not_written(folder: Path) -> None:
    done = run("convert", "list.edn", "out.txt", "--lossy")
    assert (done.status, done.err) == (
        2,
        "error: plume can hold no operation of this history, so nothing would be left of it\n\n"
        "hint: choose another format; Parquet holds everything\n",
    )
    assert not (folder / "out.txt").exists()


def test_the_made_up_ids_of_aborted_transactions_are_a_loss(folder: Path) -> None:
    (folder / "aborted.txt").write_text("w(1,1,1,1)\nw(1,2,1,-1)\n")
    done = run("convert", "aborted.txt", "out.hist", "--lossy")
    assert (done.status, done.err) == (0, "lost: ids of aborted transactions: renumbered\n")


def test_a_dash_is_standard_output(folder: Path) -> None:
    done = run_apart("convert", folder / "registers.txt", "-", "--to", "plume")
    assert (done.status, done.err) == (0, "")
    assert done.out == "w(1,1,1,1)\nr(1,1,2,2)\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["registers.txt", "out.xyz"], "out.xyz: the name does not say which format to write"),
        (["nowhere.txt", "out.txt"], "cannot read nowhere.txt: No such file or directory"),
        (["registers.txt", "nowhere/out.txt"], "cannot write nowhere/out.txt: No such file or directory"),
        (["list.edn", "out.txt", "--format", "plume"], "list.edn:1:1: expected"),
    ],
)
def test_a_mistake_is_one_message(folder: Path, arguments: list[str], message: str) -> None:
    done = run("convert", *arguments)
    assert done.status == 2
    assert done.err.startswith(f"error: {message}")


def test_a_format_can_be_named_where_the_name_says_nothing(folder: Path) -> None:
    assert run("convert", "registers.txt", "out.xyz", "--to", "plume").status == 0
    assert (folder / "out.xyz").read_text() == (folder / "registers.txt").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ["out.txt"],
        ["out.json", "--abort-ratio", "0.2", "--distribution", "zipfian"],
        ["out.edn", "--lists", "--max-writes-per-key", "8"],
        ["out.json", "--timestamps"],
        ["out.parquet", "--min-operations", "1", "--distribution", "hotspot"],
        ["out.bin", "--format", "plume"],
    ],
    ids=" ".join,
)
def test_a_generated_history_is_valid_and_the_same_for_the_same_seed(
    folder: Path, options: list[str]
) -> None:
    small = ["--transactions", "200", "--sessions", "5", "--keys", "20"]
    texts = []
    for seed in (1, 1, 2):
        assert run("generate", *options, *small, "--seed", seed).status == 0
        texts.append((folder / options[0]).read_bytes())
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    history = isoscope.load(options[0])
    assert history.counts["transactions"] == 200
    assert history.counts["sessions"] <= 5
    assert not isoscope.check(history).levels(Outcome.VIOLATED)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out.xyz"], "out.xyz: the name does not say which format to write"),
        (["nowhere/out.txt"], "cannot write nowhere/out.txt"),
        (["out.txt", "--lists"], "plume cannot hold all of this history"),
    ],
)
def test_a_history_that_cannot_be_generated_is_one_message(
    folder: Path, arguments: list[str], message: str
) -> None:
    done = run("generate", *arguments)
    assert done.status == 2
    assert done.err.startswith(f"error: {message}")


def test_more_least_operations_than_most_are_a_mistake(folder: Path) -> None:
    done = run("generate", "out.txt", "--operations", "2", "--min-operations", "9")
    assert (done.status, done.err) == (2, "error: --min-operations 9 is more than --operations 2\n")


def test_a_link_stays_a_link_and_a_pipe_is_written_to(folder: Path) -> None:
    (folder / "kept.txt").write_text("")
    (folder / "link.txt").symlink_to("kept.txt")
    assert run("convert", "registers.txt", "link.txt").status == 0
    assert (folder / "link.txt").is_symlink()
    assert isoscope.load("kept.txt") == isoscope.load("registers.txt")
    os.mkfifo("pipe.txt")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit((folder / "pipe.txt").read_bytes)
        assert run("convert", "registers.txt", "pipe.txt").status == 0
        assert reading.result(10) == (folder / "kept.txt").read_bytes()
    assert (folder / "pipe.txt").is_fifo()


@pytest.mark.parametrize("target", ["registers.txt", "./registers.txt", "link.txt"])
def test_a_history_is_not_converted_into_itself(folder: Path, target: str) -> None:
    (folder / "link.txt").symlink_to("registers.txt")
    done = run("convert", "registers.txt", target)
    assert done.status == 2
    assert f"error: {target} would replace the history that is converted" in done.err
    assert (folder / "registers.txt").read_text() == "w(1,1,1,1)\nr(1,1,2,2)\n"


@pytest.mark.parametrize(
    ("target", "end"),
    [
        (">(cat)", "| cat"),
        *(
            (name, end)
            for name in ("/dev/stdout", "/dev/fd/1")
            for end in ("| cat", "> out.txt; cat out.txt")
        ),
    ],
)
def test_a_history_goes_to_a_pipe_and_to_standard_output(folder: Path, target: str, end: str) -> None:
    command = f"{' '.join(map(shlex.quote, COMMAND))} convert registers.txt {target} --to plume {end}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("w(1,1,1,1)\nr(1,1,2,2)\n", "")
