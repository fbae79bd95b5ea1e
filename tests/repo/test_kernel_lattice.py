"""The kernel's copy of the lattice, read from its source, agrees with `isoscope.levels`."""

from __future__ import annotations

import re

import pytest

from isoscope.levels import Level, implied
from tests.repo.test_files import ROOT

SOURCE = (ROOT / "rust/kernel/src/versions/levels.rs").read_text()
#: Without predicates these have the condition of another level, and the kernel has one name for both.
SAME_CONDITION = {Level.CONSISTENT_VIEW: Level.PARALLEL_SNAPSHOT_ISOLATION}


def names_in(text: str) -> list[Level]:
    """The levels of variants such as `Self::StrongSessionPl1`."""
    variants = re.findall(r"Self::(\w+)", text)
    return [Level(re.sub(r"(?<!^)(?=[A-Z0-9])", "-", variant).lower()) for variant in variants]


def kernel_edges() -> dict[Level, list[Level]]:
    """Each level of the kernel with the levels that it implies directly."""
    body = SOURCE.split("fn implied(self)")[1].split("pub const fn ")[0]
    arms = re.findall(r"((?:\|?\s*Self::\w+\s*)+)=>\s*\{?\s*&\[([^\]]*)\]", body)
    return {level: names_in(weaker) for levels, weaker in arms for level in names_in(levels)}


EDGES = kernel_edges()


def closure(level: Level) -> set[Level]:
    return {level}.union(*(closure(weaker) for weaker in EDGES[level]))


def test_the_source_of_the_kernel_is_understood() -> None:
    assert len(EDGES) > 20
    assert EDGES[Level.STRONG_PL_1] == [Level.STRONG_SESSION_PL_1]


@pytest.mark.parametrize("level", EDGES, ids=str)
def test_a_level_implies_the_same_in_the_kernel(level: Level) -> None:
    weaker = {SAME_CONDITION.get(other, other) for other in implied(level)}
    assert closure(level) == weaker & EDGES.keys()
