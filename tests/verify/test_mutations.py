"""A certificate in which one thing is changed is rejected, unless what it says is still so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from isoscope.verify.history import BadInputError
from tests.verify.boundaries import BOUNDARIES, tiny
from tests.verify.naive import holds
from tests.verify.prover import prove
from tests.verify.small import BY_EVENTS, BY_ORDER, accepts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.history import History

CHAIN = tiny(((0, "w x 1"), (1, "r x 1, w y 2"), (2, "r y 2, w x 3"), (3, "r x 3, r y 2")))
SKEW = tiny(((0, "r x 0, w y 1"), (1, "r y 0, w x 2")))
CYCLE = [
    {"by": "rw", "from": 1, "to": 2, "read": 0, "versions": [None, [2, 1]]},
    {"by": "rw", "from": 2, "to": 1, "read": 0, "versions": [None, [1, 1]]},
]


def swapped(order: list[int]) -> Iterator[list[int]]:
    for one in range(len(order)):
        for two in range(one):
            if order[one] != order[two]:
                changed = [*order]
                changed[one], changed[two] = order[two], order[one]
                yield changed


@pytest.mark.parametrize("level", ["serializable", "causal", "read-atomic", "read-committed", "pl-2"])
def test_two_positions_of_an_order_cannot_be_swapped(level: str) -> None:
    """In this history every transaction depends on the one before it."""
    line = {"level": level, "outcome": "holds", "witness": "a"}
    assert accepts(CHAIN, {"witness": "a", "order": [1, 2, 3, 4]}, line)
    for order in swapped([1, 2, 3, 4]):
        assert not accepts(CHAIN, {"witness": "a", "order": order}, line), order


@pytest.mark.parametrize("level", ["snapshot-isolation", "prefix"])
def test_two_events_of_different_transactions_cannot_be_swapped(level: str) -> None:
    events = [1, 1, 2, 2, 3, 3, 4, 4]
    line = {"level": level, "outcome": "holds", "witness": "a"}
    assert accepts(CHAIN, {"witness": "a", "events": events}, line)
    for changed in swapped(events):
        assert not accepts(CHAIN, {"witness": "a", "events": changed}, line), changed


@pytest.mark.parametrize(
    "order", [[1, 2, 3], [1, 2, 3, 4, 4], [1, 2, 3, 4, 5], [1, 2, 3, "4"], [1, 2, 3, True], 7]
)
def test_an_order_has_every_transaction_once(order: Any) -> None:
    line = {"level": "pl-1", "outcome": "holds", "witness": "a"}
    assert not accepts(CHAIN, {"witness": "a", "order": order}, line)


def mutated(proof: Any) -> Iterator[Any]:
    """The proof with one number, kind or step changed."""
    if isinstance(proof, dict):
        for name, part in proof.items():
            for changed in mutated(part):
                yield proof | {name: changed}
    elif isinstance(proof, list):
        for at, part in enumerate(proof):
            yield proof[:at] + proof[at + 1 :]
            for changed in mutated(part):
                yield [*proof[:at], changed, *proof[at + 1 :]]
    elif isinstance(proof, int) or proof is None:
        yield from (number for number in (None, 0, 1, 2, 3) if number != proof)
    elif proof in ("wr", "ww", "rw", "session", "real-time", "initial", "axiom"):
        yield from {"wr", "ww", "rw", "session", "initial", "axiom"} - {proof}


def broken(content: Any) -> Iterator[Any]:
    """The same JSON with one part replaced by something of another kind."""
    yield from (None, 7, "x", True, 1.5, [], {}, [[]], {"edn": "("})
    if isinstance(content, dict):
        for name, part in content.items():
            yield from (content | {name: changed} for changed in broken(part))
    elif isinstance(content, list):
        for at, part in enumerate(content):
            yield from ([*content[:at], changed, *content[at + 1 :]] for changed in broken(part))


@pytest.mark.parametrize(
    "lines",
    [
        [{"witness": "a", "order": [1, 2]}, {"level": "pl-1", "outcome": "holds", "witness": "a"}],
        [
            {"witness": "a", "events": [1, 2, 1, 2], "took_effect": [], "writers": [[[1, 0], None]]},
            {"level": "snapshot-isolation", "outcome": "holds", "witness": "a"},
        ],
        [
            {"witness": "a", "versions": [[[1, 1]]]},
            {"level": "monotonic-writes", "outcome": "holds", "witness": "a"},
        ],
        [{"level": "serializable", "outcome": "violated", "proof": {"lemmas": [], "cycle": CYCLE}}],
        [
            {
                "level": "serializable",
                "outcome": "violated",
                "proof": {"split": {"writer": [1, 0]}, "cases": []},
            }
        ],
        [{"level": "pl-1", "outcome": "violated", "proof": {"split": {"order": [[1, 1], [2, 1]]}}}],
        [{"level": "pl-2", "outcome": "violated", "proof": {"reads": [[1, 0], [2, 0]]}}],
        [{"level": "pl-2", "outcome": "holds", "sources": [{"source": "log", "witness": "a"}]}],
    ],
)
def test_whatever_a_certificate_holds_is_rejected_without_a_fault(lines: list[dict[str, Any]]) -> None:
    for changed in broken(lines):
        if isinstance(changed, list) and all(isinstance(line, dict) for line in changed):
            _accepts(SKEW, *changed)


def test_a_cycle_with_one_change_is_rejected() -> None:
    line = {"level": "serializable", "outcome": "violated"}
    assert accepts(SKEW, line | {"proof": {"cycle": CYCLE}})
    changes = list(mutated({"cycle": CYCLE}))
    assert len(changes) > 50
    for changed in changes:
        assert not _accepts(SKEW, line | {"proof": changed}), changed


def _accepts(history: Any, *lines: dict[str, Any]) -> bool:
    try:
        return accepts(history, *lines)
    except BadInputError:
        return False


def test_no_mutated_proof_breaks_a_level_that_holds() -> None:
    """Proofs against one level, whole and changed, are offered against every level that holds."""
    offered = 0
    for name in ("write skew", "lost update", "read skew", "fractured", "a friend of a friend", "sessions"):
        boundary = BOUNDARIES[name]
        history = tiny(boundary.transactions)
        proof = prove(history, boundary.breaks)
        kept = [level for level in (*BY_ORDER, *BY_EVENTS) if holds(history, level)]
        assert kept
        for changed in [proof, *mutated(proof)]:
            for level in kept:
                offered += 1
                assert not _accepts(history, {"level": level, "outcome": "violated", "proof": changed})
    assert offered > 1000


def skew(writer: int, place: int) -> dict[str, Any]:
    """T3 read x from the writer, and y from before it."""
    return {
        "cycle": [
            {"by": "wr", "from": writer, "to": 3, "read": 0},
            {"by": "rw", "from": 3, "to": writer, "read": 1, "versions": [None, [writer, place]]},
        ]
    }


def two_possible_writers() -> History:
    return tiny(((0, "w x 1, w y 1"), (1, "w x 1, w y 2"), (2, "r x 1, r y 0")))


def test_every_possible_writer_has_a_case() -> None:
    history = two_possible_writers()
    line = {"level": "consistent-view", "outcome": "violated"}
    cases = [[[1, 0], skew(1, 1)], [[2, 0], skew(2, 1)]]
    split = {"split": {"writer": [3, 0]}}
    assert accepts(history, line | {"proof": split | {"cases": cases}})
    assert not accepts(history, line | {"proof": split | {"cases": cases[:1]}})
    assert not accepts(history, line | {"proof": split | {"cases": cases[1:]}})
    assert not accepts(
        history, line | {"proof": split | {"cases": [[[1, 0], skew(1, 1)], [[2, 0], skew(1, 1)]]}}
    )
    assert not accepts(history, line | {"proof": skew(1, 1)})


def test_a_transaction_that_may_have_taken_effect_has_two_cases() -> None:
    history = two_possible_writers()
    history.transactions[1].status, history.has_indeterminate = "indeterminate", True
    line = {"level": "consistent-view", "outcome": "violated"}
    cases = [[[1, 0], skew(1, 1)], [[2, 0], skew(2, 1)]]
    then: dict[str, Any] = {"split": {"writer": [3, 0]}, "cases": cases}
    proof = {"split": {"took_effect": 2}, "then": then, "else": skew(1, 1)}
    assert accepts(history, line | {"proof": proof})
    assert not accepts(history, line | {"proof": proof | {"then": skew(1, 1)}})
    assert not accepts(history, line | {"proof": proof | {"else": then | {"cases": cases[1:]}}})
    assert not accepts(history, line | {"proof": proof | {"split": {"took_effect": 1}}})


def test_lemmas_are_proved_before_they_are_used() -> None:
    """Two lost updates: whichever write was first, the other transaction missed it."""
    history = tiny(((0, "r x 0, w x 1"), (1, "r x 0, w x 2")))
    one, two = [1, 1], [2, 1]
    first = [
        {"by": "ww", "from": 1, "to": 2, "versions": [one, two]},
        {"by": "rw", "from": 2, "to": 1, "read": 0, "versions": [None, one]},
    ]
    second = [
        {"by": "ww", "from": 2, "to": 1, "versions": [two, one]},
        {"by": "rw", "from": 1, "to": 2, "read": 0, "versions": [None, two]},
    ]
    line = {"level": "cursor-stability", "outcome": "violated"}
    lemma = {"order": [one, two], "because": {"cycle": second}}
    assert accepts(history, line | {"proof": {"lemmas": [lemma], "cycle": first}})
    split = {"split": {"order": [one, two]}, "then": {"cycle": first}, "else": {"cycle": second}}
    assert accepts(history, line | {"proof": split})
    assert not accepts(history, line | {"proof": {"cycle": first}})
    assert not accepts(
        history, line | {"proof": {"lemmas": [lemma | {"because": {"cycle": first}}], "cycle": first}}
    )
    assert not accepts(history, line | {"proof": split | {"then": {"cycle": second}}})
