"""No level is proved to hold and to be violated: lists whose elements repeat, and wrong reads of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from isoscope import checkers, formats
from isoscope.prove.certificates import Prover
from isoscope.recorder import Recorder
from isoscope.verdict import Outcome
from isoscope.verify.files import read_history
from isoscope.verify.levels import LEVELS
from tests.seeds import seeds

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History
    from isoscope.recorder import RecordedTransaction


def drawn(seed: int) -> History:
    """A few transactions on one list of two values, most of them wrong."""
    chance, recorder = random.Random(seed), Recorder()
    for _ in range(chance.randint(1, 4)):
        with recorder.transaction(session=chance.randint(1, 2)) as transaction:
            _operate(chance, transaction)
    return recorder.history()


def _operate(chance: random.Random, transaction: RecordedTransaction) -> None:
    for _ in range(chance.randint(0, 3)):
        if chance.random() < 0.5:
            transaction.append("x", chance.randint(1, 2))
        else:
            transaction.read("x", [chance.randint(1, 2) for _ in range(chance.randint(0, 3))])
    end = chance.random()
    if end < 0.25:
        transaction.indeterminate()
    elif end < 0.35:
        transaction.abort()


@pytest.mark.parametrize("part", range(4))
def test_a_level_that_holds_is_not_proved_to_be_violated(part: int, tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    for seed in range(part, seeds(400, deep=10_000), 4):
        formats.save(drawn(seed), path)
        history, prover = formats.load(path), Prover(read_history(path))
        holding = [str(v.level) for v in checkers.check(history) if v.outcome is Outcome.HOLDS]
        for level in filter(LEVELS.__contains__, holding):
            line = prover.violated(level)
            assert line is None or not prover.accepts([line]), (seed, level)
