"""The clock levels while transactions arrive: at every moment those that came are judged as a whole."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoscope import load
from isoscope.checkers.online import Online
from isoscope.databases.simulated import Simulated, run
from isoscope.history import UNKNOWN, Initial
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.verdict import Outcome
from isoscope.workloads import Workload
from tests.reference.clock_histories import clocked, shuffled
from tests.reference.deliveries import Delivery, deliveries, offline, random_delivery, taken
from tests.seeds import DEEP, seeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from isoscope._native import ClockNews
    from isoscope.checkers.clock import Judged
    from isoscope.history import History, Scalar, Unknown

SEEDS = seeds(250, deep=20_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
SI, SER = LEVELS = Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE
NEVER = 10**15


def engine(
    level: Level = SI, *, timeout: int = NEVER, most: int = 1000, initial: Scalar | Unknown = 0
) -> Online:
    return Online(level, timeout=timeout, max_anomalies=most, initial=initial)


def fed(history: History, order: Sequence[int], level: Level = SI) -> Online:
    """An engine that took these transactions one by one, a nanosecond between them."""
    online = engine(level, initial=history.initial.value)
    for now, number in enumerate(order):
        online.take(one(history, number), now)
    return online


def one(history: History, *numbers: int) -> History:
    return build([history.transaction(number) for number in numbers], initial=history.initial)


# The same as offline.


def judge(delivery: Delivery, level: Level, most: int) -> Outcome:
    """Held against the whole when everything is final."""
    online = engine(level, most=most, initial=delivery.initial.value)
    everything = [*taken(online, delivery)][-1:]
    online.flush()
    whole = offline(everything[0] if everything else [], delivery.initial, level, most)
    assert online.verdict() == whole.verdict()
    assert online.status().ties == whole.ties
    assert (online.status().pending, online.status().provisional) == (0, 0)
    return whole.verdict().outcome


@given(delivery=deliveries())
def test_after_a_flush_the_verdict_is_that_of_the_whole_history(delivery: Delivery) -> None:
    for level in LEVELS:
        judge(delivery, level, most=10)


def test_however_many_findings_are_shown_they_are_the_first_of_the_whole() -> None:
    seen: Counter[Outcome] = Counter()
    for seed in range(SEEDS):
        chooser = random.Random(seed)
        delivery = random_delivery(chooser)
        for level in LEVELS:
            seen[judge(delivery, level, most=chooser.choice((1, 2, 1000)))] += 1
    assert min(seen[Outcome.HOLDS], seen[Outcome.VIOLATED]) > SEEDS // 3


def test_at_every_moment_the_answers_are_those_of_what_is_there() -> None:
    """Provisional ones of reads of others, final ones of everything else."""
    changed = 0
    for seed in range(SEEDS // 3):
        delivery = random_delivery(random.Random(seed))
        for level in LEVELS:
            online = engine(level, initial=delivery.initial.value)
            seen = []
            for there in taken(online, delivery):
                counts = dict(offline(there, delivery.initial, level).counts)
                stale = counts.pop("stale-read", 0)
                assert (online.status().provisional, online.status().counts) == (stale, counts)
                seen.append(stale)
            changed += sorted(seen) != seen
    assert changed > SEEDS // 100


BUGS = (None, "stale-snapshot", "lost-update", "aborted-read", "reordered-session", "timestamp-swap")


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize("lists", [False, True], ids=["registers", "lists"])
def test_long_histories_are_judged_in_any_order_of_sessions(bug: str | None, lists: bool) -> None:
    history = simulated(bug, lists=lists)
    session = [str(transaction.session_id) for transaction in history]
    in_order = [*range(len(history))]
    one_by_one = sorted(in_order, key=lambda number: session[number])
    half_by_half = sorted(in_order, key=lambda number: int(session[number]) % 2)
    for level in LEVELS:
        whole = offline(history, history.initial, level)
        for order in (in_order, one_by_one, half_by_half):
            online = fed(history, order, level)
            online.flush()
            assert (online.status().counts, online.status().ties) == (whole.counts, whole.ties)


def simulated(bug: str | None, *, lists: bool = False, transactions: int = 800) -> History:
    """A history with some hundred versions of each of three keys."""
    workload = Workload(
        transactions=transactions, sessions=6, keys=3, max_operations=4, min_operations=4, lists=lists,
        timestamps=True, abort_ratio=0.1, initial=Initial(value=0), seed=5,
    )  # fmt: skip
    database = Simulated(conflicts="read", bug=bug, bug_rate=0.2 if bug else None)
    return run(database, workload).history


# The order of arrival.


@given(delivery=deliveries(), other=st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_no_count_if_initial_values_are_known(
    delivery: Delivery, other: random.Random
) -> None:
    if delivery.initial.value is UNKNOWN:
        delivery = replace(delivery, initial=Initial(value=7))
    there = [t for batch in delivery.batches for t in batch.transactions]
    unique = [*{t.id: t for t in there}.values()]
    for level in LEVELS:
        counts = []
        for order in (unique, shuffled(unique, other)):
            online = engine(level, initial=delivery.initial.value)
            history = build(order, initial=delivery.initial)
            with suppress(ValueError):
                online.take(history, 0)
                online.flush()
            counts.append((online.status().counts, online.status().ties))
        assert counts[0] == counts[1]


ENCLOSED = ("a 1-9: w(x,1)", "b 3-5: w(x,2)")
TOUCHING = ("a 1-5: w(x,1)", "b 5-9: r(x,1) w(x,2)")
SAME_COMMIT = ("a 1-5: w(x,1)", "b 2-5: r(x,0)", "c 5-6: r(x,1)")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_transaction_that_encloses_another_conflicts_with_it_in_any_order_of_arrival(
    order: tuple[int, int],
) -> None:
    online = fed(clocked(*ENCLOSED), order)
    assert online.status().counts == {"write-conflict": 1}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_commit_at_the_start_of_another_is_no_conflict_and_is_seen(order: tuple[int, int]) -> None:
    online = fed(clocked(*TOUCHING), order)
    online.flush()
    assert online.verdict().outcome is Outcome.HOLDS


@pytest.mark.parametrize("order", [*permutations(range(3))])
@pytest.mark.parametrize("level", LEVELS)
def test_ties_do_not_depend_on_the_order_of_arrival(level: Level, order: tuple[int, ...]) -> None:
    history = clocked(*SAME_COMMIT)
    online = fed(history, order, level)
    online.flush()
    whole = offline(history, history.initial, level)
    assert (online.status().counts, online.status().ties) == (whole.counts, whole.ties)
    assert whole.counts == ({} if level is SI else {"stale-read": 1})


# Provisional answers and news.


def test_a_read_is_wrong_until_its_writer_comes() -> None:
    history = clocked("a 1-2: w(x,1)", "b 3-4: r(x,1)")
    online = engine()
    online.take(one(history, 1), 100)
    assert (online.status().provisional, online.verdict().outcome) == (1, Outcome.HOLDS)
    online.take(one(history, 0), 105)
    assert (online.status().provisional, online.news()) == (0, [])
    online.flush()
    stability = online.stability()
    reads, transactions = stability.reads, stability.transactions
    assert (reads[0], transactions[0], sum(reads), sum(transactions)) == (1, 1, 1, 1)
    # Five nanoseconds have three bits.
    assert [bits for bits, count in enumerate(stability.rectified) if count] == [3]
    assert online.verdict().outcome is Outcome.HOLDS


def test_each_turn_of_an_answer_is_counted() -> None:
    """Right, wrong when a version comes between, right when the last one does."""
    history = clocked("a 1-2: w(x,1)", "b 3-4: w(x,2)", "c 5-6: w(x,1)", "d 7-8: r(x,1)")
    online = fed(history, (0, 3, 1, 2))
    online.flush()
    reads, transactions = online.stability().reads, online.stability().transactions
    assert (reads[1], sum(reads), transactions[1], sum(transactions)) == (1, 1, 1, 1)


def test_an_internal_anomaly_is_told_at_once_and_a_stale_read_after_its_timeout() -> None:
    history = clocked("a 1-2: w(x,1) r(x,5)", "b 3-4: r(x,0)")
    online = engine(timeout=10)
    online.take(history, 0)
    assert [(news.number, news.name) for news in online.news()] == [(1, "not-my-own-write")]
    online.advance(9)
    assert online.news() == []
    online.advance(10)
    assert [(news.number, news.name, news.transaction, news.key) for news in online.news()] == [
        (2, "stale-read", 1, "x")
    ]
    online.flush()
    assert online.news() == []


def test_every_violation_is_told_once_by_the_numbers_from_one() -> None:
    told = 0
    for seed in range(SEEDS // 2):
        delivery = random_delivery(random.Random(seed))
        for level in LEVELS:
            online = engine(level, initial=delivery.initial.value)
            everything = [*taken(online, delivery)][-1:]
            news = online.news()
            online.flush()
            news += online.news()
            assert [piece.number for piece in news] == [*range(1, len(news) + 1)]
            assert not any(piece.is_retracted for piece in news)
            whole = offline(everything[0] if everything else [], delivery.initial, level)
            assert Counter(map(short, news)) == Counter(found(whole))
            told += len(news)
    assert told > SEEDS // 2


def short(news: ClockNews) -> tuple[object, ...]:
    return news.name, frozenset({news.transaction, news.other} - {None}), news.key


def found(whole: Judged) -> Iterable[tuple[object, ...]]:
    """The findings of the whole by the ids of transactions."""
    for one in whole.judgement.findings:
        is_pair = one.name in ("write-conflict", "session-order")
        numbers = (one.transaction, one.other) if is_pair else (one.transaction,)
        ids = frozenset(whole.history.transaction(n).id for n in numbers if n is not None)
        yield one.name, ids, one.key


def test_the_counterexample_of_a_piece_of_news_is_the_one_of_the_verdict() -> None:
    online = fed(clocked("a 1-2: w(x,1)", "b 3-4: w(x,2)", "c 5-6: r(x,1)"), (0, 1, 2))
    online.flush()
    [news] = online.news()
    assert [online.anomaly(news.number)] == [*online.verdict().anomalies]


def test_only_the_last_hundred_counterexamples_are_kept() -> None:
    online = engine(initial=0)
    online.take(clocked(*(f"a {n}-{n}: w(x,1) r(x,2)" for n in range(101))), 0)
    numbers = [news.number for news in online.news()]
    assert [online.anomaly(number) is None for number in (1, 2, 101)] == [True, False, False]
    assert numbers == [*range(1, 102)]


# Refused batches.


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("d: w(x,9)", "a transaction without its timestamps"),
        ("d 9-9 indeterminate: w(x,9)", "it is not known whether it committed"),
        ("d 9-9: d(x,)", "a delete, which cannot be judged online"),
        ("d 9-9: a(x,9)", "a key that is used as a register and as a list"),
        ("d 9-9: r(x,[9])", "a key that is used as a register and as a list"),
    ],
)
def test_a_batch_with_a_transaction_that_cannot_be_judged_is_refused_whole(line: str, reason: str) -> None:
    lines = ("a 1-2: w(x,1)", "b 3-4: r(x,5) w(x,2)")
    online = fed(clocked(*lines), (0, 1))
    before = online.status()
    poisoned = clocked(*lines, "c 5-6: w(x,5) r(x,3)", line)
    with pytest.raises(ValueError, match=f"transaction 3: {reason}$"):
        online.take(one(poisoned, 2, 3), 9)
    assert online.status() == before
    online.flush()
    assert online.verdict() == offline(clocked(*lines), Initial(value=0), SI).verdict()


def test_an_id_that_was_there_with_other_content_is_refused() -> None:
    online = fed(clocked("a 1-2: w(x,1)"), (0,))
    for line in ("a 1-2: w(x,2)", "a 1-2: r(x,1)", "a 1-3: w(x,1)", "a 1-2 aborted: w(x,1)", "a 1-2:"):
        with pytest.raises(ValueError, match="whose id was there, with other content"):
            online.take(clocked(line), 1)
    assert online.take(clocked("a 1-2: w(x,1)"), 1) == 0
    assert online.status().repeated == 1


def placed(place: int | None, number: int) -> History:
    """A transaction with this place in its only session."""
    [transaction] = clocked(f"a {2 * number}-{2 * number + 1}: w(x,{number})")
    return build([replace(transaction, id=number, sequence=place)], initial=Initial(value=0))


@pytest.mark.parametrize(("places", "refused"), [((1,), 0), ((0, 5), 5), ((0,), None), ((None,), 0)])
def test_transactions_out_of_the_order_of_their_session_are_refused(
    places: tuple[int | None, ...], refused: int | None
) -> None:
    online = engine()
    for number, place in enumerate(places):
        assert online.take(placed(place, number), number) == 1
    online = Online.load(SI, online.save())
    problem = "its sequence number is not above that of the transaction before it in its session"
    with pytest.raises(ValueError, match=problem):
        online.take(placed(refused, 8), 8)
    # What was taken may come again, and what follows is taken.
    assert [online.take(placed(place, number), 9) for number, place in enumerate(places)] == [0] * len(places)
    assert online.take(placed(None if places[0] is None else 7, 9), 9) == 1
    assert online.status().transactions == len(places) + 1


def test_a_batch_out_of_the_order_of_its_session_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    lines = (
        '{"tid":2,"sid":1,"sno":1,"sts":3,"cts":4,"ops":[{"t":"w","k":1,"v":2}]}',
        '{"tid":1,"sid":1,"sno":0,"sts":1,"cts":2,"ops":[{"t":"w","k":1,"v":1}]}',
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    online = engine()
    with pytest.raises(ValueError, match=r"batch\.jsonl:2: transaction 1: its sequence number is not above"):
        online.take(load(path), 0)
    assert online.status().transactions == 0
    path.write_text("\n".join(lines[::-1]), encoding="utf-8")
    assert online.take(load(path), 0) == 2


def test_an_id_that_was_there_in_another_session_is_refused() -> None:
    online = fed(clocked("a 1-2: w(x,1)"), (0,))
    with pytest.raises(ValueError, match="whose id was there, with other content"):
        online.take(clocked("b 1-2: w(x,1)"), 1)


def test_a_batch_that_is_refused_leaves_no_key() -> None:
    online = fed(clocked("a 1-2: w(x,1)"), (0,))
    with pytest.raises(ValueError, match="without its timestamps"):
        online.take(one(clocked("a 1-2: w(x,1)", "b 1-2: w(y,1)", "c: w(z,1)"), 1, 2), 1)
    assert online.status().keys == 1


def test_a_refused_transaction_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    good = '{"tid":1,"sid":1,"sts":{"p":1,"l":0},"cts":{"p":2,"l":0},"ops":[{"t":"w","k":1,"v":1}]}'
    path.write_text(f"{good}\n{good.replace('1', '2', 1).replace('w', 'a')}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"batch\.jsonl:2: transaction 2: a key that is used as"):
        engine().take(load(path), 0)
