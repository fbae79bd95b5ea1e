"""Which levels are decided: those that are asked for, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.checkers import check, version_order
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.recorded import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from isoscope.history import History


def test_levels_that_are_not_asked_for_are_not_searched_for_beside_a_weak_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Values decide `causal`: beside it, other levels of versions were searched for up to the time limit."""
    searched = []
    judge = version_order.judge

    def noted(history: History, *, asked: Sequence[Level], **options: Any) -> version_order.Judgement:
        searched.append(tuple(asked))
        return judge(history, asked=asked, **options)

    monkeypatch.setattr(version_order, "judge", noted)
    lost = record([("read", "x", 0), ("write", "x", 1)], [("read", "x", 0), ("write", "x", 2)])
    found = {v.level: v.outcome for v in check(lost, ["causal", "snapshot-isolation"]).verdicts}
    assert found == {Level.CAUSAL: Outcome.HOLDS, Level.SNAPSHOT_ISOLATION: Outcome.VIOLATED}
    assert searched == [(Level.SNAPSHOT_ISOLATION,)]
