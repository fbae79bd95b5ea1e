"""The oracle over instants: cases that were worked out by hand, correct runs, and the specification."""

from __future__ import annotations

import pytest

from isoscope.profiles import PROFILES
from isoscope.reference.instants import is_explained, is_supported
from isoscope.reference.mechanisms import judge
from tests.intervals.runs import ran

from .explained import CASES, Case
from .timed import append, commit, committed, history, write

each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)


@each
def test_the_oracle_finds_an_explanation_where_there_is_one(case: Case) -> None:
    assert is_supported(case.history)
    assert is_explained(case.history, PROFILES[case.profile]) == case.is_explained


@each
def test_the_specification_accuses_what_has_no_explanation(case: Case) -> None:
    assert bool(judge(case.history, PROFILES[case.profile]).findings) != case.is_explained


@pytest.mark.parametrize("profile", PROFILES)
def test_the_oracle_explains_runs_of_another_engine(profile: str) -> None:
    for seed in range(5):
        run = ran(PROFILES[profile], seed, transactions=4)
        assert is_explained(run.history, PROFILES[profile]), seed


def test_a_rule_that_is_dropped_explains_what_broke_it() -> None:
    lost = history(
        committed(write("x", 1, 1, 2), commit(5, 6)),
        committed(write("x", 2, 3, 4), commit(7, 8)),
        initial=0,
    )
    profile = PROFILES["mysql/read-committed"]
    assert not is_explained(lost, profile)
    assert is_explained(lost, profile, without=["mutual-exclusion"])
    assert not is_explained(lost, profile, without=["consistent-read", "first-updater-wins", "certifier"])


def test_lists_are_not_supported() -> None:
    assert not is_supported(history(committed(append("x", 1, 1, 2), commit(3, 4))))
