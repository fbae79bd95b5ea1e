"""Deletes and range reads by the clock, from a disk and online: what memory says, `unknown`, or a refusal."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from isoscope import checkers, formats
from isoscope.checkers import timestamps
from isoscope.checkers.online import Online
from isoscope.history import OperationKind, Status
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.verdict import Outcome
from tests import range_histories_spec
from tests.seeds import DEEP, seeds

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History, Operation
    from isoscope.verdict import Verdict

pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
SEEDS = seeds(150, deep=10_000)
LEVELS = (Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE)


def disturbed(seed: int) -> History | None:
    """A history that ran as its timestamps say, in which half of the reads of nil or 0 were changed."""
    rng = random.Random(seed)
    history = range_histories_spec.serial(rng)
    if history.initial.of_key or any(t.status is Status.INDETERMINATE for t in history):
        return None  # refused from a disk

    def changed(operation: Operation) -> Operation:
        is_changed = operation.kind is OperationKind.READ and operation.value in (None, 0) and seed % 2
        return replace(operation, value=0 if operation.value is None else None) if is_changed else operation

    parts = (replace(t, operations=tuple(map(changed, t.operations))) for t in history)
    return build(parts, initial=history.initial)


def is_same_or_unknown(found: Verdict, whole: Verdict) -> bool:
    if found.outcome is Outcome.UNKNOWN:
        return "range-read" in found.reason
    return found.outcome is whole.outcome


def in_memory(history: History) -> dict[Level, Verdict]:
    return {verdict.level: verdict for verdict in timestamps.check(history, levels=LEVELS)}


def test_from_a_disk_nothing_holds_that_is_not_judged(tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for seed in range(SEEDS):
        if (history := disturbed(seed)) is None:
            continue
        formats.save(history, tmp_path / "h.parquet")
        slices = formats.slices(tmp_path / "h.parquet", initial=history.initial)
        for verdict in checkers.check_slices(slices, [*LEVELS]).verdicts:
            if verdict.level in LEVELS:
                assert is_same_or_unknown(verdict, in_memory(history)[verdict.level]), (seed, verdict)
                found[f"{verdict.outcome} with {history.counts['delete'] and 'deletes'}"] += 1
                assert verdict.outcome is not Outcome.HOLDS or not history.counts["range-read"]
    assert min(found[f"{outcome} with deletes"] for outcome in Outcome) > 0, found


def test_online_a_range_read_leaves_the_level_unknown_and_a_delete_is_refused() -> None:
    found: Counter[str] = Counter()
    for seed in range(SEEDS):
        if (history := disturbed(seed)) is None:
            continue
        for level in LEVELS:
            online = Online(level, timeout=1, initial=history.initial.value)
            if history.counts["delete"]:
                with pytest.raises(ValueError, match="a delete, which cannot be judged online"):
                    online.take(history, 0)
                found["refused"] += 1
                continue
            online.take(history, 0)
            online.flush()
            verdict = online.verdict()
            assert is_same_or_unknown(verdict, in_memory(history)[level]), (seed, verdict)
            found[verdict.outcome] += 1
            assert verdict.outcome is not Outcome.HOLDS or not history.counts["range-read"]
    assert min(found[name] for name in ("refused", *Outcome)) > 0, found
