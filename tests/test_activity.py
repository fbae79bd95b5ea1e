"""What went on in a history: counted by the native core, and by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoscope import Recorder
from isoscope.activity import Clock, Latency, UnderWay, activity
from isoscope.history import Interval, Operation, OperationKind, Status, Timestamp, Transaction
from tests.recorded import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope import History

Span = tuple[int, int | None, Status]


def timed(spans: Sequence[Span]) -> History:
    """Transactions without operations, each in a session of its own."""
    recorder = Recorder(initial=0)
    for number, (invoke, complete, status) in enumerate(spans):
        recorder.add(
            Transaction(
                number=0,
                id=number,
                session=0,
                session_id=number,
                status=status,
                interval=Interval(invoke, complete),
            )
        )
    return recorder.history()


spans = st.lists(
    st.tuples(st.integers(0, 500), st.integers(0, 200), st.sampled_from(Status)).map(
        lambda drawn: (drawn[0], drawn[0] + drawn[1], drawn[2])
    ),
    min_size=1,
    max_size=40,
)


@given(spans=spans)
def test_every_transaction_ends_in_the_bucket_of_its_completion(spans: list[tuple[int, int, Status]]) -> None:
    found = activity(timed(spans))
    first = min(invoke for invoke, _, _ in spans)
    assert (found.clock, found.first, found.untimed, found.open) == (Clock.CLIENT, first, 0, 0)
    assert sum(bucket.length for bucket in found.buckets) == found.length
    for bucket in found.buckets:
        ended = [
            status
            for _, complete, status in spans
            if bucket.start <= complete - first < bucket.start + bucket.length
        ]
        for status in Status:
            assert getattr(bucket, status) == ended.count(status)


@given(spans=spans)
def test_latency_is_by_nearest_rank_over_committed_transactions(spans: list[tuple[int, int, Status]]) -> None:
    taken = sorted(complete - invoke for invoke, complete, status in spans if status is Status.COMMITTED)
    found = activity(timed(spans)).latency
    if not taken:
        assert found is None
        return
    ranked = [taken[-(-len(taken) * percent // 100) - 1] for percent in (50, 95, 99)]
    assert found == Latency(p50=ranked[0], p95=ranked[1], p99=ranked[2], max=taken[-1])


@given(spans=spans)
def test_the_mean_under_way_is_the_time_of_all_divided_by_the_time(
    spans: list[tuple[int, int, Status]],
) -> None:
    found = activity(timed(spans))
    assert found.under_way is not None
    whole = sum(complete - invoke + 1 for invoke, complete, _ in spans)
    assert found.under_way.mean == pytest.approx(whole / found.length)
    instants = range(found.first, found.first + found.length)
    at_once = (sum(invoke <= now <= complete for invoke, complete, _ in spans) for now in instants)
    assert found.under_way.peak == max(at_once)


def test_a_transaction_without_an_end_counts_where_it_began_and_is_not_under_way() -> None:
    found = activity(timed([(0, 9, Status.COMMITTED), (3, None, Status.INDETERMINATE)]))
    assert [bucket.indeterminate for bucket in found.buckets] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert found.open == 1
    assert found.under_way == UnderWay(mean=1.0, peak=1)
    assert found.share("indeterminate") == 0.5


def test_throughput_is_what_committed_in_a_second_of_the_clients_clock() -> None:
    second = 10**9
    ends = [(0, second // 4 * number, Status.COMMITTED) for number in range(1, 9)]
    assert activity(timed([*ends, (0, 1, Status.ABORTED)])).throughput == pytest.approx(4.0)


def test_without_intervals_the_databases_clock_decides_and_nobody_knows_its_seconds() -> None:
    recorder = Recorder(initial=0)
    for number in range(3):
        recorder.add(
            Transaction(
                number=0,
                id=number,
                session=0,
                session_id=number,
                start=Timestamp(10 * number),
                commit=Timestamp(10 * number + 15),
            )
        )
    found = activity(recorder.history())
    assert (found.clock, found.length) == (Clock.DATABASE, 36)
    assert (found.latency, found.throughput) == (None, None)
    assert found.under_way is not None
    assert found.under_way.peak == 2


def test_without_any_time_transactions_stand_in_their_order() -> None:
    found = activity(record(*[[("write", "x", n), *([("abort",)] if n > 6 else [])] for n in range(1, 11)]))
    assert (found.clock, found.length, found.under_way) == (Clock.APPEARANCE, 10, None)
    assert [bucket.aborted for bucket in found.buckets] == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]


def test_keys_are_listed_by_the_transactions_that_use_them() -> None:
    found = activity(
        record(
            [("write", "hot", 1), ("read", "hot", 1), ("write", "cold", 1)],
            [("read", "hot", 1)],
            [("write", "hot", 2), ("write", "hot", 3)],
        )
    )
    assert [(k.key, k.transactions, k.readers, k.writers) for k in found.keys] == [
        ("hot", 3, 2, 2),
        ("cold", 1, 0, 1),
    ]
    assert found.keys_by_use == (1, 1)


def test_nothing_recorded_is_no_bucket_and_no_key() -> None:
    found = activity(Recorder(initial=0).history())
    assert (found.buckets, found.keys, found.keys_by_use) == ((), (), ())
    assert (found.share("aborted"), found.throughput, found.under_way) == (None, None, None)


def test_intervals_of_operations_are_those_of_the_transaction() -> None:
    recorder = Recorder(initial=0)
    operations = tuple(
        Operation(kind=OperationKind.READ, key="x", value=0, interval=Interval(start, start + 5))
        for start in (100, 200)
    )
    recorder.add(Transaction(number=0, id=1, session=0, session_id=1, operations=operations))
    found = activity(recorder.history())
    assert (found.clock, found.latency) == (Clock.CLIENT, Latency(p50=105, p95=105, p99=105, max=105))
