"""Every witness of tiny histories is tried: one is accepted exactly where the level holds by definition."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.verify.boundaries import BOUNDARIES, tiny
from tests.verify.naive import holds
from tests.verify.small import BY_EVENTS, BY_ORDER, accepted_levels, accepts, history_of

if TYPE_CHECKING:
    from isoscope.verify.history import History

KINDS = {"registers": {}, "repeated": {"repeated": True}, "lists": {"lists": True}}


def compare(history: History) -> None:
    told = [(str(t), t.session, t.status, t.begin, t.end, t.operations) for t in history.transactions]
    for levels, events in ((BY_ORDER, False), (BY_EVENTS, True)):
        expected = {level for level in levels if holds(history, level)}
        assert accepted_levels(history, levels, events=events) == expected, told


@pytest.mark.parametrize("kind", KINDS)
def test_a_witness_is_accepted_exactly_where_the_level_holds(kind: str) -> None:
    for seed in range(15):
        compare(history_of(random.Random(seed), **KINDS[kind]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_witness_is_accepted_exactly_where_the_level_holds_of_many(kind: str) -> None:
    for seed in range(1000, 1200):
        compare(history_of(random.Random(seed), **KINDS[kind]))


@pytest.mark.parametrize("name", BOUNDARIES)
def test_a_history_between_two_levels_keeps_the_one_and_breaks_the_other(name: str) -> None:
    boundary = BOUNDARIES[name]
    history = tiny(boundary.transactions)
    if boundary.keeps == "cut-isolation":
        assert accepts(history, {"level": "cut-isolation", "outcome": "holds"})
    else:
        assert holds(history, boundary.keeps)
        events = boundary.keeps in BY_EVENTS
        assert accepted_levels(history, (boundary.keeps,), events=events) == {boundary.keeps}
    assert not holds(history, boundary.breaks)
    assert not accepted_levels(history, (boundary.breaks,), events=boundary.breaks in BY_EVENTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDARIES)
def test_the_neighbours_of_such_a_history_are_judged_by_the_definition(name: str) -> None:
    """Each read shows every other value once, and each transaction is moved to another session."""
    boundary = BOUNDARIES[name]
    if len(boundary.transactions) > 3:
        boundary = boundary._replace(transactions=boundary.transactions[:3])
    for number, (session, text) in enumerate(boundary.transactions):
        for changed in (
            (session + 1, text),
            (session, text.replace(" 0", " 1")),
            (session, text.replace(" 1", " 0")),
            (session, text.replace(" 2", " 1")),
            (session, text.replace("[1]", "[]")),
            (session, ", ".join(reversed(text.split(", ")))),
        ):
            made = [*boundary.transactions]
            made[number] = changed
            compare(tiny(tuple(made)))
