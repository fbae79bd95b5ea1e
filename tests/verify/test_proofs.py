"""Every proof about tiny histories is tried: one is accepted exactly where the level is violated."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.verify.boundaries import BOUNDARIES, tiny
from tests.verify.naive import holds
from tests.verify.prover import prove
from tests.verify.small import BY_EVENTS, BY_ORDER, accepts, history_of

if TYPE_CHECKING:
    from isoscope.verify.history import History

KINDS = {"registers": {}, "repeated": {"repeated": True}, "lists": {"lists": True}}
LEVELS = (*BY_ORDER, *BY_EVENTS)


def compare(history: History, levels: tuple[str, ...] = LEVELS) -> None:
    told = [(str(t), t.session, t.status, t.begin, t.end, t.operations) for t in history.transactions]
    for level in levels:
        proof = prove(history, level)
        assert (proof is None) == holds(history, level), (level, told, proof)
        if proof is not None:
            assert accepts(history, {"level": level, "outcome": "violated", "proof": proof}), (
                level,
                told,
                proof,
            )


@pytest.mark.parametrize("kind", KINDS)
def test_a_proof_is_accepted_exactly_where_the_level_is_violated(kind: str) -> None:
    for seed in range(8):
        compare(history_of(random.Random(seed), **KINDS[kind]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_proof_is_accepted_exactly_where_the_level_is_violated_of_many(kind: str) -> None:
    for seed in range(1000, 1100):
        compare(history_of(random.Random(seed), **KINDS[kind]))


@pytest.mark.parametrize("name", BOUNDARIES)
def test_a_history_between_two_levels_has_a_proof_against_the_second_alone(name: str) -> None:
    boundary = BOUNDARIES[name]
    levels = tuple(level for level in (boundary.keeps, boundary.breaks) if level != "cut-isolation")
    compare(tiny(boundary.transactions), levels)
