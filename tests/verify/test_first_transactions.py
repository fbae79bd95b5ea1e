"""A first transaction comes before all that see its keys, also in certificates; and keys used both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.history import OperationKind
from tests.semantics.rules import edn
from tests.verify.certified_histories import certified, drawn

if TYPE_CHECKING:
    from pathlib import Path

FILL = "init 0 {:x 1, :y 1}"
#: Levels at which a read of the state before the first transaction is a read skew.
BROKEN = {"monotonic-view", "consistent-view", "serializable", "snapshot-isolation", "update-serializable"}


@pytest.mark.parametrize("reads", ["[:r :x nil]", "[:r :x nil] [:r :y 1]"])
def test_a_read_of_the_state_before_the_first_transaction_is_proved_to_break_levels(
    reads: str, tmp_path: Path
) -> None:
    found = {
        level: (outcome, proof)
        for level, outcome, proof, _ in certified(edn(FILL, f"ok 1 {reads}"), tmp_path)
    }
    assert {proof for _, proof in found.values()} == {"verified"}
    assert {found[level][0] for level in BROKEN} == {"violated"}
    assert found["pl-2"][0] == "holds"


def test_a_read_of_what_the_first_transaction_inserts_is_proved_to_hold(tmp_path: Path) -> None:
    found = {*certified(edn(FILL, "ok 1 [:r :x 1] [:r :y 1]"), tmp_path)}
    assert {(outcome, proof) for _, outcome, proof, _ in found} == {("holds", "verified")}


def test_a_key_that_is_deleted_and_appended_to_is_no_error_by_the_clock(tmp_path: Path) -> None:
    _, history = drawn(1662)
    deleted = {one.key for t in history for one in t.operations if one.kind is OperationKind.DELETE}
    assert any(
        one.key in deleted for t in history for one in t.operations if one.kind is OperationKind.APPEND
    )
    assert "rejected" not in {proof for _, _, proof, _ in certified(history, tmp_path)}
