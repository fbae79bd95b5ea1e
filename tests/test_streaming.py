"""The clock levels from a disk: the same bytes as in memory, wherever slices, runs and blocks end."""

from __future__ import annotations

import os
import random
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings

from isoscope import checkers, formats
from isoscope.checkers import streaming
from isoscope.formats import parquet, source
from isoscope.history import Initial, Status
from isoscope.recorder import build
from isoscope.reports import render_json, render_text

from .reference.clock_histories import clock_histories, clocked, random_clock_history

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isoscope.history import History
    from isoscope.verdict import Report

DEEP = os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep"
SEEDS = 20_000 if DEEP else 400
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)


@contextmanager
def small(seed: int = 0) -> Iterator[None]:
    """Slices, runs, blocks and merges so small that everything ends somewhere inside a history."""
    choose = random.Random(seed).choice
    sizes: list[tuple[Any, str, int]] = [
        (source, "_BLOCK", choose((40, 150, 1 << 20))),
        (parquet, "_BATCH", choose((1, 3, 7))),
        (streaming, "_RUN", choose((1, 200, 1000))),
        (streaming, "_BLOCK", choose((1, 37, 1 << 17))),
        (streaming, "_SPILLED", choose((1, 2, 100))),
        (streaming, "_RUNS", choose((2, 3, 128))),
    ]
    with ExitStack() as stack:
        for module, name, size in sizes:
            stack.enter_context(mock.patch.object(module, name, size))
        yield


def rendered(report: Report) -> tuple[str, str]:
    return render_text(report, width=100, colour=False), render_json(report)


def assert_same(path: Path, initial: Initial | None, levels: list[str] | None = None, most: int = 2) -> str:
    """Both ways say the same of the file; what they say."""
    whole = formats.load(path, initial=initial)
    expected = rendered(checkers.check(whole, levels, method="timestamps", max_anomalies=most))
    slices = formats.slices(path, initial=initial)
    assert rendered(checkers.check_slices(slices, levels, max_anomalies=most)) == expected
    return expected[0]


def is_streamable(history: History) -> bool:
    def is_out_of_order(session: tuple[int, ...]) -> bool:
        return [*session] != sorted(session)

    statuses = {transaction.status for transaction in history}
    committed = [t for t in history if t.status is Status.COMMITTED]
    return (
        Status.INDETERMINATE not in statuses
        and all(t.start is not None and t.commit is not None for t in committed)
        and not any(is_out_of_order(session.transactions) for session in history.sessions)
    )


def assert_both_formats(history: History, folder: Path, seed: int) -> None:
    if not is_streamable(history):
        return
    most = 1 + seed % 4
    levels = (None, ["clock-serializable"], ["snapshot-isolation"])[seed % 3]
    formats.save(history, folder / "h.json", lossy=True)
    formats.save(history, folder / "h.parquet")
    with small(seed):
        assert_same(folder / "h.json", history.initial, levels, most)
        if not history.counts["append"] and "value_length" not in dict(history.columns.used_columns()):
            assert_same(folder / "h.parquet", None, levels, most)


def test_both_ways_print_the_same_bytes_on_many_seeds(tmp_path: Path) -> None:
    for seed in range(SEEDS):
        assert_both_formats(random_clock_history(random.Random(seed)), tmp_path, seed)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(history=clock_histories())
def test_both_ways_print_the_same_bytes_of_any_history(history: History, tmp_path: Path) -> None:
    assert_both_formats(history, tmp_path, len(history))
