"""The benchmarks of the method of intervals measure what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from benchmarks import (
    intervals,
    intervals_cycles,
    intervals_overlap,
    intervals_parts,
    intervals_runs,
    intervals_speed,
)
from benchmarks.intervals_loads import BLINDW_RW, Simulated
from benchmarks.suite import Measurement

from isoscope import _native, profiles
from isoscope._native import Builder
from isoscope.history import KINDS, STATUSES, History, OperationKind, Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.slow

SMALL = replace(BLINDW_RW, transactions=200, keys=100)
SSI = profiles.load("postgresql/serializable")


def test_every_part_of_the_suite_has_a_table_of_its_own() -> None:
    assert len(intervals.SUITE.groups) == len(intervals.PARTS) + 1  # one part has two


@pytest.mark.parametrize("profile", intervals_speed.PROFILES)
def test_slices_have_all_operations_of_the_whole(profile: str) -> None:
    simulated = Simulated(profile=profile, load=SMALL)
    whole = simulated.history().columns.operations
    assert sum(part.columns.operations for part in simulated.slices(30)) == whole


def test_speeds_are_those_of_every_profile() -> None:
    found = [*intervals_speed.speeds(SMALL, 1)]
    assert [speed.name for speed in found] == [*intervals_speed.PROFILES]
    assert all(speed.offline > 0 and speed.online > 0 and speed.yardstick > 0 for speed in found)


def test_a_verifier_that_accuses_a_correct_database_ends_the_run() -> None:
    simulated = Simulated(profile="postgresql/read-committed", load=SMALL)
    stronger = replace(simulated, profile="postgresql/serializable")
    with pytest.raises(AssertionError, match="without a fault"):
        stronger.judged(simulated.history())


def test_memory_is_looked_at_over_the_whole_run() -> None:
    held = intervals_speed.held_here("postgresql/serializable", 80_000)
    assert len(held.engine) == len(held.process) == 40
    assert held.halves((9.0, 1.0, 2.0, 3.0)) == (1.0, 3.0)


def test_the_search_is_done_once_and_then_again_after_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    search = intervals_cycles._search

    def counted(history: History, simulated: Simulated) -> None:
        searched.append(len(history))
        search(history, simulated)

    monkeypatch.setattr(intervals_cycles, "_search", counted)
    monkeypatch.setattr(intervals_cycles, "BATCH", 40)
    first = next(iter(intervals_cycles.measure_all(replace(intervals_cycles.LOAD, transactions=400))))
    assert (first.at, searched) == (100, [100, 40, 80])


def test_more_clients_and_more_skew_let_more_dependencies_overlap() -> None:
    points = {point.name: point.total for point in intervals_overlap.over_skew_and_clients(1000)}
    betas = {name: overlapping / max(1, total) for name, (total, overlapping, _) in points.items()}
    assert betas["theta 0, 24 clients"] < betas["theta 0.99, 24 clients"] < 0.06
    assert betas["theta 0.9, 2 clients"] < betas["theta 0.9, 24 clients"] < 0.06


def test_what_is_decided_is_a_share_of_what_overlaps() -> None:
    figures = intervals_overlap.decided_figures([(100, 10, 0), (50, 4, 1), (7, 0, 0)])
    assert figures["wr overlapping"] == "10 (10.00 %)"
    assert [figures[f"{kind} decided"] for kind in ("wr", "ww", "rw")] == ["100.00 %", "75.00 %", "-"]


@pytest.mark.parametrize("profile", ["postgresql/serializable", "mariadb/serializable"])
def test_parts_have_each_statement_once_and_accuse_nobody(profile: str) -> None:
    simulated = Simulated(profile=profile, load=SMALL)
    history = simulated.history()
    parts = intervals_parts.split(history, 3)
    for kind in ("read", "write"):
        assert sum(part.counts[kind] for part in parts) == history.counts[kind]
    assert all(part.counts["begin"] == history.counts["begin"] for part in parts)
    row = intervals_parts.of_part(simulated.promise).native
    for part in parts:
        assert not any(
            one.count
            for one in _native.judge_intervals(part.columns, row, clock_error=0, max_anomalies=1).checks
        )


def test_a_part_that_is_not_told_when_the_snapshot_was_taken_accuses_a_correct_database() -> None:
    # T1 reads y at first, T2 changes x, and T1 reads the old x.
    history = _history(
        [
            ("begin", None, None, 0), ("read", 1, 0, 10), ("read", 0, 0, 60), ("commit", None, None, 70),
        ],
        [("begin", None, None, 20), ("write", 0, 1, 30), ("commit", None, None, 40)],
    )  # fmt: skip
    part, _ = intervals_parts.split(history, 2)
    counts = [
        sum(
            check.count
            for check in _native.judge_intervals(
                part.columns, profile.native, clock_error=0, max_anomalies=1
            ).checks
        )
        for profile in (SSI, intervals_parts.of_part(SSI))
    ]
    assert counts == [1, 0]


def test_a_part_is_not_judged_by_snapshots_that_it_cannot_know() -> None:
    with pytest.raises(ValueError, match="`first-read`"):
        intervals_parts.of_part(profiles.load("mariadb/repeatable-read"))


def test_parts_miss_a_write_skew_across_them_and_their_merged_dependencies_find_it() -> None:
    history = _history(
        [("begin", None, None, 0), ("read", 0, 0, 10), ("write", 1, 1, 30), ("commit", None, None, 50)],
        [("begin", None, None, 2), ("read", 1, 0, 20), ("write", 0, 1, 40), ("commit", None, None, 60)],
    )
    parts = intervals_parts.split(history, 2)
    sent = intervals_parts.merged(history, parts, SSI)
    assert [intervals_parts.certified(part.columns, intervals_parts.of_part(SSI)) for part in parts] == [0, 0]
    assert sent == [0, 1]
    assert intervals_parts.certified(_native.sub_history(history.columns, sent, []), SSI) == 1


def _history(*transactions: Sequence[tuple[str, int | None, int | None, int]]) -> History:
    """Each in a session of its own; an operation takes 5 ns from the instant that it names."""
    builder = Builder()
    builder.initial(0, replaceable=False)
    for number, operations in enumerate(transactions):
        rows = [
            (KINDS.index(OperationKind(kind)), key, value, at, at + 5) for kind, key, value, at in operations
        ]
        builder.recorded(number, number, STATUSES.index(Status.COMMITTED), rows)
    return History(builder.finish())


def test_a_certifier_that_fails_across_parts_is_found_by_what_they_hand_on() -> None:
    [found] = intervals_parts.crossed(replace(intervals_parts.FAULTY, transactions=1500))
    assert found.alone < found.whole
    assert found.merged == found.whole
    assert found.sent < found.transactions


def test_instances_are_told_with_their_speedup() -> None:
    found = [*intervals_parts.partitioned(SMALL, counts=(2, 3), repeats=1)]
    assert [one.count for one in found] == [2, 3]
    instances = intervals_parts.Instances(count=2, operations=10, together=2.0, whole=3.0, yardstick=0.5)
    assert intervals_parts.instances_measurement(instances).figures["speedup"] == "1.50"


def test_a_database_that_is_not_there_is_skipped_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    # No server that was fetched before, either.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("isoscope.databases.mariadb.server._FOLDERS", ())
    mine = tuple(case for case in intervals_runs.CASES if case.database == "mariadb")
    [skipped] = intervals_runs.measure_all(mine)
    assert "there is no mariadbd" in intervals_runs.measurement(skipped).figures["skipped"]


def test_figure_11_has_a_panel_for_each_profile_and_contention() -> None:
    points = [
        intervals_runs.Verified(
            case=case,
            operations=1000,
            aborted=0.1,
            database=1000.0,
            verifier=2000.0,
            alone=4000.0,
            behind=0.1,
            left=0.2,
            held=0.001,
            violations=0,
            kinds=((10, 1, 0), (5, 0, 0), (4, 1, 1)),
        )
        for case in intervals_runs.CASES
    ]
    [plot] = intervals_runs.plots(points)
    picture = ElementTree.fromstring(plot.svg())
    assert len(picture.findall("{http://www.w3.org/2000/svg}g")) == 10
    measured = [one for one in intervals_runs.measured(points) if isinstance(one, Measurement)]
    runs, dependencies = measured[: len(points)], measured[len(points) :]
    assert runs[0].figures["sessions held up"] == "0.10 %"
    assert [one.figures["rw overlapping"] for one in dependencies] == ["1 (25.00 %)"] * len(points)
    assert {one.figures["rw decided"] for one in dependencies} == {"0.00 %"}
