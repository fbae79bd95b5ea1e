"""SmallBank as SQL: six transactions on the accounts of customers, in the shares of OLTP-Bench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.applications.terminal import SeededTerminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["SCHEMA", "SmallBank", "load"]

SCHEMA = (
    "CREATE TABLE accounts (custid INTEGER PRIMARY KEY, name VARCHAR(64))",
    "CREATE TABLE savings (custid INTEGER PRIMARY KEY, bal INTEGER)",
    "CREATE TABLE checking (custid INTEGER PRIMARY KEY, bal INTEGER)",
)


def load(execute_many: Callable[[str, list[tuple[Any, ...]]], Any], customers: int) -> None:
    """Customers, each with two accounts."""
    execute_many("INSERT INTO accounts VALUES (%s, %s)", [(c, f"customer {c}") for c in range(customers)])
    for table in ("savings", "checking"):
        execute_many(f"INSERT INTO {table} VALUES (%s, %s)", [(c, 10_000 + c) for c in range(customers)])


class SmallBank(SeededTerminal):
    """A client; OLTP-Bench has 1,000 accounts for each scale factor."""

    def __init__(self, cursor: Any, customers: int, seed: str) -> None:
        super().__init__(cursor, seed)
        self._customers = customers

    def mix(self) -> Mapping[Callable[[Any], None], int]:
        """The shares of OLTP-Bench."""
        return _MIX

    def _customer(self) -> int:
        """A customer by number, whose name the bank looks up first."""
        customer = self._random.randrange(self._customers)
        self._one("SELECT name FROM accounts WHERE custid = %s", customer)
        return customer

    def _two(self) -> tuple[int, int]:
        one, other = self._random.sample(range(self._customers), 2)
        return one, other

    def _balance(self, table: str, customer: int) -> int:
        (balance,) = self._one(f"SELECT bal FROM {table} WHERE custid = %s", customer)
        return int(balance)

    def _add(self, table: str, customer: int, amount: int) -> None:
        self._do(f"UPDATE {table} SET bal = bal + %s WHERE custid = %s", amount, customer)

    def balance(self) -> None:
        """Both balances of a customer."""
        customer = self._customer()
        self._balance("savings", customer)
        self._balance("checking", customer)

    def deposit_checking(self) -> None:
        """A deposit without a read."""
        self._add("checking", self._customer(), 1)

    def transact_savings(self) -> None:
        """A withdrawal that the balance must cover."""
        customer = self._customer()
        balance = self._balance("savings", customer) - 20
        if balance >= 0:
            self._do("UPDATE savings SET bal = %s WHERE custid = %s", balance, customer)

    def amalgamate(self) -> None:
        """Moves all money of a customer to the other's checking: the written balances are constants."""
        one, other = self._two()
        total = self._balance("savings", one) + self._balance("checking", one)
        self._do("UPDATE savings SET bal = 0 WHERE custid = %s", one)
        self._do("UPDATE checking SET bal = 0 WHERE custid = %s", one)
        self._add("checking", other, total)

    def write_check(self) -> None:
        """A check is paid from both balances together: write skew under snapshot isolation."""
        customer = self._customer()
        total = self._balance("savings", customer) + self._balance("checking", customer)
        self._add("checking", customer, -5 if total >= 5 else -6)

    def send_payment(self) -> None:
        """A payment between checking accounts."""
        one, other = self._two()
        if self._balance("checking", one) >= 5:
            self._add("checking", one, -5)
            self._add("checking", other, 5)


_MIX: dict[Callable[[Any], None], int] = {
    SmallBank.amalgamate: 15,
    SmallBank.balance: 15,
    SmallBank.deposit_checking: 15,
    SmallBank.send_payment: 25,
    SmallBank.transact_savings: 15,
    SmallBank.write_check: 15,
}
