"""Transactions that are not needed are dropped: verdicts stay the same if the timeout is long enough."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from isoscope._native import Reader
from isoscope.checkers.online import Online
from isoscope.databases.simulated import Simulated, run
from isoscope.history import UNKNOWN, History, Initial
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.verdict import Outcome, StaleReadFacts
from isoscope.workloads import Workload
from tests.reference.clock_histories import clocked
from tests.reference.deliveries import Delivery, delayed, offline, random_delivery
from tests.seeds import DEEP, seeds

if TYPE_CHECKING:
    from isoscope.checkers.online import OnlineStatus
    from isoscope.history import Scalar, Transaction, Unknown

SEEDS = seeds(600, deep=40_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
SI, SER = LEVELS = Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE
BUGS = (None, "stale-snapshot", "lost-update", "non-repeatable-read", "reordered-session")
DELAY = 100


def simulated(bug: str | None, *, lists: bool = False, transactions: int = 1500) -> History:
    workload = Workload(
        transactions=transactions, sessions=8, keys=20, max_operations=4, min_operations=4, lists=lists,
        timestamps=True, initial=Initial(value=0), seed=3,
    )  # fmt: skip
    database = Simulated(conflicts="read", bug=bug, bug_rate=0.2 if bug else None)
    return run(database, workload).history


def longest(history: History) -> int:
    """How long a transaction takes, and how far a session may go back."""
    times = [(t.start, t.commit) for t in history if t.start and t.commit]
    return max(abs(commit.physical - start.physical) for start, commit in times)


def delivered(online: Online, history: History, *, most: int) -> int:
    """Feeds the history with delays and the time; the largest number of transactions in memory."""
    live = 0
    for batch in delayed(history, random.Random(1), most=most):
        online.take(build(batch.transactions, initial=history.initial), batch.at)
        online.advance(batch.at)
        live = max(live, online.status().live)
    return live


# A timeout that is long enough.


@pytest.mark.parametrize("initial", [0, UNKNOWN], ids=["known", "unknown"])
@pytest.mark.parametrize("lists", [False, True], ids=["registers", "lists"])
@pytest.mark.parametrize("bug", BUGS)
def test_dropped_transactions_change_no_count_if_the_timeout_is_long_enough(
    bug: str | None, lists: bool, initial: Scalar | Unknown
) -> None:
    history = simulated(bug, lists=lists)
    for level in LEVELS:
        online = Online(level, timeout=DELAY + longest(history), initial=initial)
        live = delivered(online, history, most=DELAY)
        online.flush()
        whole = offline(history, Initial(value=initial), level)
        assert online.status().counts == whole.counts
        assert flags(online.status()) == (0, 0, 0)
        assert live < len(history) // 3


def flags(status: OnlineStatus) -> tuple[int, int, int]:
    return status.unverifiable, status.unverifiable_reads, status.overturned


def test_memory_does_not_depend_on_the_length_of_the_history() -> None:
    sizes = grown("{}")
    assert {live for live, _ in sizes[1:]} == {sizes[1][0]}
    assert is_flat(sizes)


def is_flat(sizes: list[tuple[int, int]]) -> bool:
    """Timestamps stay for a while, for ties are counted: memory goes up and down."""
    memory = [memory for _, memory in sizes]
    half = len(memory) // 2
    return max(memory[half:]) < 1.1 * max(memory[:half])


def grown(text: str) -> list[tuple[int, int]]:
    """Transactions and bytes in memory, after each of twenty times ten thousand transactions."""
    online, sizes = Online(SI, timeout=100, initial=0), []
    for block in range(20):
        online.take(steady(range(block * 10_000, block * 10_000 + 10_000), text), block * 1000)
        online.advance(block * 1000 + 500)
        sizes.append((online.status().live, online.status().memory))
    return sizes


def steady(numbers: range, text: str) -> History:
    """Writers of a hundred keys by ten sessions, one after the other; ids and values are like `text`."""
    line = (
        '{{"tid":{0},"sid":{1},"sts":{{"p":{2},"l":0}},"cts":{{"p":{3},"l":0}},'
        '"ops":[{{"t":"w","k":{4},"v":{0}}}]}}\n'
    )
    lines = (line.format(text.format(n), n % 10, 2 * n, 2 * n + 1, n % 100) for n in numbers)
    reader = Reader("aion")
    reader.start_of_file("steady")
    reader.feed("".join(lines).encode())
    reader.end_of_file()
    return History(reader.finish())


def test_texts_of_what_was_dropped_are_dropped() -> None:
    assert is_flat(grown('"transaction number {}"'))


def test_transactions_that_are_kept_longer_stay_in_memory_longer_and_are_judged_exactly() -> None:
    history = clocked("a 1-2: w(x,1)", "b 3-4: w(x,2)", "c 5-6: w(x,3)", "d 3-3: r(x,1)")
    for keep, outcome in ((0, Outcome.UNKNOWN), (100, Outcome.HOLDS)):
        online = Online(SI, timeout=10, keep=keep, initial=0)
        online.take(first(history, 3), 0)
        online.advance(50)
        online.take(only(history, 3), 50)
        online.flush()
        assert online.verdict().outcome is outcome


def first(history: History, count: int) -> History:
    return build([history.transaction(n) for n in range(count)], initial=history.initial)


def only(history: History, number: int) -> History:
    return build([history.transaction(number)], initial=history.initial)


# One that is not.


def test_nothing_that_comes_too_late_is_silently_accepted() -> None:
    """Counts that differ from those of the whole have a reason, and the level does not hold then."""
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in range(SEEDS):
        chooser = random.Random(seed)
        delivery = random_delivery(chooser, known=True)
        for level in LEVELS:
            online = Online(level, timeout=chooser.choice((0, 1, 2, 5)), initial=delivery.initial.value)
            there = hurried(online, delivery, chooser)
            whole = offline(there, delivery.initial, level).counts
            is_same = online.status().counts == whole
            is_said = sum(flags(online.status())) > 0
            assert is_same or (is_said and online.verdict().outcome is not Outcome.HOLDS)
            seen[is_same, is_said] += 1
    assert min(seen[True, True], seen[True, False], seen[False, True]) > SEEDS // 50


def hurried(online: Online, delivery: Delivery, chooser: random.Random) -> list[Transaction]:
    """Delivered with hardly any time to wait, each transaction once; all that were taken."""
    there: dict[object, Transaction] = {}
    for batch in delivery.batches:
        new = [t for t in batch.transactions if t.id not in there]
        try:
            online.take(build(new, initial=delivery.initial), batch.at)
        except ValueError:
            continue
        there.update((t.id, t) for t in new)
        if chooser.random() < 0.7:
            online.advance(batch.at + chooser.choice((0, 1, 3)))
    online.flush()
    return [*there.values()]


@pytest.mark.parametrize("most", [200, 2000])
def test_delays_beyond_the_timeout_are_said(most: int) -> None:
    history = simulated("stale-snapshot")
    online = Online(SI, timeout=20, initial=0)
    delivered(online, history, most=most)
    online.flush()
    assert online.status().counts != offline(history, history.initial, SI).counts
    assert online.status().unverifiable > 0


def test_a_level_that_is_not_violated_is_unknown_after_a_transaction_came_too_late() -> None:
    online = Online(SI, timeout=20, initial=0)
    delivered(online, simulated(None), most=2000)
    online.flush()
    verdict = online.verdict()
    if not verdict.anomaly_counts:
        assert verdict.outcome is Outcome.UNKNOWN
    assert online.status().unverifiable > 0


def test_a_final_answer_that_a_late_writer_changes_is_taken_back_and_counted() -> None:
    history = clocked("a 1-2: w(x,1)", "b 3-4: r(x,1)")
    online = Online(SI, timeout=10, keep=1000, initial=0)
    online.take(only(history, 1), 0)
    online.advance(10)
    assert [(news.number, news.is_retracted) for news in online.news()] == [(1, False)]
    online.take(only(history, 0), 11)
    assert [(news.number, news.name, news.is_retracted) for news in online.news()] == [
        (2, "stale-read", True)
    ]
    assert (online.status().counts, online.status().overturned) == ({}, 1)
    assert online.anomaly(1) is None
    assert online.verdict().outcome is Outcome.HOLDS


def test_a_retracted_finding_was_told_and_became_final_too_early() -> None:
    retracted = 0
    for seed in range(SEEDS // 2):
        chooser = random.Random(seed)
        delivery = random_delivery(chooser, known=True)
        online = Online(SI, timeout=1, keep=1000, initial=delivery.initial.value)
        hurried(online, delivery, chooser)
        news = online.news()
        standing: Counter[tuple[object, ...]] = Counter()
        for number, piece in enumerate(news, start=1):
            assert piece.number == number
            assert not piece.is_retracted or piece.name == "stale-read"
            what = piece.name, piece.transaction, piece.key
            standing[what] += -1 if piece.is_retracted else 1
            assert standing[what] >= 0
            retracted += piece.is_retracted
        told: Counter[str] = Counter()
        for (name, *_), count in standing.items():
            told[str(name)] += count
        assert +told == online.status().counts
        assert online.status().overturned >= sum(piece.is_retracted for piece in news)
    assert retracted > 10


def test_a_late_append_makes_reads_of_its_list_unverifiable() -> None:
    history = clocked(
        "a 3-4: a(x,1)", "a 5-6: a(x,2)", "a 7-8: a(x,3)", "b 1-2: a(x,9)", "c 9-10: r(x,[1;2;3])"
    )
    online = Online(SI, timeout=10, initial=0)
    online.take(first(history, 3), 0)
    online.advance(20)
    online.take(only(history, 3), 20)
    online.take(only(history, 4), 20)
    online.flush()
    assert flags(online.status()) == (1, 1, 0)
    assert online.verdict().outcome is Outcome.UNKNOWN
    assert online.verdict().reason == (
        "1 transaction came after what they must be held against was dropped; "
        "1 read of a list of which a late append was missed"
    )


def test_a_finding_stays_what_it_was_when_others_are_dropped() -> None:
    history = clocked("a 1-2: w(x,4)", "b 3-5: w(x,6)", "c 5-8: r(x,4)", "d 6-7: w(x,1)")
    online = Online(SI, timeout=0, initial=0)
    online.take(history, 0)
    online.advance(1)
    assert [anomaly.facts_as(StaleReadFacts).expected for anomaly in online.verdict().anomalies] == [6]


def test_a_finding_in_a_list_stays_what_it_was_when_others_are_dropped() -> None:
    history = clocked("a 1-2: a(x,4)", "b 3-5: a(x,6)", "c 5-8: r(x,[4])", "d 6-7: a(x,1)")
    online = Online(SI, timeout=0, initial=0)
    online.take(history, 0)
    online.advance(1)
    assert [anomaly.facts_as(StaleReadFacts).expected for anomaly in online.verdict().anomalies] == [(4, 6)]


def test_a_transaction_that_starts_after_it_commits_is_judged_once() -> None:
    history = clocked(
        "a 1-2: w(x,1)", "b 20-10: r(x,1) w(x,2)", "c 12-13: w(y,1)", "c 14-15: w(y,2)", "c 30-31: w(x,3)"
    )
    online = Online(SI, timeout=10, initial=0)
    online.take(first(history, 4), 0)
    online.advance(20)
    online.take(only(history, 4), 21)
    online.flush()
    assert online.status().counts == {"timestamp-inversion": 1}


def test_dropped_transactions_change_no_count_though_timestamps_are_swapped() -> None:
    history = simulated("timestamp-swap")
    online = Online(SI, timeout=DELAY + longest(history), initial=0)
    delivered(online, history, most=DELAY)
    online.flush()
    assert online.status().counts == offline(history, history.initial, SI).counts


def test_a_late_writer_of_what_was_taken_for_the_initial_value_is_not_silently_accepted() -> None:
    history = clocked("a 3-4: r(x,0)", "a 5-6: w(y,1)", "b 7-8: w(x,0)", initial=Initial())
    online = Online(SI, timeout=10)
    for number in range(3):
        online.take(only(history, number), 20 * number)
        online.advance(20 * number + 10)
    online.flush()
    assert offline(history, history.initial, SI).counts == {"stale-read": 1}
    assert online.verdict().outcome is not Outcome.HOLDS


def test_an_aborted_write_of_the_learned_initial_value_is_not_silently_accepted() -> None:
    history = clocked("a 1-1: r(z,7) w(z,1)", "b 1-5:", "c 3-4 aborted: w(z,7)", initial=Initial())
    online = Online(SER, timeout=1)
    online.take(first(history, 2), 0)
    online.advance(2)
    online.take(only(history, 2), 4)
    online.flush()
    assert offline(history, history.initial, SER).counts == {"stale-read": 1}
    assert online.verdict().outcome is not Outcome.HOLDS


def test_a_transaction_that_comes_again_after_it_was_dropped_breaks_no_level() -> None:
    history = clocked(*(f"a {n}-{n + 1}: w(x,{n})" for n in range(1, 9, 2)), "a 11-12: w(y,1)")
    online = Online(SI, timeout=10, initial=0)
    online.take(history, 0)
    online.advance(20)
    online.take(only(history, 0), 21)
    online.flush()
    assert online.verdict().outcome is not Outcome.VIOLATED


def test_a_time_in_the_far_future_spoils_nothing_after_a_pause() -> None:
    history = clocked(
        "a 1-2: w(x,1)", "b 3-999999: w(y,2)", *(f"c {n}-{n + 1}: r(x,1)" for n in range(50, 60, 2))
    )
    online = Online(SI, timeout=10, initial=0)
    online.take(first(history, 2), 0)
    online.advance(20)
    for number in range(2, len(history)):
        online.take(only(history, number), 20 + number)
    online.flush()
    assert online.status().unverifiable == 0
