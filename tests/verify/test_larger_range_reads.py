"""Certificates of histories of range reads and deletes that are too large for a search."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from isoscope import checkers, formats
from isoscope.cli.certificate_file import is_large, proofs, prover_of
from isoscope.history import Initial, Operation, OperationKind, Range, Transaction
from isoscope.recorder import build
from isoscope.verdict import Outcome
from isoscope.verify.certificate import Certificate
from isoscope.verify.files import read_history
from isoscope.verify.verification import Verification

if TYPE_CHECKING:
    from pathlib import Path

HEADER = {"isoscope_certificate": 1}


def operation(choose: random.Random, state: dict[int, int], value: int) -> Operation:
    """An insert, an update, a delete or a range read of a table, which it is true of."""
    key = choose.randrange(12)
    if choose.random() < 0.4:
        shown = tuple((row, state[row]) for row in range(key, key + 5) if row in state)
        asked = Range(low=key, high=key + 4, rows=shown)
        predicate = choose.choice([None, ":true"])
        return Operation(kind=OperationKind.RANGE_READ, value=asked, table="t", predicate=predicate)
    if key in state and choose.random() < 0.5:
        del state[key]
        return Operation(kind=OperationKind.DELETE, key=key, table="t")
    kind = OperationKind.WRITE if key in state else OperationKind.INSERT
    state[key] = value
    return Operation(kind=kind, key=key, value=value, table="t")


def certified(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """A serial run, and the lines of its certificate."""
    choose, state = random.Random(5), dict[int, int]()
    transactions = [
        Transaction(
            number=number,
            id=number,
            session=number % 4,
            session_id=number % 4,
            operations=tuple(operation(choose, state, 10 * number + at) for at in range(4)),
        )
        for number in range(60)
    ]
    path = folder / "history.parquet"
    formats.save(build(transactions, initial=Initial()), path)
    history = formats.load(path)
    assert is_large(history)
    report = checkers.check(history, witness=True, covering=True)
    assert {verdict.outcome for verdict in report} == {Outcome.HOLDS}
    made = proofs(history, report, None, prover_of(history, None, path))
    assert made.left_out == {}
    return path, [json.loads(line) for line in made.lines][1:]


def accepted(path: Path, lines: list[dict[str, Any]]) -> list[bool]:
    verification = Verification(read_history(path), Certificate([HEADER, *lines]))
    return [verification.find(line).verified for line in verification.certificate.levels]


def test_every_level_is_certified_and_a_changed_witness_is_rejected(tmp_path: Path) -> None:
    path, lines = certified(tmp_path)
    assert all(accepted(path, lines))
    level = next(line for line in lines if line.get("level") == "serializable")
    witness = next(line for line in lines if "level" not in line and line["witness"] == level["witness"])
    order = witness["order"]
    for changed in (order[1:], order[::-1], [order[30], *order[:30], *order[31:]]):
        assert accepted(path, [witness | {"order": changed}, level]) == [False]


def test_a_writer_that_another_read_shows_is_rejected(tmp_path: Path) -> None:
    path, lines = certified(tmp_path)
    witness = next(line for line in lines if line.get("writers") and "order" in line)
    levels = [
        line for line in lines if line.get("level") in ("causal", "read-atomic", "pl-2", "consistent-view")
    ]
    assert all(accepted(path, [witness, *(line | {"witness": witness["witness"]} for line in levels)]))
    (read, written), *others = witness["writers"]
    wrong = next(version for _, version in others if version not in (None, written))
    changed = witness | {"writers": [[read, wrong], *others]}
    assert not any(accepted(path, [changed, *(line | {"witness": witness["witness"]} for line in levels)]))
