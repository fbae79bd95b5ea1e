"""Snapshot isolation and prefix: every transaction reads the state at its begin.

Berenson et al. 1995; Adya 1999 (PL-SI); Zhang and Tan 2024 (BC-graphs); prefix after Burckhardt et al. 2015.
Under snapshot isolation no other transaction commits a write of the same key between begin and commit; under
prefix it may. Cost: linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import last_writes
from isoscope.verify.history import RejectedError
from isoscope.verify.state import State

if TYPE_CHECKING:
    from isoscope.verify.explanation import Explanation

__all__ = ["check"]


def check(
    explanation: Explanation, events: list[int], *, conflicts: bool, believes_lists: bool = True
) -> None:
    """Raise `RejectedError` for a read that does not show the state at its begin; if asked, for conflicts."""
    transactions = explanation.history.transactions
    state = State(explanation, believes_lists=believes_lists)
    commits: dict[Any, int] = {}
    open_now: dict[int, dict[Any, int]] = {}
    for number in events:
        t = transactions[number]
        if number not in open_now:
            state.read_all(t)
            open_now[number] = {key: commits.get(key, 0) for key in last_writes(t)} if conflicts else {}
            continue
        for key, count in open_now.pop(number).items():
            if commits.get(key, 0) != count:
                raise RejectedError(f"another transaction commits key {key} between begin and commit of {t}")
            commits[key] = count + 1
        state.install(t)
