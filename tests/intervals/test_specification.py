"""The kernel and the specification agree on small traces with labels, for profiles of all kinds.

The specification tries all worlds. The kernel deduces less in a few places, which is allowed: it does not
judge cells of a row that the reader changed, and it convicts a read of uncommitted data only if the version
was overwritten by one that was locked after its commit. It deduces more in one place: a transaction whose
write was read has committed, although its own commit was not answered.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from isoscope.databases.profiled import FAULTS, Load, run
from isoscope.profiles import (
    PROFILES,
    Certifier,
    Conduct,
    Granularity,
    Lock,
    Profile,
    Read,
    Snapshot,
    Statement,
)
from isoscope.reference.mechanisms import Finding, Place, judge, judge_pairs
from isoscope.reference.mechanisms.conduct import conduct_of
from tests.reference import timed

from .mirrored import mirrored
from .runs import database
from .traces import drawn_trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History

READ, LOCK, UPDATER, CERTIFIER, CONTRADICTION = (
    "inconsistent-read",
    "lock-violation",
    "first-updater-violation",
    "certifier-violation",
    "contradictory-dependencies",
)
TORN = "torn"
COMPARING = (Certifier.OPTIMISTIC_WRITES, Certifier.TIMESTAMP_ORDER)
RANDOMS = st.integers(0, 2**32).map(Random)


@st.composite
def any_profile(draw: st.DrawFn) -> Profile:
    """Each kind of statement locks and reads anything."""
    conducts = st.builds(Conduct, st.sampled_from(Lock), st.sampled_from(Read), st.booleans())
    snapshot, certifier = draw(st.sampled_from(Snapshot)), draw(st.sampled_from(Certifier))
    # Both of these certifiers compare writers themselves: with them a profile has no first updater wins.
    is_compared = snapshot is not Snapshot.STATEMENT and certifier not in COMPARING
    return replace(
        PROFILES["postgresql/serializable"],
        name="any/level",
        snapshot=snapshot,
        first_updater_wins=is_compared and draw(st.booleans()),
        certifier=certifier,
        granularity=draw(st.sampled_from([Granularity.ROW, Granularity.ROW, Granularity.DATABASE])),
        commit_lock=draw(st.sampled_from([Lock.NONE, Lock.NONE, Lock.EXCLUSIVE])),
        statements={statement: draw(conducts) for statement in Statement},
    )


ANY_PROFILE = st.sampled_from([*PROFILES.values(), *timed.PROFILES]) | any_profile()


def reads(findings: Iterable[Finding]) -> set[Place]:
    """Reads that show what they should not, each by itself."""
    return {found.places[0] for found in findings if found.name == READ and found.case != TORN}


def torn(findings: Iterable[Finding]) -> set[int]:
    return {found.places[0].transaction for found in findings if (found.name, found.case) == (READ, TORN)}


def parties(findings: Iterable[Finding], name: str) -> set[tuple[str, frozenset[int]]]:
    """The transactions of findings; of locks it does not matter which of a transaction are named."""
    return {
        ("" if name == LOCK else found.case, frozenset(place.transaction for place in found.places))
        for found in findings
        if found.name == name
    }


def contradicted(findings: Iterable[Finding]) -> set[frozenset[int]]:
    """The transactions whose versions are in two orders."""
    found = (one for one in findings if one.name == CONTRADICTION)
    return {frozenset(place.transaction for place in one.places[:2]) for one in found}


def of_committed_data(places: Iterable[Place], told: History, profile: Profile) -> set[Place]:
    """Reads that do not read uncommitted data, by the profile and their labels."""
    transactions = list(told)
    conducts = {
        place: conduct_of(transactions[place.transaction].operations[place.operation], profile)
        for place in places
    }
    return {place for place, conduct in conducts.items() if conduct.read is not Read.UNCOMMITTED}


@given(profile=ANY_PROFILE, random=RANDOMS)
def test_locks_that_collide_are_the_same(profile: Profile, random: Random) -> None:
    told = drawn_trace(random, cells=True, lists=True)
    assert parties(mirrored(told, profile).findings, LOCK) == parties(judge(told, profile).findings, LOCK)


@given(profile=ANY_PROFILE, random=RANDOMS)
def test_updaters_that_did_not_see_each_other_are_the_same(profile: Profile, random: Random) -> None:
    told = drawn_trace(random, is_certain=True)
    found, specified = mirrored(told, profile).findings, judge(told, profile).findings
    assert parties(found, UPDATER) == parties(specified, UPDATER)


@given(profile=ANY_PROFILE, random=RANDOMS)
def test_what_the_kernel_finds_is_specified(profile: Profile, random: Random) -> None:
    told = drawn_trace(random, cells=True, is_certain=True)
    found, specified = mirrored(told, profile).findings, judge(told, profile).findings
    assert reads(found) <= reads(specified)
    assert torn(found) <= torn(specified)
    assert parties(found, UPDATER) <= parties(specified, UPDATER)
    assert parties(found, CERTIFIER) <= parties(specified, CERTIFIER)
    assert contradicted(found) <= contradicted(specified)


@given(profile=ANY_PROFILE, random=RANDOMS)
def test_a_trace_without_findings_by_specification_has_none_in_the_kernel(
    profile: Profile, random: Random
) -> None:
    told = drawn_trace(random, cells=True, lists=True, is_certain=True)
    assert mirrored(told, profile).findings == () or judge(told, profile).findings


@given(profile=ANY_PROFILE, random=RANDOMS)
def test_reads_that_intervals_alone_convict_are_found(profile: Profile, random: Random) -> None:
    told = drawn_trace(random, is_certain=True)
    wrong = of_committed_data(reads(judge_pairs(told, profile).findings), told, profile)
    assert wrong <= reads(mirrored(told, profile).findings)


@given(profile=st.sampled_from(list(PROFILES.values())), random=RANDOMS)
def test_both_agree_on_a_database_with_faults(profile: Profile, random: Random) -> None:
    told = small_run(profile, random)
    found, specified = mirrored(told, profile).findings, judge(told, profile).findings
    assert parties(found, LOCK) == parties(specified, LOCK)
    assert parties(found, UPDATER) == parties(specified, UPDATER)
    assert reads(found) <= reads(specified)
    assert of_committed_data(reads(judge_pairs(told, profile).findings), told, profile) <= reads(found)


def small_run(profile: Profile, random: Random) -> History:
    """Few transactions on few rows, with a fault in one of five occasions."""
    load = Load(
        clients=random.randint(2, 4),
        transactions=random.randint(2, 6),
        operations=(1, 3),
        keys=2,
        ranges=0.2,
        longest_range=2,
        updates_after_reads=0.3,
        deletes=0.1,
        rollbacks=0.1,
    )
    faults = {random.choice(sorted(FAULTS)): 0.2}
    return run(database(profile, random, faults=faults), load).history
