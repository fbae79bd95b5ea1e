"""`isoscope check --streaming`: the same output, and one message for everything that it cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import mock

import pytest

from isoscope import formats

from ..reference.clock_histories import clocked
from .running import run

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = ("--method", "timestamps")
STALE = ("a 1-2: w(x,1)", "b 3-4: w(x,2)", "c 5-6: r(x,1)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    formats.save(clocked(*STALE), tmp_path / "h.json", lossy=True)
    return tmp_path / "h.json"


@pytest.mark.parametrize(
    "more", [(), ("--json",), ("--level", "si"), ("--level", "clock-serializable", "--initial", "0")]
)
def test_streaming_prints_what_is_printed_in_memory(path: Path, more: tuple[str, ...]) -> None:
    whole = run("check", path, *OPTIONS, *more)
    assert "stale-read" in whole.out
    assert run("check", path, *OPTIONS, *more, "--streaming") == whole


def test_timings_are_by_stage(path: Path) -> None:
    out = run("check", path, *OPTIONS, "--streaming", "--timings").out
    assert [word.strip(":") for word in out.splitlines()[-2].split() if word.endswith(":")] == [
        "load",
        "sort",
        "check",
    ]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "--streaming goes with --method timestamps"),
        (("--method", "values"), "--streaming goes with --method timestamps"),
        ((*OPTIONS, "--anomaly", "stale-read"), "--streaming judges levels: it has no --anomaly"),
    ],
)
def test_streaming_is_for_levels_of_the_clock_only(
    path: Path, options: tuple[str, ...], problem: str
) -> None:
    done = run("check", path, *options, "--streaming")
    assert (done.status, done.out) == (2, "")
    assert problem in done.err


def test_a_history_that_cannot_be_streamed_has_a_hint_to_check_it_in_memory(tmp_path: Path) -> None:
    formats.save(clocked("a 1-2 indeterminate: w(x,1)"), tmp_path / "h.json", lossy=True)
    done = run("check", tmp_path / "h.json", *OPTIONS, "--streaming")
    assert done.status == 2
    assert "an indeterminate transaction" in done.err
    assert "hint: check it without --streaming" in done.err


def test_other_formats_and_standard_input_are_refused(tmp_path: Path, path: Path) -> None:
    (tmp_path / "h.txt").write_text("w(1,1,1,1)\n")
    done = run("check", tmp_path / "h.txt", *OPTIONS, "--streaming")
    assert done.status == 2
    assert "plume is read only as a whole" in done.err
    assert "aion and parquet" in done.err
    done = run("check", "-", *OPTIONS, "--streaming", stdin=path.read_bytes())
    assert done.status == 2
    assert "can be read only once" in done.err


def test_lists_in_parquet_are_refused_where_they_stand_as_lengths(tmp_path: Path) -> None:
    lists = clocked("a 1-2: a(x,1)", "a 3-4: r(x,[1])", "a 5-6: a(x,2)", "a 7-8: r(x,[1;2])")
    formats.save(lists, tmp_path / "h.parquet")
    done = run("check", tmp_path / "h.parquet", *OPTIONS, "--streaming")
    assert done.status == 2
    assert "only as a whole" in done.err


def test_a_full_disk_is_one_message(path: Path) -> None:
    full = OSError(28, "No space left on device")
    with mock.patch("isoscope.checkers.streaming.judge_clock_stream", side_effect=full):
        done = run("check", path, *OPTIONS, "--streaming")
    assert done.status == 2
    assert ": No space left on device\n\nhint: TMPDIR names another folder" in done.err
