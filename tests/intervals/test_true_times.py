"""Against true times: a database that works is never accused, and what is deduced is so."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoscope import _native
from isoscope.databases.profiled import Delays, Load, Run, run
from isoscope.history import History, OperationKind
from isoscope.profiles import PROFILES

from .mirrored import mirrored
from .runs import QUIET, database, drawn_load, ran

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.history import Scalar
    from isoscope.profiles import Profile

READS = (OperationKind.READ, OperationKind.RANGE_READ)
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
    told, certain = deduced(profile, seed)
    true = appearances(told)
    for key, values in certain.items():
        instants = [true[key][value] for value in values]
        assert instants == sorted(instants), key


@each
def test_most_versions_of_clients_that_take_turns_are_in_a_certain_order(profile: Profile) -> None:
    told, certain = deduced(profile, 1, delays=QUIET)
    assert sum(map(len, certain.values())) >= 0.9 * len(told.truth.versions) > 0


def deduced(
    profile: Profile, seed: int, delays: Delays | None = None
) -> tuple[Run, Mapping[Scalar, tuple[Scalar, ...]]]:
    """A run in which every version has a value of its own, and the order of versions that is certain."""
    random = Random(seed)
    load = replace(drawn_load(random, 80), repeated_values=0, deletes=0, lost_answers=0)
    simulated = database(profile, random)
    told = run(replace(simulated, delays=delays or simulated.delays), load)
    columns = _native.deduced_versions(told.history.columns, profile.native, clock_error=0)
    [order] = History(columns).version_orders
    return told, order.versions


def appearances(told: Run) -> dict[object, dict[object, int]]:
    """When each value of a key appeared."""
    transactions = list(told.history)
    found: dict[object, dict[object, int]] = defaultdict(dict)
    for version in told.truth.versions:
        operations = transactions[version.transaction].operations
        writes = [one for one in operations if one.key == version.key and one.kind not in READS]
        found[version.key][writes[-1].value] = version.appeared
    return found
