"""Every fault of the simulated database is found by the mechanism that it breaks, and by no other."""

from __future__ import annotations

from typing import Any

import pytest

from isoscope.databases.profiled import FAULTS, Load, Profiled, Run, run
from isoscope.profiles import PROFILES
from tests.databases.test_profiled import OCCASIONS

from .mirrored import mirrored
from .runs import QUIET

READ = "inconsistent-read"
#: What each fault shows.
EXPECTED = {
    "stale-snapshot": READ,
    "moving-snapshot": READ,
    "dirty-read": READ,
    "aborted-read": READ,
    "intermediate-read": READ,
    "future-read": READ,
    "lost-own-write": READ,
    "missing-lock": "lock-violation",
    "missing-share-lock": "lock-violation",
    "early-release": "lock-violation",
    "missed-first-updater": "first-updater-violation",
    "missed-certifier": "certifier-violation",
    "lost-version": READ,
    "missing-row": READ,
}
#: Faults that are always found if clients take turns. A snapshot that moves may show the same versions, a
#: version that is lost may be read by no transaction, and a certifier judges only certain rw.
ALWAYS = sorted(
    EXPECTED.keys()
    - {"moving-snapshot", "missing-share-lock", "missed-certifier", "lost-version", "missing-row"}
)
LOAD: Any = {
    "clients": 6,
    "transactions": 60,
    "operations": (2, 5),
    "keys": 6,
    "ranges": 0.2,
    "longest_range": 4,
    "updates_after_reads": 0.3,
    "inserts": 0.1,
    "deletes": 0.1,
    "rollbacks": 0.1,
}
SEEDS = range(16)


def faulty(fault: str, seed: int) -> Run:
    profile = PROFILES[OCCASIONS[fault]]
    return run(Profiled(profile=profile, seed=seed, delays=QUIET, faults={fault: 0.1}), Load(**LOAD))


def test_every_fault_has_its_mechanism() -> None:
    assert list(EXPECTED) == list(FAULTS)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_the_mechanism_that_it_breaks(fault: str) -> None:
    profile = PROFILES[OCCASIONS[fault]]
    found = [mirrored(faulty(fault, seed).history, profile).counts for seed in SEEDS]
    assert {name for counts in found for name in counts} == {EXPECTED[fault]}


@pytest.mark.parametrize("fault", ALWAYS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_fault_that_intervals_do_not_hide_is_found_always(fault: str, seed: int) -> None:
    told = faulty(fault, seed)
    _, visible = told.struck().get(fault, (0, 0))
    found = mirrored(told.history, PROFILES[OCCASIONS[fault]]).counts
    assert bool(found) == bool(visible)
