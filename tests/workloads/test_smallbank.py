"""SmallBank: no money appears or vanishes but by deposits, withdrawals and checks."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from isoscope.workloads.clients import RolledBack
from isoscope.workloads.smallbank import UNIT, SmallBank
from tests.workloads.serial import Table

#: Kinds and accounts (savings and checking, of the first customer and the second) by program, and by how much
#: the money in the bank changes.
PROGRAMS = {
    "balance": ("r:s1 r:c1", {0}),
    "deposit checking": ("r:c1 w:c1", {1}),
    "transact savings": ("r:s1 w:s1", {20, -20}),
    "amalgamate": ("r:s1 r:c1 r:c2 w:s1 w:c1 w:c2", {0}),
    "write check": ("r:s1 r:c1 w:c1", {-5, -6}),
    "send payment": ("r:c1 r:c2 w:c1 w:c2", {0}),
    "transact savings, rolled back": ("r:s1", {0}),
    "send payment, rolled back": ("r:c1", {0}),
}
NAMES = {shape: name for name, (shape, _) in PROGRAMS.items()}


def total(table: Table) -> int:
    return sum(value // UNIT for value in table.rows.values() if isinstance(value, int))


def shape(table: Table) -> str:
    """What was done, with customers numbered as they appear."""
    customers: dict[int, int] = {}
    words = []
    for kind, key, _ in table.done:
        number = customers.setdefault(key // 2, len(customers) + 1)
        words.append(f"{kind[0]}:{'sc'[key % 2]}{number}")
    return " ".join(words)


def run(workload: SmallBank, transactions: int) -> Counter[tuple[str, int]]:
    """Programs of one session, each with the change of all the money in the bank."""
    table = Table(workload.rows())
    changes: Counter[tuple[str, int]] = Counter()
    [client, *_] = workload.clients(lambda _: None)
    for program in islice(client, transactions):
        table.done, before = [], total(table)
        try:
            program(table)
            rolled_back = ""
        except RolledBack:
            rolled_back = ", rolled back"
        name = NAMES[shape(table)]
        assert name.endswith(", rolled back") == bool(rolled_back)
        changes[name, total(table) - before] += 1
    return changes


def test_money_changes_only_by_deposits_withdrawals_and_checks() -> None:
    changes = run(SmallBank(keys=8), 20_000)
    seen: dict[str, set[int]] = {}
    for name, change in changes:
        seen.setdefault(name, set()).add(change)
    assert seen == {name: change for name, (_, change) in PROGRAMS.items()}


def test_programs_have_their_shares() -> None:
    changes = run(SmallBank(keys=100), 10_000)
    shares: Counter[str] = Counter()
    for (name, _), count in changes.items():
        shares[name.removesuffix(", rolled back")] += count
    expected = dict.fromkeys(shares, 0.15) | {"send payment": 0.25}
    assert len(shares) == 6
    assert {name: count / 10_000 for name, count in shares.items()} == pytest.approx(expected, abs=0.02)


def test_accounts_start_with_ten_to_fifty_thousand() -> None:
    balances = [value / UNIT for _, value in SmallBank(keys=2000).rows()]
    assert len(balances) == 2000
    assert min(balances) == pytest.approx(10_000, abs=200)
    assert max(balances) == pytest.approx(50_000, abs=200)
    assert all(balance == int(balance) for balance in balances)


def test_a_row_that_is_missing_is_read_as_no_money() -> None:
    class Empty(Table):
        def read(self, key: int) -> None:
            self.done.append(("read", key, None))

    table = Empty((key, 0) for key in range(4))
    [client] = SmallBank(sessions=1, keys=4).clients(lambda _: None)
    for program in islice(client, 50):
        try:
            program(table)
        except RolledBack:
            continue
    assert {kind for kind, *_ in table.done} == {"read", "write"}
