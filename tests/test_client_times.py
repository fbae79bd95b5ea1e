"""Times of a counterexample in words: since the earliest, in one unit, with enough digits to differ."""

from __future__ import annotations

import pytest

from isoscope.explain.client_times import ClientTimes

START = 1_700_000_000_000_000_000


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([0, 5], ["0", "5 ns"]),
        ([0, 999], ["0", "999 ns"]),
        ([0, 1000], ["0", "1 us"]),
        ([0, 250, 1250], ["0", "0.2 us", "1.2 us"]),
        ([START, START + 50_000, START + 1_250_000], ["0", "0.05 ms", "1.25 ms"]),
        ([START, START + 2_000_000_000, START + 1_234_000_000_000], ["0", "2 s", "1,234 s"]),
    ],
)
def test_times_count_from_the_earliest_and_differ(times: list[int], said: list[str]) -> None:
    clock = ClientTimes(reversed(times))
    assert [clock.said(time) for time in times] == said


def test_without_times_the_unit_is_the_smallest() -> None:
    assert ClientTimes([]).said(7) == "7 ns"


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((100, 107), "0 to 7 ns"),
        ((103, 107), "3 to 7 ns"),
        ((107, 107), "at 7 ns"),
        ((107, None), "after 7 ns"),
        ((None, 107), "before 7 ns"),
        ((None, None), "at an unknown time"),
        (None, "at an unknown time"),
    ],
)
def test_an_interval_is_said_by_the_ends_that_are_known(
    interval: tuple[int | None, int | None] | None, said: str
) -> None:
    assert ClientTimes([100, 103, 107]).between(interval) == said
