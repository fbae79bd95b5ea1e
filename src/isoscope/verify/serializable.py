"""Serializable: run one by one in the order of the witness, every transaction reads what it read.

Papadimitriou 1979; Adya 1999 (PL-3). The versions of a key come in the order of their writers, so a replay in
which every read shows the current version is an order without a cycle of wr, ww and rw. Without `phantoms`
(repeatable read, PL-2.99) what a range read does not show may be an older version. Cost: linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.verify.state import State

if TYPE_CHECKING:
    from isoscope.verify.explanation import Explanation

__all__ = ["check"]


def check(
    explanation: Explanation, order: list[int], *, believes_lists: bool = True, phantoms: bool = True
) -> None:
    """Raise `RejectedError` unless the replay gives every read its result."""
    transactions = explanation.history.transactions
    state = State(explanation, believes_lists=believes_lists, phantoms=phantoms)
    for number in order:
        state.read_all(transactions[number])
        state.install(transactions[number])
