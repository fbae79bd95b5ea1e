"""The clock levels from a disk: the same bytes as in memory, wherever slices, runs and blocks end."""

from __future__ import annotations

import json
import random
import tempfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings

from isoscope import checkers, formats
from isoscope._native import StreamLimits, judge_clock
from isoscope.checkers import streaming
from isoscope.formats import parquet, source
from isoscope.history import Initial, Status
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reports import render_json, render_text
from tests.seeds import DEEP, seeds

from .reference.clock_histories import clock_histories, clocked, random_clock_history

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isoscope.history import History
    from isoscope.verdict import Report

SEEDS = seeds(120, deep=20_000)
#: Of the clock, by another name, implied by one of them, and by none.
LEVELS = (None, ["clock-serializable"], ["snapshot-isolation"], ["read-atomic"], ["strict-serializable"])
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)


@contextmanager
def small(seed: int = 0) -> Iterator[None]:
    """Slices, runs, blocks and merges so small that everything ends somewhere inside a history."""
    choose = random.Random(seed).choice
    limits = StreamLimits(
        run_bytes=choose((1, 200, 1000)),
        block_bytes=choose((1, 37, 1 << 17)),
        suspect_reads=choose((1, 2, 100)),
        merged_runs=choose((2, 3, 128)),
    )
    sizes: list[tuple[Any, str, object]] = [
        (source, "_BLOCK", choose((40, 150, 1 << 20))),
        (parquet, "_BATCH", choose((1, 3, 7))),
        (streaming, "_LIMITS", limits),
    ]
    with ExitStack() as stack:
        for module, name, size in sizes:
            stack.enter_context(mock.patch.object(module, name, size))
        yield


def rendered(report: Report) -> tuple[str, str]:
    return render_text(report, width=100, colour=False, everything=True), render_json(report)


def assert_same(path: Path, initial: Initial | None, levels: list[str] | None = None, most: int = 2) -> str:
    """Both ways give the same report of the file; its text."""
    whole = formats.load(path, initial=initial)
    expected = rendered(checkers.check(whole, levels, method="timestamps", max_anomalies=most))
    slices = formats.slices(path, initial=initial)
    assert rendered(checkers.check_slices(slices, levels, max_anomalies=most)) == expected
    return expected[0]


def is_streamable(history: History, levels: list[str] | None) -> bool:
    def is_out_of_order(session: tuple[int, ...]) -> bool:
        return [*session] != sorted(session)

    statuses = {transaction.status for transaction in history}
    committed = [t for t in history if t.status is Status.COMMITTED]
    needs_start = levels != ["clock-serializable"]
    return (
        # Deletes and range reads are judged in memory only.
        not any(history.counts[kind] for kind in ("delete", "range-read"))
        and Status.INDETERMINATE not in statuses
        and all(t.commit is not None for t in committed)
        and not (needs_start and any(t.start is None for t in committed))
        and not any(is_out_of_order(session.transactions) for session in history.sessions)
    )


def assert_both_formats(history: History, folder: Path, seed: int) -> None:
    most = 1 + seed % 4
    levels = LEVELS[seed % len(LEVELS)]
    if not is_streamable(history, levels):
        return
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


FAULTS = ("none", "stale", "own", "overlap", "session", "inverted", "aborted", "thin air")


def faulty(fault: str, transactions: int = 150, *, lists: bool = False) -> History:
    """A serial history in which every fourth transaction shows one fault."""
    choose = random.Random(1).choice
    state: dict[str, list[int]] = {key: [] for key in "abcd"}
    told = []
    for number in range(transactions):
        key, other = choose("abcd"), choose("abcd")
        shown, start, commit, head = list(state[key]), 100 + 10 * number, 105 + 10 * number, ""
        if number % 4 == 1:
            start -= {"overlap": 20, "session": 40}.get(fault, 0)
            commit -= 9 if fault == "inverted" else 0
            head = "aborted" if fault == "aborted" else ""
            shown = {"stale": shown[:-1], "thin air": [*shown, 10**6 + number]}.get(fault, shown)
        value = f"[{';'.join(map(str, shown))}]" if lists else str(shown[-1] if shown else 0)
        write = f"{'a' if lists else 'w'}({other},{number + 1})"
        again = f" r({other},{number})" if fault == "own" and number % 4 == 1 and not lists else ""
        told.append(f"s{number % 3} {start}-{commit} {head}: r({key},{value}) {write}{again}")
        state[other].append(number + 1)
    return clocked(*told, initial=Initial())


