"""Worlds are what instants allow for, and intervals say the same: Li et al. 2023, Theorems 2, 3 and 4."""

from __future__ import annotations

from itertools import pairwise, permutations, product

from hypothesis import given
from hypothesis import strategies as st

from isoscope.profiles import Lock
from isoscope.reference.mechanisms import Place, Span, Version, candidates, direct
from isoscope.reference.mechanisms import first_updater_wins as updaters
from isoscope.reference.mechanisms import mutual_exclusion as locks
from isoscope.reference.mechanisms.worlds import closure, possible, worlds
from isoscope.reference.observations import INITIAL

SPANS = st.tuples(st.integers(0, 9), st.integers(0, 4)).map(lambda ends: Span(ends[0], sum(ends)))
FIRST = Version(INITIAL, (), Span(-1, -1))


@st.composite
def versions(draw: st.DrawFn) -> list[Version]:
    drawn = draw(st.lists(st.tuples(SPANS, st.booleans() | st.just(value=True)), max_size=4))
    found = [Version(n, n, span, Place(n, 0), is_certain) for n, (span, is_certain) in enumerate(drawn)]
    return [FIRST, *found]


@st.composite
def orders(draw: st.DrawFn, of: list[Version]) -> frozenset[tuple[int, int]]:
    """Some of what is true in one world of the versions, and what intervals say."""
    spans = {v.transaction: v.span for v in of if v.transaction != INITIAL}
    world = draw(st.sampled_from(list(worlds(spans))))
    true = [(a, b) for place, a in enumerate(world) for b in world[place + 1 :]]
    deduced = draw(st.sets(st.sampled_from(true))) if true else set()
    return closure(deduced | {(a, b) for a, b in true if spans[a].precedes(spans[b])})


@given(st.lists(SPANS, max_size=3))
def test_a_world_is_an_order_for_which_there_are_instants(spans: list[Span]) -> None:
    ends = sorted({end for span in spans for end in span})
    instants = [*ends, *((a + b) / 2 for a, b in pairwise(ends))]
    inside = [[i for i in instants if span.invoke <= i <= span.complete] for span in spans]
    possible = {
        order
        for chosen in product(*inside)
        for order in permutations(range(len(spans)))
        if [chosen[n] for n in order] == sorted(chosen)
    }
    assert set(worlds(dict(enumerate(spans)))) == possible


def test_two_that_no_world_allows_for_break_nothing() -> None:
    """Both were at work together in every world, of which there is at least one."""
    assert not possible([]).is_violated
    assert possible(["together"]).is_violated
    assert not possible(["together", "before"]).is_violated


@given(versions(), SPANS)
def test_candidates_are_neither_future_nor_garbage(found: list[Version], snapshot: Span) -> None:
    assert candidates(found, snapshot) == direct.candidates(found, snapshot)


@given(versions().flatmap(lambda found: st.tuples(st.just(found), orders(found))), SPANS)
def test_what_is_known_of_their_order_makes_more_versions_garbage(
    drawn: tuple[list[Version], frozenset[tuple[int, int]]], snapshot: Span
) -> None:
    found, order = drawn
    kept = candidates(found, snapshot, order)
    assert kept == direct.candidates(found, snapshot, order)
    assert kept <= candidates(found, snapshot)


@given(versions(), SPANS)
def test_there_is_always_something_to_read(found: list[Version], snapshot: Span) -> None:
    assert candidates(found, snapshot)


@st.composite
def held(draw: st.DrawFn, number: int) -> locks.Held:
    """A lock that was released after it was taken."""
    taken = draw(SPANS)
    late, long = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    released = Span(taken.invoke + late, max(taken.complete, taken.invoke + late) + long)
    return locks.Held(Place(number, 0), "x", Lock.EXCLUSIVE, taken, released)


@given(held(0), held(1))
def test_locks_are_held_in_the_orders_that_their_spans_leave(one: locks.Held, other: locks.Held) -> None:
    found = locks.one_after_the_other(one, other)
    assert found.before == direct.may_be_released_before(one, other)
    assert found.after == direct.may_be_released_before(other, one)


@given(held(0), held(1))
def test_two_locks_that_were_certainly_held_leave_at_most_one_order(
    one: locks.Held, other: locks.Held
) -> None:
    found = locks.one_after_the_other(one, other)
    if one.taken.precedes(one.released) and other.taken.precedes(other.released):
        assert not (found.before and found.after)


@st.composite
def changed(draw: st.DrawFn, number: int) -> updaters.Changed:
    lock = draw(held(number))
    return updaters.Changed(lock.place, lock.taken, lock.released, is_new=draw(st.booleans()))


@given(changed(0), changed(1))
def test_updaters_went_in_the_orders_that_their_spans_leave(
    one: updaters.Changed, other: updaters.Changed
) -> None:
    found = updaters.one_after_the_other(one, other)
    assert found.before == direct.may_commit_before(one, other)
    assert found.after == direct.may_commit_before(other, one)


@given(changed(0), changed(1))
def test_two_updaters_that_certainly_ran_leave_at_most_one_order(
    one: updaters.Changed, other: updaters.Changed
) -> None:
    found = updaters.one_after_the_other(one, other)
    is_certain = one.snapshot.precedes(one.commit) and other.snapshot.precedes(other.commit)
    if is_certain and not one.is_new and not other.is_new:
        assert not (found.before and found.after)
