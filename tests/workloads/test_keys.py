"""Keys are drawn by the law that was asked for, and retired when they were written often enough."""

from __future__ import annotations

from collections import Counter
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from isoscope.workloads.keys import Pool, distinct, drawing, weights
from isoscope.workloads.streams import fractions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.workloads.keys import Draw, Plan

DRAWS = 40_000


def draw_from(distribution: str, keys: int) -> Draw:
    return drawing(weights(distribution, keys))(fractions(1, 0))


def counted(distribution: str, keys: int) -> Counter[int]:
    draw = draw_from(distribution, keys)
    return Counter(draw() for _ in range(DRAWS))


@pytest.mark.parametrize("distribution", ["uniform", "zipfian", "hotspot", "exponential"])
@pytest.mark.parametrize("keys", [1, 2, 4, 7])
def test_every_key_of_a_small_table_is_drawn_and_no_other(distribution: str, keys: int) -> None:
    assert set(counted(distribution, keys)) == set(range(keys))


def test_uniform_keys_are_all_alike() -> None:
    drawn = counted("uniform", 10)
    assert all(0.9 < drawn[key] / (DRAWS / 10) < 1.1 for key in range(10))


def test_the_nth_zipfian_key_is_drawn_a_nth_as_often_as_the_first() -> None:
    drawn = counted("zipfian", 1000)
    assert drawn[0] / DRAWS == pytest.approx(1 / 7.485, rel=0.05)
    for rank in (2, 3, 10):
        assert drawn[rank - 1] / drawn[0] == pytest.approx(1 / rank, rel=0.15)


def test_a_fifth_of_the_keys_is_the_hotspot_of_four_fifths_of_the_operations() -> None:
    drawn = counted("hotspot", 100)
    hot = sum(drawn[key] for key in range(20))
    assert hot / DRAWS == pytest.approx(0.8, abs=0.01)
    assert drawn[0] / drawn[19] == pytest.approx(1, rel=0.15)
    assert drawn[20] / drawn[99] == pytest.approx(1, rel=0.5)


def test_an_exponential_key_is_drawn_half_as_often_as_the_one_before() -> None:
    drawn = counted("exponential", 5)
    for key in range(4):
        assert drawn[key + 1] / drawn[key] == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize("distribution", ["uniform", "zipfian", "hotspot"])
def test_distinct_keys_are_distinct_also_if_all_are_needed(distribution: str) -> None:
    draw = draw_from(distribution, 8)
    for _ in range(50):
        assert sorted(distinct(draw, 8)) == list(range(8))


class Rows:
    """Takes what a pool inserts."""

    def __init__(self, active: int) -> None:
        self.keys = {key for key, _ in Pool.rows(active)}
        self.batches = 0

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        new = {key for key, value in rows if value == 0}
        assert not new & self.keys
        self.keys |= new
        self.batches += 1


def test_a_key_is_written_exactly_as_often_as_was_asked() -> None:
    rows = Rows(3)
    pool = Pool(3, 4, rows.insert)
    written = Counter(key for n in range(3000) for _, key in pool.keys_of([(False, n % 3)] * 2))
    active = {key for _, key in pool.keys_of([(True, place) for place in range(3)])}
    assert {count for key, count in written.items() if key not in active} == {4}
    assert len(written) == 1500 + len(active & written.keys())


def test_reads_retire_no_key() -> None:
    pool = Pool(2, 1, Rows(2).insert)
    assert [pool.keys_of([(True, 0), (True, 1)]) for _ in range(100)] == [[(True, 0), (True, 1)]] * 100


def test_what_follows_the_last_write_of_a_key_gets_its_successor() -> None:
    pool = Pool(2, 2, Rows(2).insert)
    plan = [(True, 0), (False, 0), (True, 0), (False, 0), (True, 0), (True, 1)]
    assert [key for _, key in pool.keys_of(plan)] == [0, 0, 0, 0, 2, 1]


@pytest.mark.parametrize("length", [1, Pool.STOCK // 2, Pool.STOCK + 1, 3 * Pool.STOCK])
def test_a_key_is_handed_out_when_its_row_is_there(length: int) -> None:
    rows = Rows(1)
    pool = Pool(1, 1, rows.insert)
    for _ in range(2 + 2 * Pool.STOCK // length):
        assert {key for _, key in pool.keys_of([(False, 0)] * length)} <= rows.keys


def test_rows_are_inserted_in_batches() -> None:
    rows = Rows(1)
    pool = Pool(1, 1, rows.insert)
    for _ in range(10 * Pool.STOCK):
        pool.keys_of([(False, 0)])
    assert rows.batches == 10


def test_sessions_go_on_while_one_of_them_inserts() -> None:
    is_inserting, may_go_on = Event(), Event()

    def insert(rows: Iterable[tuple[int, int]]) -> None:
        assert list(rows)
        is_inserting.set()
        assert may_go_on.wait(10)

    pool = Pool(1, 1, insert)
    others = [key for key, _ in Pool.rows(1)]
    slow = Thread(target=lambda: [pool.keys_of([(False, 0)]) for _ in others])
    slow.start()
    assert is_inserting.wait(10)
    [(_, key)] = pool.keys_of([(False, 0)])
    assert key in others
    may_go_on.set()
    slow.join(10)
    assert not slow.is_alive()


def test_no_write_is_lost_or_doubled_among_threads() -> None:
    rows = Rows(4)
    pool = Pool(4, 5, rows.insert)
    taken: list[list[int]] = [[] for _ in range(8)]

    def work(number: int) -> None:
        plan: Plan = [(False, place) for place in (0, 1, 2, 3)]
        for _ in range(500):
            taken[number] += [key for _, key in pool.keys_of(plan)]

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    written = Counter(key for keys in taken for key in keys)
    assert set(written.values()) == {5}
    assert written.total() == 8 * 500 * 4
    assert written.keys() <= rows.keys
