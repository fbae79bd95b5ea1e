"""The main kernels take no more instructions and bytes than the recorded result allows."""

from __future__ import annotations

import pytest
from benchmarks import instructions, record

pytestmark = pytest.mark.slow
#: Shares above the budget that are no regression: memory comes in pages and in doubled vectors.
_MORE_INSTRUCTIONS = 1.05
_MORE_BYTES = 1.25
_MOST_TRIES = 3


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", instructions.KERNELS)
def test_a_kernel_stays_within_its_budget(name: str) -> None:
    if not instructions.is_countable():
        pytest.skip("valgrind is not installed")
    budget = instructions.recorded()
    if budget.compiler != record.machine().rust:
        pytest.skip(f"the budget was recorded with {budget.compiler}, which makes other instructions")
    allowed = budget.costs[name]
    again = "`python -m benchmarks instructions --record` records a new budget"
    # Other work on the machine can only add to what is measured, so that the least of a few counts.
    found = [instructions.cost(name)]
    while len(found) < _MOST_TRIES and not _is_within(found, allowed):
        found.append(instructions.cost(name))
    assert _is_within(found, allowed), (found, allowed, again)


def _is_within(found: list[instructions.Cost], allowed: instructions.Cost) -> bool:
    least = min(one.instructions for one in found), min(one.bytes for one in found)
    return least[0] <= allowed.instructions * _MORE_INSTRUCTIONS and least[1] <= allowed.bytes * _MORE_BYTES


def test_every_kernel_has_a_budget() -> None:
    assert instructions.recorded().costs.keys() == instructions.KERNELS.keys()
