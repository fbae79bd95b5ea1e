"""TPC-C: the five transactions in the standard mix, as a program that uses a DB-API connection.

Constants are those of the benchmark, and the sizes are parameters. Rules that need no database (think times,
keying times, terminals) are left out. `broken_conditions` are the conditions 1 to 4 of clause 3.3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.applications.terminal import SeededTerminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["MIX", "SCHEMA", "Sizes", "Terminal", "broken_conditions", "load"]

SCHEMA = (
    "CREATE TABLE warehouse (w_id INTEGER PRIMARY KEY, w_tax INTEGER, w_ytd INTEGER)",
    "CREATE TABLE district (d_w_id INTEGER, d_id INTEGER, d_tax INTEGER, d_ytd INTEGER, d_next_o_id INTEGER,"
    " PRIMARY KEY (d_w_id, d_id))",
    "CREATE TABLE customer (c_w_id INTEGER, c_d_id INTEGER, c_id INTEGER, c_balance INTEGER,"
    " c_ytd_payment INTEGER, c_payment_cnt INTEGER, c_delivery_cnt INTEGER,"
    " PRIMARY KEY (c_w_id, c_d_id, c_id))",
    "CREATE TABLE history (h_id VARCHAR(40) PRIMARY KEY, h_c_w_id INTEGER, h_c_d_id INTEGER, h_c_id INTEGER,"
    " h_amount INTEGER)",
    "CREATE TABLE orders (o_w_id INTEGER, o_d_id INTEGER, o_id INTEGER, o_c_id INTEGER, o_carrier_id INTEGER,"
    " o_ol_cnt INTEGER, PRIMARY KEY (o_w_id, o_d_id, o_id))",
    "CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)",
    "CREATE TABLE new_order (no_w_id INTEGER, no_d_id INTEGER, no_o_id INTEGER,"
    " PRIMARY KEY (no_w_id, no_d_id, no_o_id))",
    "CREATE TABLE order_line (ol_w_id INTEGER, ol_d_id INTEGER, ol_o_id INTEGER, ol_number INTEGER,"
    " ol_i_id INTEGER, ol_quantity INTEGER, ol_amount INTEGER, ol_delivery_d INTEGER,"
    " PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))",
    "CREATE TABLE item (i_id INTEGER PRIMARY KEY, i_price INTEGER)",
    "CREATE TABLE stock (s_w_id INTEGER, s_i_id INTEGER, s_quantity INTEGER, s_ytd INTEGER,"
    " s_order_cnt INTEGER, PRIMARY KEY (s_w_id, s_i_id))",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many of each; the benchmark has 100,000 items, 10 districts and 3,000 customers in each."""

    warehouses: int = 1
    districts: int = 10
    customers: int = 3_000
    items: int = 100_000


def load(execute_many: Callable[[str, list[tuple[Any, ...]]], Any], sizes: Sizes) -> None:
    """The initial rows, without orders."""
    warehouses = range(1, sizes.warehouses + 1)
    districts = [(w, d) for w in warehouses for d in range(1, sizes.districts + 1)]
    customers = [(w, d, c) for w, d in districts for c in range(1, sizes.customers + 1)]
    items = range(1, sizes.items + 1)
    rows: dict[str, list[tuple[Any, ...]]] = {
        "warehouse VALUES (%s, 10, 0)": [(w,) for w in warehouses],
        "district VALUES (%s, %s, 10, 0, 1)": list(districts),
        "customer VALUES (%s, %s, %s, -10, 10, 1, 0)": list(customers),
        "item VALUES (%s, %s)": [(i, 100 + i % 9_900) for i in items],
        "stock VALUES (%s, %s, 100, 0, 0)": [(w, i) for w in warehouses for i in items],
    }
    for text, values in rows.items():
        execute_many(f"INSERT INTO {text}", values)


