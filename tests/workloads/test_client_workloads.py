"""Streams of clients: the same for the same seed, with the mix that was asked for and unique values."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.errors import UsageError
from isoscope.workloads import CLIENTS, client_workload
from isoscope.workloads.clients import RolledBack
from tests.workloads.serial import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.workloads.clients import ClientWorkload, Program

#: Workloads whose keys are retired.
RETIRING = ("list-append", "rw-register")


class Bench:
    """Clients of a workload, taking turns on a table."""

    def __init__(self, workload: ClientWorkload) -> None:
        self.is_list = workload.content == "list"
        self.table = Table()
        self.insert(workload.rows())
        self.clients = workload.clients(self.insert)

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        self.table.rows |= {key: () if self.is_list else value for key, value in rows}

    def run(self, transactions: int) -> Iterator[list[tuple[str, int, int | None]]]:
        """What each of the next transactions of each client does."""
        for _ in range(transactions):
            for client in self.clients:
                yield self.perform(next(client))

    def perform(self, program: Program) -> list[tuple[str, int, int | None]]:
        self.table.done = []
        try:
            program(self.table)
        except RolledBack:
            self.table.done.append(("rollback", 0, None))
        return self.table.done


def done(name: str, transactions: int = 100, **given: Any) -> list[list[tuple[str, int, int | None]]]:
    return list(Bench(client_workload(name, given)).run(transactions))


def kinds(transactions: Iterable[list[tuple[str, int, int | None]]]) -> Counter[str]:
    return Counter(kind for operations in transactions for kind, *_ in operations)


@pytest.mark.parametrize("name", CLIENTS)
def test_the_same_seed_gives_the_same_transactions(name: str) -> None:
    assert done(name, 20, seed=7) == done(name, 20, seed=7)
    assert done(name, 20, seed=7) != done(name, 20, seed=8)


def test_a_stream_is_the_same_on_every_machine() -> None:
    published = {"sessions": 50, "keys": 1000, "distribution": "zipfian"}
    first, *_ = done("key-value", 1, seed=1, min_txn_length=6, max_txn_length=6, **published)
    assert first == [
        ("read", 0, None),
        ("write", 233, 1),
        ("read", 32, None),
        ("read", 1, None),
        ("write", 723, 51),
        ("write", 6, 101),
    ]


@pytest.mark.parametrize("name", CLIENTS)
def test_sessions_do_different_things(name: str) -> None:
    bench = Bench(client_workload(name, {"sessions": 2}))
    mine, theirs = ([bench.perform(program) for program in islice(client, 20)] for client in bench.clients)
    assert [[step[:2] for step in one] for one in mine] != [[step[:2] for step in one] for one in theirs]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_session_does_the_same_however_the_others_are_scheduled(name: str) -> None:
    given = {"sessions": 3} | ({"max_writes_per_key": 0} if name in RETIRING else {})
    alone, among = (Bench(client_workload(name, given)) for _ in range(2))
    programs = list(islice(alone.clients[2], 30))
    turns = list(among.run(30))[2::3]
    # Balances depend on what the others did, keys do not.
    if name != "smallbank":
        assert [alone.perform(program) for program in programs] == turns
    else:
        assert [{key for _, key, _ in alone.perform(p)} for p in programs] == [
            {key for _, key, _ in turn} for turn in turns
        ]


@pytest.mark.parametrize("name", CLIENTS)
def test_no_value_is_written_twice_to_a_key_and_none_is_initial(name: str) -> None:
    initial = set(client_workload(name, {}).rows())
    written = [
        (key, value)
        for operations in done(name)
        for kind, key, value in operations
        if kind in ("write", "append")
    ]
    assert written
    assert len(written) == len(set(written))
    assert not initial & set(written)
    assert not {value for _, value in written} & {0, None}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_transaction_that_is_tried_again_writes_new_values(name: str) -> None:
    bench = Bench(client_workload(name, {"seed": 3}))
    writes = 0
    for program in islice(bench.clients[0], 50):
        first, again = (
            [value for kind, _, value in bench.perform(program) if kind in ("write", "append")]
            for _ in range(2)
        )
        assert not set(first) & set(again)
        writes += len(first)
    assert writes


@pytest.mark.parametrize("name", CLIENTS)
def test_every_key_is_in_the_table_before_it_is_used(name: str) -> None:
    """The table of these tests refuses what is not there."""
    bench = Bench(client_workload(name, {}))
    keys = {key for operations in bench.run(200) for _, key, _ in operations}
    assert keys <= bench.table.rows.keys()


@pytest.mark.parametrize(
    ("name", "sessions", "lengths", "reads"),
    [
        ("key-value", 4, {1, 2, 3, 4}, 0.5),
        ("list-append", 10, {4, 5, 6, 7, 8}, 0.5),
        ("rw-register", 20, {4, 5, 6, 7, 8}, 0.5),
        ("blindw-w", 24, {8}, 0.0),
        ("blindw-rw", 24, {8}, 0.5),
        ("blindw-rm", 24, {8}, 0.9),
    ],
)
def test_the_defaults_are_published_but_for_a_gentle_key_value(
    name: str, sessions: int, lengths: set[int], reads: float
) -> None:
    assert client_workload(name, {}).sessions == sessions
    transactions = done(name)
    counts = kinds(transactions)
    assert {len(operations) for operations in transactions} == lengths
    assert counts["read"] / counts.total() == pytest.approx(reads, abs=0.03)


def test_key_value_uses_the_keys_of_its_table() -> None:
    bench = Bench(client_workload("key-value", {"keys": 20}))
    keys = {key for operations in bench.run(20) for _, key, _ in operations}
    assert keys == bench.table.rows.keys() == set(range(20))


@pytest.mark.parametrize(("name", "most"), [("list-append", 8), ("rw-register", 3)])
def test_an_active_key_is_replaced_after_its_last_write(name: str, most: int) -> None:
    written: Counter[int] = Counter(
        key for operations in done(name, 300) for kind, key, _ in operations if kind != "read"
    )
    assert max(written.values()) == most
    assert sum(count < most for count in written.values()) <= 5


@pytest.mark.parametrize("name", RETIRING)
def test_without_a_limit_the_active_keys_stay(name: str) -> None:
    bench = Bench(client_workload(name, {"max_writes_per_key": 0, "active_keys": 7}))
    keys = {key for operations in bench.run(200) for _, key, _ in operations}
    assert keys == bench.table.rows.keys() == set(range(7))


def test_lists_are_appended_to_and_registers_written() -> None:
    assert set(kinds(done("list-append"))) == {"read", "append"}
    assert set(kinds(done("rw-register"))) == {"read", "write"}


@pytest.mark.parametrize("name", ["blindw-w", "blindw-rw", "blindw-rw+", "blindw-rm"])
def test_a_transaction_of_blindw_reads_or_writes_each_of_its_keys_once(name: str) -> None:
    for operations in done(name, 50):
        items = [(kind, key) for kind, key, _ in operations if kind != "range"]
        assert len({key for _, key in items}) == len(items)
        assert len({kind for kind, _ in items}) <= 1
        assert "write" not in dict(items) or len(items) == len(operations)


def test_half_of_the_reads_of_blindw_rw_plus_are_ranges_inside_the_table() -> None:
    transactions = done("blindw-rw+", keys=40)
    counts = kinds(transactions)
    assert counts["range"] / (counts["range"] + counts["read"]) == pytest.approx(0.5, abs=0.03)
    bounds = {step[1:] for operations in transactions for step in operations if step[0] == "range"}
    assert bounds == {(low, low + 9) for low in range(31)}


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("ycsb", {}, "unknown workload `ycsb`\n\nhint: it is one of key-value, "),
        (
            "smallbank",
            {"read_ratio": 0.5},
            "smallbank knows nothing of --read-ratio\n\nhint: it knows --sess",
        ),
        ("blindw-w", {"read_ratio": 0.5}, "blindw-w knows nothing of --read-ratio"),
        ("key-value", {"active_keys": 5, "max_writes_per_key": 1}, "--active-keys, --max-writes-per-key"),
        ("list-append", {"content": "register"}, "list-append knows nothing of --content"),
        ("key-value", {"sessions": 0}, "--sessions 0 is too small\n\nhint: it is 1 or more"),
        ("key-value", {"keys": 0}, "--keys 0 is too small"),
        ("key-value", {"seed": -1}, "--seed -1 is too small"),
        ("key-value", {"read_ratio": 1.5}, "--read-ratio 1.5 is no ratio"),
        ("key-value", {"distribution": "exponential"}, "it is one of uniform, zipfian, hotspot"),
        ("list-append", {"distribution": "normal"}, "--distribution normal is not known here"),
        ("list-append", {"active_keys": 0}, "--active-keys 0 is too small"),
        ("list-append", {"max_writes_per_key": -1}, "--max-writes-per-key -1 is too small"),
        ("rw-register", {"min_txn_length": 5, "max_txn_length": 4}, "5 is more than --max-txn-length 4"),
        ("rw-register", {"max_txn_length": 0}, "--min-txn-length 0 is too small"),
        ("blindw-rw", {"keys": 7}, "--max-txn-length 8 is more than --keys 7"),
        ("blindw-rw+", {"keys": 9, "max_txn_length": 5}, "--keys 9 is too small\n\nhint: it is 10 or more"),
        ("smallbank", {"keys": 2}, "--keys 2 is too small"),
        ("smallbank", {"keys": 5}, "--keys 5 is odd"),
    ],
)
def test_nonsense_is_refused_in_words(name: str, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        client_workload(name, given)
    assert problem in str(refused.value)


@pytest.mark.parametrize(("given", "lengths"), [
    ({"max_txn_length": 3}, {1, 2, 3}), ({"min_txn_length": 20}, {20}), ({"min_txn_length": 3}, {3, 4}),
])  # fmt: skip
def test_one_length_alone_moves_the_other_out_of_its_way(given: dict[str, int], lengths: set[int]) -> None:
    assert {len(operations) for operations in done("key-value", 20, **given)} == lengths


@pytest.mark.parametrize("name", CLIENTS)
def test_what_may_be_changed_is_a_parameter_with_a_meaning(name: str) -> None:
    clients = CLIENTS[name]
    assert set(clients.parameters) <= {field.name for field in fields(clients.defaults)}
    assert len(set(clients.parameters)) == len(clients.parameters)
