"""`generate` with levels and mixes: a file of any format satisfies and breaks what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import isoscope
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
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
def test_what_cannot_be_is_one_message_with_a_hint(folder: Path, arguments: list[str], message: str) -> None:
    done = run("generate", "out.txt", *arguments)
    assert done.status == 2
    assert done.err.startswith(f"error: {message}")
    assert "\n\nhint: " in done.err
    assert not (folder / "out.txt").exists()
