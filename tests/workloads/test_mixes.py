"""The six mixes do what the papers say, at every level."""

from __future__ import annotations

import pytest

from isoscope import _native
from isoscope.checkers import check
from isoscope.history import OperationKind
from isoscope.levels import Level
from isoscope.verdict import Outcome
from isoscope.workloads import MIXES, Mix, Step, Table, Template, Workload, generate

#: Shares of reads in hundredths, as the tables of the papers and the templates make them.
READS = {
    "general-rh": (94, 96),
    "general-rw": (49, 51),
    "general-wh": (29, 31),
    "tpcc": (60, 72),
    "rubis": (92, 97),
    "twitter": (92, 95),
}


@pytest.mark.parametrize("name", MIXES)
def test_a_mix_has_its_share_of_reads(name: str) -> None:
    history = generate(Workload(mix=MIXES[name], transactions=2000, seed=1))
    kinds = [operation.kind for transaction in history for operation in transaction.operations]
    least, most = READS[name]
    assert least <= 100 * kinds.count(OperationKind.READ) / len(kinds) <= most


@pytest.mark.parametrize("level", [Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL])
@pytest.mark.parametrize("name", MIXES)
def test_a_mix_keeps_the_level_of_its_store(name: str, level: Level) -> None:
    for lists in (False, True):
        history = generate(Workload(mix=MIXES[name], transactions=500, level=level, lists=lists))
        [verdict] = check(history, [level]).verdicts
        assert verdict.outcome is Outcome.HOLDS


def test_a_general_mix_has_transactions_of_twenty_operations() -> None:
    history = generate(Workload(mix=MIXES["general-rw"], transactions=50))
    assert {len(transaction.operations) for transaction in history} == {20}


def test_tables_are_ranges_of_keys_and_new_rows_come_after_them() -> None:
    mix = Mix(
        meaning="for this test",
        tables=(Table("fixed", 5), Table("log")),
        templates=(Template("only", 1, (Step("update", "fixed"), Step("write", "log", 2, pick="new"))),),
    )
    history = generate(Workload(mix=mix, transactions=10))
    for number, transaction in enumerate(history):
        first, second, *new = transaction.operations
        assert (first.kind, second.kind) == (OperationKind.READ, OperationKind.WRITE)
        assert first.key == second.key
        assert first.key in range(5)
        assert [operation.key for operation in new] == [5 + 2 * number, 6 + 2 * number]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tables": [(3, "normal")]}, "no distribution is called `normal`"),
        ({"templates": [(1, [(0, "swap", 0, "drawn", 1, 1)])]}, "no action is called `swap`"),
        ({"templates": [(1, [(0, "read", 0, "oldest", 1, 1)])]}, "no pick is called `oldest`"),
        ({"templates": [(1, [(1, "read", 0, "drawn", 1, 1)])]}, "a table that is not there"),
        ({"isolation": "none"}, "no isolation is called `none`"),
        ({"lag": 0}, "a version to read"),
        ({"initial": "text"}, "must be an integer, None or UNKNOWN"),
    ],
)
def test_the_native_core_refuses_what_it_does_not_know(change: dict[str, object], problem: str) -> None:
    sound: dict[str, object] = {
        "seed": 0,
        "sessions": 1,
        "transactions": 1,
        "tables": [(3, "uniform")],
        "templates": [(1, [(0, "read", 0, "drawn", 1, 1)])],
        "aborted": 0,
        "isolation": "serial",
        "lag": 1,
        "script": [],
        "lists": False,
        "most_writes_per_key": 0,
        "timestamps": False,
        "intervals": False,
        "initial": 0,
        "initial_replaceable": True,
    }
    assert _native.generate(**sound).operations == 1  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=problem):
        _native.generate(**(sound | change))  # type: ignore[arg-type]
