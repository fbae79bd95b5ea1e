"""`generate` with levels and mixes: a file of any format satisfies and breaks what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.cli.generate import command
from isoscope.workloads import MIXES

from .running import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("level", "breaks"), [("read-atomic", "causal"), ("rc", "ra"), ("ci", "rc")])
@pytest.mark.parametrize(
    "options",
    [
        ["out.txt"],
        ["out.json", "--abort-ratio", "0.1"],
        ["out.edn", "--lists", "--max-writes-per-key", "8", "--abort-ratio", "0.1"],
        ["out.parquet", "--distribution", "zipfian"],
    ],
    ids=" ".join,
)
def test_a_file_keeps_and_breaks_what_was_asked_for(
    folder: Path, options: list[str], level: str, breaks: str
) -> None:
    small = ["--transactions", "100", "--sessions", "5", "--keys", "20"]
    assert run("generate", *options, *small, "--level", level, "--break", breaks).status == 0
    assert run("check", options[0], "--level", level).status == 0
    assert run("check", options[0], "--level", breaks).status == 1


def test_snapshots_with_intervals_can_be_judged_by_real_time(folder: Path) -> None:
    options = ["--lists", "--max-writes-per-key", "16", "--intervals", "--keys", "20"]
    for level, status in (("snapshot-isolation", 1), ("strict-serializable", 0)):
        assert run("generate", "out.parquet", *options, "--level", level).status == 0
        assert run("check", "out.parquet", "--level", "strong-snapshot-isolation").status == 0
        assert run("check", "out.parquet", "--level", "strict-serializable").status == status


@pytest.mark.parametrize("mix", MIXES)
def test_a_mix_is_the_same_for_the_same_seed(folder: Path, mix: str) -> None:
    texts = []
    for seed in (1, 1, 2):
        assert run("generate", "out.txt", "--mix", mix, "--transactions", "50", "--seed", seed).status == 0
        texts.append((folder / "out.txt").read_bytes())
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    assert isoscope.load("out.txt").counts["transactions"] == 50


def test_a_simulated_database_tells_what_happened(folder: Path) -> None:
    done = run("generate", "out.json", "--isolation", "snapshot-isolation", "--abort-ratio", "0.1")
    counts = isoscope.load("out.json").counts
    assert done.status == 0
    assert done.err == f"committed: {counts['committed']:,}, aborted: {counts['aborted']:,}\n"


def test_injected_bugs_are_counted_by_anomaly(folder: Path) -> None:
    database = ["--isolation", "serializable", "--bug", "forgotten-write", "--bug-rate", "1"]
    done = run("generate", "out.txt", *database, "--lossy")
    told = done.err.splitlines()[-1]
    assert told.startswith("injected forgotten-write: not-my-own-write: ")
    [verdict] = isoscope.check(isoscope.load("out.txt"), ["pl-2"]).verdicts
    assert verdict.anomaly_counts["not-my-own-write"] >= int(told.rpartition(" ")[2])


def test_a_simulated_database_tells_its_timestamps_where_they_can_be_kept(folder: Path) -> None:
    for out, has_timestamps in (("out.json", True), ("out.txt", False)):
        assert run("generate", out, "--isolation", "snapshot-isolation", "--lossy").status == 0
        assert ("timestamps" in isoscope.load(out).evidence.present) is has_timestamps


def test_help_lists_options_by_what_they_are_about() -> None:
    text = run("generate", "--help").out
    sections = ["Workload:", "A store for a level:", "A simulated database:", "Output:"]
    assert sorted(sections, key=text.index) == sections
    of_the_store, of_the_database = text.split("A store for a level:")[1].split("A simulated database:")
    assert "\n  --level " in of_the_store
    assert "\n  --bug " in of_the_database
    options = {option for parameter in command.params for option in parameter.opts if option[0] == "-"}
    assert all(option in text for option in options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--isolation", "serial"], "unknown isolation `serial`; did you mean `serializable`?"),
        (["--isolation", "serializable", "--bug", "drop"], "unknown bug `drop`"),
        (["--bug", "dropped-write"], "--bug is for a simulated database"),
        (["--isolation", "serializable", "--break", "ra"], "a simulated database knows nothing of --break"),
        (["--isolation", "read-committed", "--bug", "lost-update"], "read-committed cannot show lost-update"),
        (["--level", "causal", "--break", "ra"], "whatever satisfies causal also satisfies read-atomic"),
        (["--level", "rr", "--break", "pl-2"], "whatever satisfies repeatable-read also satisfies pl-2"),
        (["--break", "causal", "--sessions", "1"], "breaking causal takes 2 sessions"),
        (["--level", "causel"], "unknown level `causel`; did you mean `causal`?"),
        (
            ["--mix", "tpcc", "--keys", "5", "--read-ratio", "1"],
            "--mix decides by itself what --keys, --read",
        ),
    ],
)
def test_options_that_contradict_each_other_are_one_message_with_a_hint(
    folder: Path, arguments: list[str], message: str
) -> None:
    done = run("generate", "out.txt", *arguments)
    assert done.status == 2
    assert done.err.startswith(f"error: {message}")
    assert "\n\nhint: " in done.err
    assert not (folder / "out.txt").exists()
