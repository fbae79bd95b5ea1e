"""Against true times: a database that works is never accused, and what is deduced is so."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoscope import _native
from isoscope.databases.profiled import Load, Run, run
from isoscope.history import History, OperationKind
from isoscope.profiles import PROFILES

from .mirrored import mirrored
from .runs import database, ran

if TYPE_CHECKING:
    from isoscope.profiles import Profile

SEEDS = st.integers(0, 2**32)
each = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
#: A run is a whole history: fewer of them for each profile.
few = settings(max_examples=max(4, settings().max_examples // 10))


@each
@few
@given(seed=SEEDS, clock_error=st.sampled_from([0, 0, 30_000]))
def test_a_database_that_works_is_never_accused(profile: Profile, seed: int, clock_error: int) -> None:
    told = ran(profile, seed, clock_error=clock_error)
    assert mirrored(told.history, profile, clock_error).counts == {}


@each
@few
@given(seed=SEEDS)
def test_a_few_transactions_on_two_rows_are_never_accused(profile: Profile, seed: int) -> None:
    random = Random(seed)
    load = Load(
        clients=random.randint(2, 4), transactions=random.randint(2, 8), operations=(1, 4), keys=2, ranges=0.2
    )
    told = run(database(profile, random), load)
    assert mirrored(told.history, profile).counts == {}


@each
@few
@given(seed=SEEDS)
def test_the_order_of_versions_that_is_certain_is_the_true_one(profile: Profile, seed: int) -> None:
    told = ran(profile, seed, transactions=80)
    true = appearances(told)
    columns = _native.deduced_versions(told.history.columns, profile.row(), clock_error=0)
    found = 0
    for key, values in History(columns).versions.items():
        writers = [true[key].get(value, []) for value in values]
        if any(len(each) > 1 for each in writers):
            continue  # a repeated value does not say whose it is
        for before, after in pairwise(writers):
            assert before < after, key
            found += 1
    assert found >= 0


def appearances(told: Run) -> dict[object, dict[object, list[int]]]:
    """When each value of a key appeared."""
    transactions = list(told.history)
    found: dict[object, dict[object, list[int]]] = defaultdict(lambda: defaultdict(list))
    for version in told.truth.versions:
        writes = [
            one
            for one in transactions[version.transaction].operations
            if one.key == version.key and one.kind not in (OperationKind.READ, OperationKind.RANGE_READ)
        ]
        found[version.key][writes[-1].value].append(version.appeared)
    return found