class Terminal(SeededTerminal):
    """One client: seeded parameters, and the five transactions on a DB-API cursor."""

    def __init__(self, cursor: Any, sizes: Sizes, seed: str) -> None:
        super().__init__(cursor, seed)
        self._sizes = sizes
        self._payments = 0

    def mix(self) -> Mapping[Callable[[Any], None], int]:
        """The standard mix."""
        return MIX

    def _place(self) -> tuple[int, int]:
        return self._random.randint(1, self._sizes.warehouses), self._random.randint(1, self._sizes.districts)

    def _uneven(self, a: int, high: int) -> int:
        """NURand of clause 2.1.6, from 1 to `high`."""
        return (self._random.randint(0, a) | self._random.randint(1, high)) % high + 1

    def new_order(self) -> None:
        """An order of 5 to 15 lines (clause 2.4)."""
        w, d = self._place()
        customer = self._uneven(1023, self._sizes.customers)
        self._one("SELECT w_tax FROM warehouse WHERE w_id = %s", w)
        self._one(
            "SELECT c_balance FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s", w, d, customer
        )
        _, order = self._one("SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = %s AND d_id = %s", w, d)
        self._do("UPDATE district SET d_next_o_id = %s WHERE d_w_id = %s AND d_id = %s", order + 1, w, d)
        items = sorted({self._uneven(8191, self._sizes.items) for _ in range(self._random.randint(5, 15))})
        self._do("INSERT INTO orders VALUES (%s, %s, %s, %s, NULL, %s)", w, d, order, customer, len(items))
        self._do("INSERT INTO new_order VALUES (%s, %s, %s)", w, d, order)
        for number, item in enumerate(items, start=1):
            self._line((w, d, order, number), item)

    def _line(self, line: tuple[int, int, int, int], item: int) -> None:
        quantity = self._random.randint(1, 10)
        (price,) = self._one("SELECT i_price FROM item WHERE i_id = %s", item)
        (stock,) = self._one("SELECT s_quantity FROM stock WHERE s_w_id = %s AND s_i_id = %s", line[0], item)
        left = stock - quantity if stock >= quantity + 10 else stock - quantity + 91
        self._do(
            "UPDATE stock SET s_quantity = %s, s_ytd = s_ytd + %s, s_order_cnt = s_order_cnt + 1"
            " WHERE s_w_id = %s AND s_i_id = %s",
            *(left, quantity, line[0], item),
        )
        self._do(
            "INSERT INTO order_line VALUES (%s, %s, %s, %s, %s, %s, %s, NULL)",
            *(*line, item, quantity, quantity * price),
        )

    def payment(self) -> None:
        """A customer pays (clause 2.5)."""
        w, d = self._place()
        customer, amount = self._uneven(1023, self._sizes.customers), self._random.randint(100, 500_000)
        (ytd,) = self._one("SELECT w_ytd FROM warehouse WHERE w_id = %s", w)
        self._do("UPDATE warehouse SET w_ytd = %s WHERE w_id = %s", ytd + amount, w)
        (ytd,) = self._one("SELECT d_ytd FROM district WHERE d_w_id = %s AND d_id = %s", w, d)
        self._do("UPDATE district SET d_ytd = %s WHERE d_w_id = %s AND d_id = %s", ytd + amount, w, d)
        balance, paid, count = self._one(
            "SELECT c_balance, c_ytd_payment, c_payment_cnt FROM customer"
            " WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
            *(w, d, customer),
        )
        self._do(
            "UPDATE customer SET c_balance = %s, c_ytd_payment = %s, c_payment_cnt = %s"
            " WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
            *(balance - amount, paid + amount, count + 1, w, d, customer),
        )
        self._payments += 1
        name = f"{self._seed}-{self._payments}"
        self._do("INSERT INTO history VALUES (%s, %s, %s, %s, %s)", name, w, d, customer, amount)

    def order_status(self) -> None:
        """The last order of a customer (clause 2.6)."""
        w, d = self._place()
        customer = self._uneven(1023, self._sizes.customers)
        self._one(
            "SELECT c_balance FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s", w, d, customer
        )
        (order,) = self._one(
            "SELECT max(o_id) FROM orders WHERE o_w_id = %s AND o_d_id = %s AND o_c_id = %s", w, d, customer
        )
        if order is not None:
            self._lines(w, d, order)

    def _lines(self, w: int, d: int, order: int) -> list[Any]:
        return self._all(
            "SELECT ol_number, ol_i_id, ol_amount, ol_delivery_d FROM order_line"
            " WHERE ol_w_id = %s AND ol_d_id = %s AND ol_o_id = %s",
            *(w, d, order),
        )

    def delivery(self) -> None:
        """The oldest undelivered order of each district (clause 2.7)."""
        w, carrier = self._random.randint(1, self._sizes.warehouses), self._random.randint(1, 10)
        for d in range(1, self._sizes.districts + 1):
            (order,) = self._one(
                "SELECT min(no_o_id) FROM new_order WHERE no_w_id = %s AND no_d_id = %s", w, d
            )
            if order is not None:
                self._deliver(w, d, order, carrier)

    def _deliver(self, w: int, d: int, order: int, carrier: int) -> None:
        self._do("DELETE FROM new_order WHERE no_w_id = %s AND no_d_id = %s AND no_o_id = %s", w, d, order)
        place = (w, d, order)
        (customer,) = self._one(
            "SELECT o_c_id FROM orders WHERE o_w_id = %s AND o_d_id = %s AND o_id = %s", *place
        )
        self._do(
            "UPDATE orders SET o_carrier_id = %s WHERE o_w_id = %s AND o_d_id = %s AND o_id = %s",
            carrier,
            *place,
        )
        total = sum(line[2] for line in self._lines(*place))
        self._do(
            "UPDATE order_line SET ol_delivery_d = 1 WHERE ol_w_id = %s AND ol_d_id = %s AND ol_o_id = %s",
            *place,
        )
        self._do(
            "UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1"
            " WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
            *(total, w, d, customer),
        )

    def stock_level(self) -> None:
        """Items of the last 20 orders that are short (clause 2.8)."""
        w, d = self._place()
        limit = self._random.randint(10, 20)
        (following,) = self._one("SELECT d_next_o_id FROM district WHERE d_w_id = %s AND d_id = %s", w, d)
        rows = self._all(
            "SELECT ol_i_id FROM order_line"
            " WHERE ol_w_id = %s AND ol_d_id = %s AND ol_o_id < %s AND ol_o_id >= %s",
            *(w, d, following, following - 20),
        )
        for item in sorted({item for (item,) in rows}):
            (stock,) = self._one("SELECT s_quantity FROM stock WHERE s_w_id = %s AND s_i_id = %s", w, item)
            assert stock >= limit - 20


