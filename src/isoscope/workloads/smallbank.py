"""SmallBank (Alomari et al. 2008): six programs on the savings and checking accounts of customers.

Under snapshot isolation its programs show write skew: two checks, each of which the money would still cover.
The shares and amounts are those of OLTP-Bench, in whole units of money. A value is a balance and a tag that
makes it unique, so a written value follows from the values that were read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from isoscope.errors import UsageError
from isoscope.workloads.clients import Operations, RolledBack
from isoscope.workloads.keys import DISTRIBUTIONS, distinct, drawing, weights
from isoscope.workloads.parameters import require_choice, require_least
from isoscope.workloads.streams import fractions, values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.workloads.clients import Insert, Program
    from isoscope.workloads.keys import Draw
    from isoscope.workloads.mixes import Distribution

__all__ = ["UNIT", "SmallBank"]

#: A value is a balance times this, and a tag.
UNIT = 10**9
_LEAST_BALANCE, _MOST_BALANCE = 10_000, 50_000
_DEPOSIT, _SAVING, _PAYMENT, _CHECK, _PENALTY = 1, 20, 5, 5, 1
#: A payment takes two customers.
_FEWEST_KEYS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallBank:
    """A customer has two keys: the even one is savings, the odd one checking."""

    sessions: int = 24
    keys: int = 2000
    distribution: Distribution = "uniform"
    seed: int = 0

    def __post_init__(self) -> None:
        require_least(1, sessions=self.sessions)
        require_least(_FEWEST_KEYS, keys=self.keys)
        require_least(0, seed=self.seed)
        require_choice(DISTRIBUTIONS, distribution=self.distribution)
        if self.keys % 2:
            raise UsageError(f"--keys {self.keys} is odd\n\nhint: a customer of SmallBank has two of them")

    @property
    def content(self) -> Literal["register", "list"]:
        """What keys hold."""
        return "register"

    def rows(self) -> Iterable[tuple[int, int]]:
        """Every account with its first balance."""
        fraction = fractions(self.seed, self.sessions)
        spread = _MOST_BALANCE - _LEAST_BALANCE + 1
        return ((key, (_LEAST_BALANCE + int(fraction() * spread)) * UNIT) for key in range(self.keys))

    def clients(self, insert: Insert) -> list[Iterator[Program]]:  # noqa: ARG002 - no key is retired
        """A stream of programs for each session."""
        customers = drawing(weights(self.distribution, self.keys // 2))
        programs = drawing(_MIX.values())
        fraction = [fractions(self.seed, session) for session in range(self.sessions)]
        return [self._client(session, customers(own), programs(own)) for session, own in enumerate(fraction)]

    def _client(self, session: int, customer: Draw, program: Draw) -> Iterator[Program]:
        tags, programs = values(session, self.sessions), list(_MIX)
        while True:
            chosen = programs[program()]
            one, other = distinct(customer, 2)
            yield partial(_run, chosen, tags, one, other)


def _run(
    program: _BankProgram, tags: Iterator[int], customer: int, other: int, operations: Operations
) -> None:
    program(_Bank(operations, tags), customer, other)


class _Bank:
    """Balances, as an open transaction sees them."""

    __slots__ = ("_operations", "_tags")

    def __init__(self, operations: Operations, tags: Iterator[int]) -> None:
        self._operations = operations
        self._tags = tags

    def balance(self, account: int) -> int:
        value = self._operations.read(account)
        # The checker reports a missing row; this program does not fail at it.
        return value // UNIT if isinstance(value, int) else 0

    def put(self, account: int, balance: int) -> None:
        self._operations.write(account, balance * UNIT + next(self._tags))


_BankProgram: TypeAlias = Callable[[_Bank, int, int], None]


def _savings(customer: int) -> int:
    return 2 * customer


def _checking(customer: int) -> int:
    return 2 * customer + 1


def _balance(bank: _Bank, customer: int, _other: int) -> None:
    bank.balance(_savings(customer))
    bank.balance(_checking(customer))


def _deposit_checking(bank: _Bank, customer: int, _other: int) -> None:
    checking = bank.balance(_checking(customer))
    bank.put(_checking(customer), checking + _DEPOSIT)


def _deposit_savings(bank: _Bank, customer: int, _other: int) -> None:
    savings = bank.balance(_savings(customer))
    bank.put(_savings(customer), savings + _SAVING)


def _withdraw_savings(bank: _Bank, customer: int, _other: int) -> None:
    savings = bank.balance(_savings(customer))
    if savings < _SAVING:
        raise RolledBack
    bank.put(_savings(customer), savings - _SAVING)


def _amalgamate(bank: _Bank, customer: int, other: int) -> None:
    """Moves all money of a customer to the other's checking."""
    savings, checking = bank.balance(_savings(customer)), bank.balance(_checking(customer))
    received = bank.balance(_checking(other)) + savings + checking
    bank.put(_savings(customer), 0)
    bank.put(_checking(customer), 0)
    bank.put(_checking(other), received)


def _write_check(bank: _Bank, customer: int, _other: int) -> None:
    """A check is always paid; one that savings and checking do not cover costs a penalty."""
    savings, checking = bank.balance(_savings(customer)), bank.balance(_checking(customer))
    cost = _CHECK if savings + checking >= _CHECK else _CHECK + _PENALTY
    bank.put(_checking(customer), checking - cost)


def _send_payment(bank: _Bank, customer: int, other: int) -> None:
    mine = bank.balance(_checking(customer))
    if mine < _PAYMENT:
        raise RolledBack
    theirs = bank.balance(_checking(other))
    bank.put(_checking(customer), mine - _PAYMENT)
    bank.put(_checking(other), theirs + _PAYMENT)


#: Programs and their shares in 200: "transact savings", one of the six, deposits as often as it withdraws.
_MIX: dict[_BankProgram, int] = {
    _amalgamate: 30,
    _balance: 30,
    _deposit_checking: 30,
    _send_payment: 50,
    _deposit_savings: 15,
    _withdraw_savings: 15,
    _write_check: 30,
}
