"""The log of violations: a listener gets each event once, from memory or from the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.errors import UsageError
from isoscope.live.event_log import EventKind, EventLog, LoggedEvent

from .test_journal import full_after

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 2500


def lines(first: int, last: int) -> list[bytes]:
    return [b'{"id": %d}' % number for number in range(first, last + 1)]


def logged(first: int, last: int) -> list[LoggedEvent]:
    return [LoggedEvent(number, line) for number, line in enumerate(lines(first, last), first)]


@pytest.fixture
def events(tmp_path: Path) -> Iterator[EventLog]:
    found = EventLog(tmp_path / "violations.jsonl")
    for first in range(1, COUNT, 100):
        found.append(lines(first, first + 99))
    yield found
    found.close()


@pytest.mark.parametrize("start", [0, 1, 255, 256, 257, 1499, 1500, 1501, COUNT - 1, COUNT, COUNT + 5])
def test_what_comes_after_a_number_is_found_in_memory_and_in_the_file(events: EventLog, start: int) -> None:
    found, at = [], start
    while piece := events.after(at, 300):
        found += piece
        at = piece[-1].number
    assert found == logged(start + 1, COUNT)


def test_a_restart_keeps_what_the_checkpoint_knew_and_is_told_the_rest(
    tmp_path: Path, events: EventLog
) -> None:
    size = len(b"\n".join(lines(1, 2000))) + 1
    again = EventLog(tmp_path / "violations.jsonl", 2000, size)
    assert (again.count, again.size) == (2000, size)
    again.append(lines(2001, 2001))
    assert again.after(1998, 10) == logged(1999, 2001)
    assert again.after(3, 1) == logged(4, 4)
    again.close()


@pytest.mark.parametrize(("count", "size"), [(2000, 10**6), (3, 10)])
def test_a_log_that_does_not_fit_its_checkpoint_is_refused(
    tmp_path: Path, events: EventLog, count: int, size: int
) -> None:
    with pytest.raises(UsageError, match="as the checkpoint says"):
        EventLog(tmp_path / "violations.jsonl", count, size)


def test_events_that_do_not_fit_on_the_disk_are_not_there(tmp_path: Path) -> None:
    events = EventLog(tmp_path / "violations.jsonl")
    events.append(lines(1, 3))
    with full_after(15), pytest.raises(OSError, match="No space left"):
        events.append(lines(4, 6))
    assert events.after(0, 10) == logged(1, 3)
    events.append(lines(4, 4))
    assert (tmp_path / "violations.jsonl").read_bytes() == b"".join(line + b"\n" for line in lines(1, 4))
    events.close()


@pytest.mark.parametrize(
    ("retracted", "kind"), [("true", EventKind.RETRACTION), ("false", EventKind.VIOLATION)]
)
def test_the_kind_of_an_event_is_a_field_of_its_json(retracted: str, kind: EventKind) -> None:
    """A transaction id may end like the event of a retraction."""
    line = f'{{"retracted": {retracted}, "transaction": "\\"retracted\\": true}}"}}'.encode()
    assert LoggedEvent(1, line).kind is kind
