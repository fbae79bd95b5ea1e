"""No false alarm: a database that works as its profile says is never accused, and what is deduced is true."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoscope.reference.mechanisms import judge, judge_pairs

from .timed import (
    FOUNDATIONDB,
    INNODB_SERIALIZABLE,
    POSTGRESQL_REPEATABLE_READ,
    POSTGRESQL_SERIALIZABLE,
    PROFILES,
    SPANNER,
    SQLITE,
    TIDB_OPTIMISTIC,
)
from .timed_replays import replay

if TYPE_CHECKING:
    from isoscope.profiles import Profile

each = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)


@each
@given(seed=st.integers(0, 2**32))
def test_a_database_that_works_is_not_accused(profile: Profile, seed: int) -> None:
    told = replay(profile, Random(seed))
    assert judge(told.history, profile).findings == frozenset()


@each
@given(seed=st.integers(0, 2**32))
def test_what_is_deduced_of_a_database_that_works_is_true(profile: Profile, seed: int) -> None:
    told = replay(profile, Random(seed))
    assert judge(told.history, profile).dependencies <= told.truth


@given(profile=st.sampled_from(PROFILES), seed=st.integers(0, 2**32))
def test_what_intervals_alone_show_the_mechanisms_together_show(profile: Profile, seed: int) -> None:
    told = replay(profile, Random(seed)).history
    assert judge_pairs(told, profile).dependencies <= judge(told, profile).dependencies


@pytest.mark.parametrize(
    ("fault", "profile", "found"),
    [
        (
            "reads",
            POSTGRESQL_REPEATABLE_READ,
            {("inconsistent-read", "stale"), ("inconsistent-read", "missing-row")},
        ),
        ("locks", INNODB_SERIALIZABLE, {("lock-violation", "row"), ("lock-violation", "predicate")}),
        ("locks", SPANNER, {("lock-violation", "commit")}),
        ("locks", SQLITE, {("lock-violation", "row"), ("lock-violation", "commit")}),
        ("updaters", POSTGRESQL_REPEATABLE_READ, {("first-updater-violation", "overlap")}),
        ("certifier", POSTGRESQL_SERIALIZABLE, {("certifier-violation", "ssi")}),
        ("certifier", FOUNDATIONDB, {("certifier-violation", "optimistic-reads")}),
        ("certifier", TIDB_OPTIMISTIC, {("certifier-violation", "optimistic-writes")}),
    ],
)
def test_a_mechanism_that_fails_is_found(fault: str, profile: Profile, found: set[tuple[str, str]]) -> None:
    runs = (judge(replay(profile, Random(seed), fault).history, profile) for seed in range(120))
    assert set[tuple[str, str]]().union(*(run.cases() for run in runs)) >= found
