"""Session guarantees and cut isolation, compared with their definitions on every order of versions."""

from __future__ import annotations

import random
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.verify.levels import GUARANTEES
from tests.verify.boundaries import tiny
from tests.verify.naive import last_version, version_orders
from tests.verify.prover import prove
from tests.verify.small import accepts, explanations, history_of
from tests.verify.worlds import World, canonical, non_repeatable, versions_of, worlds

if TYPE_CHECKING:
    from isoscope.verify.history import History

KINDS = {"registers": {}, "repeated": {"repeated": True}, "lists": {"lists": True}}


def met(world: World, number: int, what: str, key: Any) -> list[Any]:
    """The versions of a key that a transaction read or wrote."""
    if what == "write":
        return [version for k, version in versions_of(world.history.transactions[number]) if k == key]
    found = []
    for read, (read_key, value) in world.reads.items():
        if read[0] == number and read_key == key and (isinstance(value, list) or read in world.writers):
            if isinstance(value, list) and canonical(world).get(key, [])[: len(value)] != value:
                continue  # it shows no state that there ever was
            version = last_version(world, read)
            is_shown = version is not None or value == [] or not isinstance(value, list)
            found += [version] if is_shown else []
    return found


def is_of(version: Any, number: int) -> bool:
    """A transaction's own versions order nothing."""
    return version is not None and version[0] == number


def keeps(world: World, order: dict[Any, list[Any]], kind: str) -> bool:
    first = "write" if kind in ("read-your-writes", "monotonic-writes") else "read"
    second = "read" if kind in ("read-your-writes", "monotonic-reads") else "write"
    for one, two in product(world.counting, world.counting):
        if one.session != two.session or one.place >= two.place:
            continue
        for key, versions in order.items():
            ranks = {version: rank for rank, version in enumerate([None, *versions])}
            compared = [
                v for v in met(world, one.number, first, key) if second == "read" or not is_of(v, two.number)
            ]
            earlier = [ranks[version] for version in compared]
            later = [ranks[version] for version in met(world, two.number, second, key)]
            if earlier and later and min(later) < max(earlier):
                return False
    return True


def guarantee_holds(history: History, kind: str) -> bool:
    return any(keeps(world, order, kind) for world in worlds(history) for order in version_orders(world))


def is_accepted(history: History, kind: str) -> bool:
    """Whether one of all possible witnesses is accepted."""
    for explanation in explanations(history):
        versions: dict[Any, list[Any]] = {}
        for t in explanation.pop("counting"):
            for key, (_, place) in versions_of(t):
                versions.setdefault(key, []).append([t.id, place])
        for chosen in product(*(permutations(of_key) for of_key in versions.values())):
            witness = explanation | {"witness": "a", "versions": [list(order) for order in chosen]}
            if accepts(history, witness, {"level": kind, "outcome": "holds", "witness": "a"}):
                return True
    return False


def compare(kind: str, seed: int) -> None:
    history = history_of(random.Random(seed), **KINDS[kind])
    for level in GUARANTEES:
        expected = guarantee_holds(history, level)
        assert is_accepted(history, level) == expected, (seed, level)
        assert (prove(history, level) is None) == expected, (seed, level)


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_guarantee_is_proved_exactly_where_it_holds(kind: str) -> None:
    for seed in range(3):
        compare(kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_session_guarantee_is_proved_exactly_where_it_holds_of_many(kind: str) -> None:
    for seed in range(3, 40):
        compare(kind, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_cut_isolation_is_proved_exactly_where_it_holds(kind: str) -> None:
    for seed in range(25):
        history = history_of(random.Random(seed), **KINDS[kind])
        expected = any(not non_repeatable(world) for world in worlds(history))
        took_effect = [t.id for t in history.transactions if t.status == "indeterminate"]
        line = {"level": "cut-isolation", "outcome": "holds"}
        assert accepts(history, line) == expected or took_effect, seed
        assert (prove(history, "cut-isolation") is None) == expected, seed


@pytest.mark.parametrize(
    ("kind", "kept", "broken"),
    [
        ("read-your-writes", ((0, "w x 1"), (0, "r x 1")), ((0, "w x 1"), (0, "r x 0"))),
        (
            "monotonic-reads",
            ((0, "r x 0"), (0, "r x 1"), (1, "w x 1")),
            ((0, "r x 1"), (0, "r x 0"), (1, "w x 1")),
        ),
        (
            "writes-follow-reads",
            ((0, "r x 1"), (0, "w x 2"), (1, "w x 1")),
            ((0, "r x [2,1]"), (0, "a x 2"), (1, "a x 1")),
        ),
        (
            "monotonic-writes",
            ((0, "a x 1"), (0, "a x 2"), (1, "r x [1,2]")),
            ((0, "a x 1"), (0, "a x 2"), (1, "r x [2,1]")),
        ),
    ],
)
def test_the_nearest_histories_of_a_guarantee(kind: str, kept: Any, broken: Any) -> None:
    assert is_accepted(tiny(kept), kind)
    assert not is_accepted(tiny(broken), kind)
    assert prove(tiny(broken), kind) is not None


@pytest.mark.parametrize(
    ("read", "append", "is_proved"), [("[1]", 3, True), ("[1]", 1, False), ("[1,1]", 3, False)]
)
def test_an_element_that_repeats_does_not_show_by_itself_which_version_it_is(
    read: str, append: int, is_proved: bool
) -> None:
    history = tiny(((0, "a x 1, a x 2"), (0, f"r x {read}, a x {append}")))
    goes_back = {"first": [1, 1], "second": [2, 0], "versions": [[1, 0], [1, 1]]}
    line = {"level": "read-your-writes", "outcome": "violated", "proof": {"session": goes_back}}
    assert accepts(history, line) is is_proved