#: The standard mix: weights of the five transactions.
MIX: dict[Callable[[Any], None], int] = {
    Terminal.new_order: 45,
    Terminal.payment: 43,
    Terminal.order_status: 4,
    Terminal.delivery: 4,
    Terminal.stock_level: 4,
}

_CONDITIONS = {
    "1: w_ytd is the sum of d_ytd": "SELECT count(*) FROM warehouse WHERE w_ytd <>"
    " (SELECT sum(d_ytd) FROM district WHERE d_w_id = w_id)",
    "2: d_next_o_id - 1 is the highest o_id": "SELECT count(*) FROM district WHERE d_next_o_id - 1 <>"
    " (SELECT coalesce(max(o_id), 0) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id)",
    "3: new orders have no gaps": "SELECT count(*) FROM"
    " (SELECT max(no_o_id) - min(no_o_id) + 1 - count(*) AS gap FROM new_order GROUP BY no_w_id, no_d_id)"
    " AS gaps WHERE gap <> 0",
    "4: the sum of o_ol_cnt is the number of lines": "SELECT count(*) FROM orders WHERE o_ol_cnt <>"
    " (SELECT count(*) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)",
}


def broken_conditions(cursor: Any) -> Iterator[str]:
    """The consistency conditions that the database breaks."""
    for name, sql in _CONDITIONS.items():
        cursor.execute(sql)
        if cursor.fetchone()[0]:
            yield name
