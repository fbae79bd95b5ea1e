"""Mixes: kinds of transactions over tables of keys, as data.

The six mixes are those of Liu et al. 2024 (Section 5.1): three general ones, after Huang et al. 2023, and
three that resemble TPC-C, RUBiS and Twitter. These three have the published numbers of rows, kinds of
transactions, shares, and numbers of rows that each kind touches. A row is one key. Columns, texts, relations
between tables, think times, deletions and searches by a condition are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MIXES", "Distribution", "Mix", "Step", "Table", "Template", "plain"]

Distribution: TypeAlias = Literal["uniform", "zipfian", "hotspot"]
Action: TypeAlias = Literal["read", "write", "update", "either"]
Pick: TypeAlias = Literal["drawn", "new", "recent"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table and how many rows it has at first; inserts fill one without rows."""

    name: str
    keys: int = 0
    distribution: Distribution = "uniform"


@dataclass(frozen=True, slots=True)
class Step:
    """One action on `least` to `most` rows of a table (by default as many as `least`).

    `update` reads and then writes a row; `either` reads with the probability `reads` and writes otherwise.
    A row is drawn from those of the beginning, or is new, or is one of the last thousand inserted ones.
    """

    action: Action
    table: str
    least: int = 1
    most: int | None = None
    pick: Pick = "drawn"
    reads: float = 0.0


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of transaction, and its share in relation to the others."""

    name: str
    weight: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Tables and what is done to them."""

    meaning: str
    tables: tuple[Table, ...]
    templates: tuple[Template, ...]


def plain(
    *,
    keys: int,
    distribution: Distribution,
    read_ratio: float,
    operations: tuple[int, int],
    meaning: str = "one table, and one kind of transaction",
) -> Mix:
    """Reads and writes of single keys."""
    step = Step("either", "keys", *operations, reads=read_ratio)
    return Mix(
        meaning=meaning,
        tables=(Table("keys", keys, distribution),),
        templates=(Template("general", 1, (step,)),),
    )


def _general(reads: float, meaning: str) -> Mix:
    return plain(keys=10_000, distribution="uniform", read_ratio=reads, operations=(20, 20), meaning=meaning)


_TPCC = Mix(
    meaning="orders of a wholesaler: 1 warehouse, 10 districts, 30,000 customers, 100,000 items",
    tables=(
        Table("warehouse", 1),
        Table("district", 10),
        Table("customer", 30_000),
        Table("item", 100_000),
        Table("stock", 100_000),
        Table("order"),
        Table("order line"),
        Table("history"),
    ),
    # The shares of the standard (TPC-C 5.11, Section 5.2.3).
    templates=(
        Template(
            "new order",
            45,
            (
                Step("read", "warehouse"),
                Step("update", "district"),
                Step("read", "customer"),
                Step("read", "item", 5, 15),
                Step("update", "stock", 5, 15),
                Step("write", "order", pick="new"),
                Step("write", "order line", 5, 15, pick="new"),
            ),
        ),
        Template(
            "payment",
            43,
            (
                Step("update", "warehouse"),
                Step("update", "district"),
                Step("update", "customer"),
                Step("write", "history", pick="new"),
            ),
        ),
        Template(
            "order status",
            4,
            (
                Step("read", "customer"),
                Step("read", "order", pick="recent"),
                Step("read", "order line", 5, 15, pick="recent"),
            ),
        ),
        Template(
            "delivery",
            4,
            (
                Step("update", "order", 10, pick="recent"),
                Step("update", "order line", 50, 150, pick="recent"),
                Step("update", "customer", 10),
            ),
        ),
        Template(
            "stock level",
            4,
            (
                Step("read", "district"),
                Step("read", "order line", 100, 300, pick="recent"),
                Step("read", "stock", 50, 150),
            ),
        ),
    ),
)

_RUBIS = Mix(
    meaning="auctions: 20,000 users, 200,000 items, of which a fifth gets most of the attention",
    tables=(
        Table("user", 20_000),
        Table("item", 200_000, "hotspot"),
        Table("new item"),
        Table("bid"),
        Table("comment"),
    ),
    # About 85 % read-only, as in the bidding mix of the benchmark.
    templates=(
        Template("browse", 45, (Step("read", "item", 5, 20),)),
        Template("view item", 25, (Step("read", "item"), Step("read", "user"))),
        Template(
            "view bids",
            10,
            (Step("read", "item"), Step("read", "bid", 1, 10, pick="recent"), Step("read", "user", 1, 5)),
        ),
        Template("view user", 5, (Step("read", "user"), Step("read", "comment", 0, 5, pick="recent"))),
        Template("bid", 9, (Step("read", "user"), Step("update", "item"), Step("write", "bid", pick="new"))),
        Template("buy now", 2, (Step("read", "user"), Step("update", "item"))),
        Template("sell", 2, (Step("update", "user"), Step("write", "new item", pick="new"))),
        Template("comment", 1, (Step("update", "user", 2), Step("write", "comment", pick="new"))),
        Template("register", 1, (Step("write", "user"),)),
    ),
)

_TWITTER = Mix(
    meaning="short messages: 10,000 users, most of them follow the same few (zipfian)",
    tables=(
        Table("user", 10_000, "zipfian"),
        Table("timeline", 10_000, "zipfian"),
        Table("follows", 10_000, "zipfian"),
        Table("tweet"),
    ),
    templates=(
        Template("read timeline", 50, (Step("read", "follows"), Step("read", "timeline", 5, 20))),
        Template("read tweets", 20, (Step("read", "user"), Step("read", "tweet", 1, 10, pick="recent"))),
        Template(
            "tweet",
            20,
            (Step("read", "user"), Step("write", "tweet", pick="new"), Step("update", "timeline")),
        ),
        Template("follow", 10, (Step("read", "user"), Step("update", "follows", 2))),
    ),
)

MIXES: Mapping[str, Mix] = MappingProxyType(
    {
        "general-rh": _general(0.95, "read-heavy: 20 operations on 10,000 keys, 95 % reads"),
        "general-rw": _general(0.5, "20 operations on 10,000 keys, 50 % reads"),
        "general-wh": _general(0.3, "write-heavy: 20 operations on 10,000 keys, 70 % writes"),
        "tpcc": _TPCC,
        "rubis": _RUBIS,
        "twitter": _TWITTER,
    }
)
