"""The published workloads of solvers: the same bytes every time, valid histories, values that repeat."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from benchmarks.solver import CASES, Case, recorded
from benchmarks.solver_programs import KeyValue
from benchmarks.solver_store import ISOLATIONS, Isolation, Recorded

from isoscope import formats
from isoscope.checkers import check
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

REPEATING = ("VeriStrong HD-10k", "RUBiS-10k", "Twitter-10k", "SmallBank-10k")


def named(name: str) -> Case:
    [case] = [case for case in CASES if case.name == name]
    return case


def few(case: Case) -> Case:
    return replace(case, sessions=4, transactions=15)


def replay(history: Recorded) -> None:
    """Every read shows what some transaction, or the reader itself before, wrote; or nothing."""
    everything = [operations for session in history.sessions for operations in session]
    written = {(key, value) for operations in everything for is_write, key, value in operations if is_write}
    for operations in everything:
        own: dict[object, object] = {}
        for is_write, key, value in operations:
            if is_write:
                own[key] = value
            elif key in own:
                assert value == own[key]
            else:
                assert value is None or (key, value) in written


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_small_run_is_what_its_store_promises(case: Case, isolation: Isolation, tmp_path: Path) -> None:
    history = recorded(few(case), isolation)
    replay(history)
    assert [len(session) for session in history.sessions] == [15] * 4
    path = tmp_path / "history.txt"
    history.save(path)
    [verdict] = check(formats.load(path), [isolation]).verdicts
    assert verdict.outcome is not Outcome.VIOLATED
    if history.repeated == 0:
        assert verdict.outcome is Outcome.HOLDS


def test_the_same_case_is_the_same_file(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        path = tmp_path / name
        recorded(few(named("SmallBank-10k")), "serializable").save(path)
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    assert texts[0] != ""


@pytest.mark.parametrize("name", REPEATING)
def test_values_repeat_where_the_published_ones_do(name: str) -> None:
    case = replace(named(name), transactions=80)
    assert recorded(case, "serializable").repeated > 0.05
    assert recorded(replace(named("PolySI general"), transactions=20), "serializable").repeated == 0


def test_only_a_store_with_snapshots_lets_a_write_skew_pass(tmp_path: Path) -> None:
    case = Case("few keys", KeyValue(operations=4, keys=6).program, 4, 15)
    found = {}
    for isolation in ISOLATIONS:
        path = tmp_path / isolation
        recorded(case, isolation).save(path)
        verdicts = check(formats.load(path), ["snapshot-isolation", "serializable"]).verdicts
        found[isolation] = {str(verdict.level): str(verdict.outcome) for verdict in verdicts}
    assert found["serializable"] == {"snapshot-isolation": "holds", "serializable": "holds"}
    assert found["snapshot-isolation"] == {"snapshot-isolation": "holds", "serializable": "violated"}
