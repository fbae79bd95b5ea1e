"""Online and as a whole the same is found, whatever the batches, and with checkpoints in between."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoscope import _native
from isoscope.databases.profiled import FAULTS, run, slices
from isoscope.profiles import PROFILES

from .runs import database, drawn_load

if TYPE_CHECKING:
    from isoscope.databases.profiled import Load, Profiled
    from isoscope.profiles import Profile

FOREVER = 10**18
few = settings(max_examples=max(2, settings().max_examples // 20))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@few
@given(
    seed=st.integers(0, 2**32),
    clock_error=st.sampled_from([0, 0, 20_000]),
    fault=st.none() | st.sampled_from(sorted(FAULTS)),
    size=st.sampled_from([1, 7, 50, 200]),
)
def test_online_the_same_is_found_as_in_the_whole(
    profile: Profile, seed: int, clock_error: int, fault: str | None, size: int
) -> None:
    random = Random(seed)
    faults = {fault: 0.05} if fault else {}
    simulated = database(profile, random, faults=faults, clock_error=clock_error)
    load = drawn_load(random)
    engine = told_online(simulated, load, random, size)
    whole = _native.judge_intervals(
        run(simulated, load).history.columns, profile.native, clock_error=clock_error, most=3
    )
    _, _, found = engine.report()
    assert (found[0], found[2], found[3]) == (whole[0], whole[2], whole[3])
    assert all(engine.recent(piece[0]) for piece in engine.news()[-3:])


def told_online(simulated: Profiled, load: Load, random: Random, size: int) -> _native.IntervalsOnline:
    """Everything slice by slice; now and then the engine is saved and loaded again."""
    whole = run(simulated, load).history
    engine = _native.IntervalsOnline(
        simulated.profile.native,
        clock_error=simulated.delays.clock_error,
        most=3,
        initial=whole.initial.value,
        timeout=FOREVER,
    )
    for session in {one.session_id for one in whole}:
        engine.heartbeat(session, 0, 0)
    for now, part in enumerate(slices(simulated, load, size)):
        engine.take(part.columns, now)
        if random.random() < 0.3:
            engine = _native.IntervalsOnline.load(engine.save())
        engine.advance(now)
    engine.flush()
    return engine