@pytest.mark.parametrize("lists", [False, True], ids=["registers", "lists"])
@pytest.mark.parametrize("fault", FAULTS)
def test_both_ways_print_the_same_bytes_of_longer_histories(fault: str, lists: bool, tmp_path: Path) -> None:
    formats.save(faulty(fault, lists=lists), tmp_path / "h.json")
    with small(FAULTS.index(fault)):
        text = assert_same(tmp_path / "h.json", None, most=3)
    assert ("violated" in text) == (fault != "none" and (fault, lists) != ("own", True))


@pytest.mark.parametrize("name", ["h.json", "h.jsonl", "h.json.gz", "h.json.zst", "h.parquet"])
def test_every_kind_of_file_that_has_slices_is_judged(name: str, tmp_path: Path) -> None:
    formats.save(faulty("stale"), tmp_path / name)
    with small():
        assert "stale-read" in assert_same(tmp_path / name, None)


def test_a_directory_is_one_history_with_places_in_its_files(tmp_path: Path) -> None:
    transactions = [*faulty("stale", 40)]
    for part in range(2):
        name = tmp_path / f"{part}.json"
        formats.save(build(transactions[20 * part : 20 * part + 20], initial=Initial()), name)
    with small():
        assert "1.json:" in assert_same(tmp_path, None, most=100)


def test_repeated_slices_of_one_history_are_an_error_with_its_place(tmp_path: Path) -> None:
    formats.save(faulty("none", 40), tmp_path / "1.json")
    formats.save(faulty("none", 40), tmp_path / "2.json")
    with small(), pytest.raises(ValueError, match=r"2\.json:\d+: the transaction 0 was there before"):
        checkers.check_slices(formats.slices(tmp_path))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("b 7-9 indeterminate: r(x,1)", "an indeterminate transaction"),
        ("b: r(x,1)", "a transaction without its timestamps"),
    ],
)
def test_a_transaction_that_needs_the_whole_history_is_refused_with_its_place(
    line: str, problem: str, tmp_path: Path
) -> None:
    formats.save(clocked("a 1-2: w(x,1)", line, initial=Initial()), tmp_path / "h.jsonl")
    with pytest.raises(ValueError, match=rf"h\.jsonl:2: {problem}"):
        checkers.check_slices(formats.slices(tmp_path / "h.jsonl"))


def test_sequence_numbers_that_ascend_are_taken_and_others_refused(tmp_path: Path) -> None:
    rows = [f'{{"tid":{n},"sid":1,"sno":{n},"sts":{n},"cts":{n},"ops":[]}}' for n in range(3)]
    path = tmp_path / "h.jsonl"
    path.write_text("\n".join(rows))
    assert "holds" in assert_same(path, None)
    path.write_text("\n".join(rows[::-1]))
    with pytest.raises(ValueError, match="sequence numbers that are not in order"):
        checkers.check_slices(formats.slices(path))


def test_ties_are_counted_as_in_memory() -> None:
    for seed in range(100):
        history = random_clock_history(random.Random(seed))
        if is_streamable(history, None):
            with small(seed):
                streamed = streaming.judge([history], levels=[Level.CLOCK_SNAPSHOT_ISOLATION])
            [whole] = judge_clock(history.columns, [Level.CLOCK_SNAPSHOT_ISOLATION], 0)
            assert streamed.ties == whole.ties


def test_names_may_be_long(tmp_path: Path) -> None:
    long = "n" * 100_000
    row = {"tid": long, "sid": long, "sts": 1, "cts": 2, "ops": [{"t": "w", "k": long, "v": long}]}
    (tmp_path / "h.json").write_text(json.dumps(row))
    assert "holds" in assert_same(tmp_path / "h.json", None)


def test_levels_hold_without_committed_transactions_as_in_memory(tmp_path: Path) -> None:
    (tmp_path / "h.json").write_text('{"tid":1,"status":"aborted","ops":[{"t":"w","k":1,"v":1}]}')
    assert "holds" in assert_same(tmp_path / "h.json", None)


def test_nothing_stays_behind_even_if_it_is_interrupted(tmp_path: Path) -> None:
    history = faulty("none", 40)

    def interrupted() -> Iterator[History]:
        yield history
        raise KeyboardInterrupt

    with mock.patch.object(tempfile, "tempdir", str(tmp_path)), small(1):
        checkers.check_slices([history])
        with pytest.raises(KeyboardInterrupt):
            checkers.check_slices(interrupted())
    assert not [*tmp_path.iterdir()]
