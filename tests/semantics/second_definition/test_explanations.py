"""Two definitions of explanations, written apart from each other, agree on histories whose values repeat."""

from __future__ import annotations

import pytest

from isoscope.history import Status
from tests.semantics.second_definition.comparison import describe, differences, tool
from tests.semantics.second_definition.decision import decide
from tests.semantics.second_definition.explanations import Case, Txn
from tests.semantics.second_definition.histories import make, parse

KINDS = (
    "known-mixed",
    "unknown-mixed",
    "shaped-mixed",
    "unknown-shaped-mixed",
    "doubtful",
    "unknown-doubtful-mixed",
)


@pytest.mark.parametrize("kind", KINDS)
def test_no_verdict_differs(kind: str) -> None:
    """An `unknown` is no difference."""
    for seed in range(60):
        case = make(seed, kind)
        assert not [name for name in differences(case) if "tool unknown" not in name], describe(case)


@pytest.mark.parametrize("other", ["ry1 wy1", "ry1"])
def test_cut_isolation_judges_an_indeterminate_transaction_that_took_effect(other: str) -> None:
    """Its write was read, and each possible writer of that value has two reads that differ."""
    differing = Txn(1, Status.INDETERMINATE, parse("rx0 rx1 wy1"))
    twin = [] if "w" in other else [Txn(2, Status.INDETERMINATE, parse("rx0 rx1 wy1"))]
    txns = [Txn(0, Status.COMMITTED, parse("wx1")), differing, *twin, Txn(3, Status.COMMITTED, parse(other))]
    case = Case(tuple(txns), 0)
    assert not decide(case)["cut-isolation"]
    assert tool(case)["cut-isolation"] != "holds"
