"""The programs of published workloads, as transactions of reads and writes.

Key-value: dbcop's generator, used by PolySI and VeriStrong (some keys repeat their values). BlindW: Cobra.
Twitter, RUBiS, TPC-C: the programs of Cobra's benchmark, rows as keys, with fewer rows. SmallBank: Alomari et
al. 2008, with whole units of money, so balances repeat. Written again from the published descriptions.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate, count
from typing import TYPE_CHECKING, Literal, TypeAlias

from benchmarks.solver_store import Step, read, write

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from random import Random

    from benchmarks.solver_store import Program

__all__ = ["KeyValue", "blindw", "rubis", "smallbank", "tpcc", "twitter"]

#: Draws the number of a key.
Draw: TypeAlias = "Callable[[Random], int]"
_HOT = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValue:
    """Reads and writes of single keys.

    Values are unique, but on a share of the keys each is one of `space` values.
    """

    operations: int = 15
    keys: int = 10_000
    reads: float = 0.5
    distribution: Literal["uniform", "zipf", "hotspot"] = "uniform"
    repeating: float = 0.0
    space: int = 100

    def program(self) -> Program:
        """Transactions of this workload."""
        draw = _drawing(self.keys, self.distribution)
        unique = count(self.space)
        repeating = int(self.repeating * self.keys)

        def transaction(random: Random) -> Step:
            for _ in range(self.operations):
                key = draw(random)
                if random.random() < self.reads:
                    yield read(key)
                    continue
                # Keys that are drawn often and keys that are not repeat alike.
                is_repeating = key * 7919 % self.keys < repeating
                yield write(key, int(random.random() * self.space) if is_repeating else next(unique))

        return transaction


def _drawing(keys: int, distribution: str) -> Draw:
    if distribution == "uniform":
        return lambda random: int(random.random() * keys)
    if distribution == "zipf":
        return _zipf(keys, 1.0)
    hot = max(1, keys // 5)

    def hotspot(random: Random) -> int:
        is_hot = random.random() < _HOT
        return int(random.random() * hot) if is_hot else hot + int(random.random() * (keys - hot))

    return hotspot


def _zipf(keys: int, exponent: float) -> Draw:
    sums = [*accumulate(rank**-exponent for rank in range(1, keys + 1))]
    return lambda random: bisect_left(sums, random.random() * sums[-1])


def blindw(*, keys: int, reads: float) -> Program:
    """Eight different keys, all read or all written."""
    unique = count()

    def transaction(random: Random) -> Step:
        is_read = random.random() < reads
        for key in random.sample(range(keys), 8):
            yield read(key) if is_read else write(key, next(unique))

    return transaction


def _mixed(shares: list[tuple[float, Program]]) -> Program:
    """One of the programs, by its share."""
    sums = [*accumulate(share for share, _ in shares)]
    return lambda random: shares[bisect_left(sums, random.random() * sums[-1])][1](random)


def _number(value: Hashable) -> int:
    """A number that was read; a row that no transaction wrote has 0."""
    return value if isinstance(value, int) else 0


def _numbers(value: Hashable) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else ()


# Twitter.


def twitter(users: int = 1000) -> Program:
    """Tweets, follows and timelines."""
    tweets = count(1)
    user, followee = _zipf(users, 0.5), _zipf(users, 0.99)

    def new_tweet(random: Random) -> Step:
        tweet, author = next(tweets), user(random)
        yield write(("tweet", tweet), ("text", tweet % 100))
        yield write(("last tweet", author), tweet)

    def follow(random: Random) -> Step:
        source, target = user(random), followee(random)
        is_followed = random.random() < 0.5
        yield write(("follower", target, source), int(is_followed))
        yield write(("following", source, target), int(is_followed))
        others = tuple(n for n in _numbers((yield read(("follows", source)))) if n != target)
        yield write(("follows", source), tuple(sorted((*others, *((target,) if is_followed else ())))))

    def timeline(random: Random) -> Step:
        for other in _numbers((yield read(("follows", user(random)))))[:20]:
            tweet = yield read(("last tweet", other))
            if tweet is not None:
                yield read(("tweet", tweet))

    def show_follow(random: Random) -> Step:
        yield read(("follows", user(random)))

    def show_tweets(random: Random) -> Step:
        last = _number((yield read(("last tweet", user(random)))))
        for tweet in range(max(1, last - 9), last + 1):
            yield read(("tweet", tweet))

    return _mixed([(0.2, new_tweet), (0.4, follow), (0.1, timeline), (0.1, show_follow), (0.2, show_tweets)])


# RUBiS.


def rubis(users: int = 1000) -> Program:
    """Auctions: ratings and quantities are small numbers, so they repeat."""
    items = 4 * users
    new = count(users + items)
    rated = _zipf(users, 0.99)

    def register_user(random: Random) -> Step:
        number = next(new)
        yield read(("region", int(random.random() * 62)))
        yield read(("nick", number))
        yield read(("user", number))
        yield write(("user", number), number)
        yield write(("nick", number), number)
        yield write(("rating", number), 0)

    def register_item(random: Random) -> Step:
        yield read(("user", int(random.random() * users)))
        number = next(new)
        yield write(("item", number), number % 10)

    def buy_now(random: Random) -> Step:
        item = int(random.random() * items)
        quantity = _number((yield read(("item", item))))
        yield write(("item", item), quantity - 1 - int(random.random() * 5))
        number = next(new)
        yield write(("purchase", number), number)

    def comment(random: Random) -> Step:
        number, target = next(new), rated(random)
        yield write(("comment", number), number)
        rating = _number((yield read(("rating", target))))
        yield write(("rating", target), rating + int(random.random() * 5) - 2)

    def browse(random: Random) -> Step:
        for _ in range(5):
            yield read(("item", int(random.random() * items)))
        for target in dict.fromkeys(rated(random) for _ in range(3)):
            yield read(("rating", target))

    return _mixed(
        [(0.1, register_user), (0.15, register_item), (0.15, buy_now), (0.2, comment), (0.4, browse)]
    )


# TPC-C.


def tpcc() -> Program:
    """One warehouse of ten districts; a row is one key."""
    return _mixed(
        [(0.45, _new_order), (0.43, _payment), (0.04, _order_status), (0.04, _delivery), (0.04, _stock_level)]
    )


_DISTRICTS, _CUSTOMERS, _ITEMS = 10, 300, 10_000


def _below(random: Random, limit: int) -> int:
    return int(random.random() * limit)


def _customer(random: Random, district: int) -> Hashable:
    return "customer", district, _below(random, _CUSTOMERS)


def _new_order(random: Random) -> Step:
    district = _below(random, _DISTRICTS)
    yield read("warehouse")
    yield read(_customer(random, district))
    order = _number((yield read(("next order", district)))) + 1
    yield write(("next order", district), order)
    yield write(("order", district, order), -1)
    yield write(("new order", district, order), 1)
    for line in range(5 + _below(random, 11)):
        item, amount = _below(random, _ITEMS), 1 + _below(random, 10)
        left = _number((yield read(("stock", item)))) - amount
        yield write(("stock", item), left if left >= 10 else left + 91)
        yield write(("line", district, order, line), amount)


def _payment(random: Random) -> Step:
    district, amount = _below(random, _DISTRICTS), 1 + _below(random, 5000)
    for key, sign in (("warehouse", 1), (("district", district), 1), (_customer(random, district), -1)):
        total = _number((yield read(key)))
        yield write(key, total + sign * amount)


def _order_status(random: Random) -> Step:
    district = _below(random, _DISTRICTS)
    yield read(_customer(random, district))
    order = _number((yield read(("next order", district))))
    yield read(("order", district, order))
    for line in range(5):
        yield read(("line", district, order, line))


def _delivery(random: Random) -> Step:
    district, carrier = _below(random, _DISTRICTS), _below(random, 10)
    order = _number((yield read(("delivered", district)))) + 1
    if (yield read(("new order", district, order))) != 1:
        return
    yield write(("delivered", district), order)
    yield write(("new order", district, order), 0)
    yield read(("order", district, order))
    yield write(("order", district, order), carrier)
    customer = _customer(random, district)
    balance = _number((yield read(customer)))
    yield write(customer, balance + 1)


def _stock_level(random: Random) -> Step:
    district = _below(random, _DISTRICTS)
    order = _number((yield read(("next order", district))))
    for recent in range(max(1, order - 4), order + 1):
        for line in range(5):
            yield read(("line", district, recent, line))
    for _ in range(10):
        yield read(("stock", _below(random, _ITEMS)))


# SmallBank.


def smallbank(customers: int = 1000) -> Program:
    """Savings and checking accounts; deposits and checks have fixed amounts."""

    def savings(random: Random) -> Step:
        account = ("savings", int(random.random() * customers))
        balance = _number((yield read(account)))
        yield write(account, balance + 20)

    def deposit(random: Random) -> Step:
        account = ("checking", int(random.random() * customers))
        balance = _number((yield read(account)))
        yield write(account, balance + 1)

    def balance(random: Random) -> Step:
        customer = int(random.random() * customers)
        yield read(("savings", customer))
        yield read(("checking", customer))

    def amalgamate(random: Random) -> Step:
        source, target = random.sample(range(customers), 2)
        saved = _number((yield read(("savings", source))))
        checked = _number((yield read(("checking", source))))
        yield write(("savings", source), 0)
        yield write(("checking", source), 0)
        other = _number((yield read(("checking", target))))
        yield write(("checking", target), other + saved + checked)

    def check(random: Random) -> Step:
        customer = int(random.random() * customers)
        saved = _number((yield read(("savings", customer))))
        checked = _number((yield read(("checking", customer))))
        yield write(("checking", customer), checked - (5 if saved + checked >= 5 else 6))

    def payment(random: Random) -> Step:
        source, target = random.sample(range(customers), 2)
        paid = _number((yield read(("checking", source))))
        other = _number((yield read(("checking", target))))
        yield write(("checking", source), paid - 5)
        yield write(("checking", target), other + 5)

    return _mixed(
        [
            (0.15, savings),
            (0.15, deposit),
            (0.15, balance),
            (0.15, amalgamate),
            (0.15, check),
            (0.25, payment),
        ]
    )
