"""The journal: what was written is read again, what was cut off is cut, what is damaged is an error."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from isoscope.errors import UsageError
from isoscope.live.journal import BatchRecord, FlushRecord, Fsync, Journal, TimeRecord

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from isoscope.live.journal import Record

SETTINGS = {"timeout": 5}
RECORDS: list[Record] = [
    BatchRecord(time=1, collector="c", sequence=1, form=1, body=b"first"),
    TimeRecord(2),
    BatchRecord(time=3, collector="é", sequence=2**40, form=0, body=b"\0" * 100),
    FlushRecord(4),
]


def written(folder: Path, records: list[Record] = RECORDS) -> Path:
    journal = Journal(folder, SETTINGS, fsync=Fsync.NEVER)
    assert list(journal.replay()) == []
    for record in records:
        journal.append(record)
    journal.close()
    return folder / "journal-00000001"


def replayed(folder: Path, *, first: int = 1) -> list[Record]:
    journal = Journal(folder, SETTINGS, first=first, fsync=Fsync.NEVER)
    found = list(journal.replay())
    journal.close()
    return found


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    written(tmp_path)
    assert replayed(tmp_path) == RECORDS


def test_more_is_appended_after_a_restart(tmp_path: Path) -> None:
    written(tmp_path)
    journal = Journal(tmp_path, SETTINGS, fsync=Fsync.ALWAYS)
    list(journal.replay())
    journal.sync(journal.append(TimeRecord(5)))
    journal.close()
    assert replayed(tmp_path) == [*RECORDS, TimeRecord(5)]


def test_a_journal_that_ends_anywhere_has_the_records_before_its_end(tmp_path: Path) -> None:
    path = written(tmp_path)
    data = path.read_bytes()
    counts = set()
    for end in range(len(data)):
        path.write_bytes(data[:end])
        found = replayed(tmp_path)
        assert found == RECORDS[: len(found)]
        counts.add(len(found))
        # The rest is gone: what is written next stands right behind them.
        assert replayed(tmp_path) == found
    assert counts == {0, 1, 2, 3}


def test_zeros_at_the_end_are_what_a_loss_of_power_leaves(tmp_path: Path) -> None:
    path = written(tmp_path)
    with path.open("ab") as sink:
        sink.write(b"\0" * 4096)
    assert replayed(tmp_path) == RECORDS


def test_a_changed_byte_is_damage_unless_it_is_in_the_last_record(tmp_path: Path) -> None:
    path = written(tmp_path)
    data = path.read_bytes()
    last = data.rindex(b"\x03\x04")
    for place in range(19, len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        if place >= last:
            assert replayed(tmp_path) == RECORDS[:-1]
        else:
            with pytest.raises(UsageError, match=r"byte [0-9]+: the journal is damaged"):
                replayed(tmp_path)


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "journal-00000001").write_bytes(b"once upon a time there was a journal")
    with pytest.raises(UsageError, match="expected a journal of Isoscope, found b'once upon"):
        replayed(tmp_path)


def test_segments_are_one_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SETTINGS, fsync=Fsync.INTERVAL)
    list(journal.replay())
    for number, record in enumerate(RECORDS, start=2):
        journal.append(record)
        assert journal.rotate() == number
    journal.close()
    assert replayed(tmp_path) == RECORDS
    journal.forget(3)
    assert replayed(tmp_path, first=3) == RECORDS[2:]


def test_only_the_last_segment_may_be_cut_off(tmp_path: Path) -> None:
    path = written(tmp_path)
    data = path.read_bytes()
    journal = Journal(tmp_path, SETTINGS, fsync=Fsync.NEVER)
    list(journal.replay())
    journal.rotate()
    journal.close()
    path.write_bytes(data[:-1])
    with pytest.raises(UsageError, match=r"journal-00000001: byte [0-9]+: the journal is damaged"):
        replayed(tmp_path)


@pytest.mark.parametrize(("kept", "first"), [((1, 3), 1), ((2, 3), 1), ((2,), 3), ((), 2)])
def test_a_missing_segment_is_named(tmp_path: Path, kept: tuple[int, ...], first: int) -> None:
    journal = Journal(tmp_path, SETTINGS, fsync=Fsync.NEVER)
    list(journal.replay())
    journal.rotate()
    journal.rotate()
    journal.close()
    for number in {1, 2, 3} - {*kept}:
        (tmp_path / f"journal-{number:08}").unlink()
    with pytest.raises(UsageError, match="is missing: the journal has a hole"):
        replayed(tmp_path, first=first)


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    written(tmp_path)
    journal = Journal(tmp_path, {"timeout": 6}, fsync=Fsync.NEVER)
    with pytest.raises(UsageError, match=r"other settings \(timeout was 5 and is 6\)"):
        list(journal.replay())


def full_after(size: int) -> AbstractContextManager[object]:
    """A disk on which so many bytes have room."""
    room = [size]

    def write(handle: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = real(handle, data[: room[0]])
        room[0] -= done
        return done

    real = os.write
    return mock.patch("isoscope.live.files.os.write", side_effect=write)


def test_what_does_not_fit_on_the_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    written(tmp_path)
    journal = Journal(tmp_path, SETTINGS, fsync=Fsync.NEVER)
    list(journal.replay())
    for room in (0, 1, 30):
        with full_after(room), pytest.raises(OSError, match="No space left"):
            journal.append(RECORDS[2])
    journal.append(TimeRecord(9))
    journal.close()
    assert replayed(tmp_path) == [*RECORDS, TimeRecord(9)]


def test_a_disk_that_takes_nothing_back_either_leaves_no_damage(tmp_path: Path) -> None:
    written(tmp_path)
    journal = Journal(tmp_path, SETTINGS, fsync=Fsync.NEVER)
    list(journal.replay())
    stuck = mock.patch("isoscope.live.files.os.ftruncate", side_effect=OSError(errno.EIO, "I/O error"))
    with full_after(30), stuck, pytest.raises(OSError, match="I/O error"):
        journal.append(RECORDS[2])
    with stuck, pytest.raises(OSError, match="I/O error"):
        journal.append(TimeRecord(8))
    journal.append(TimeRecord(9))
    journal.close()
    assert replayed(tmp_path) == [*RECORDS, TimeRecord(9)]


def test_a_segment_that_does_not_fit_is_not_begun(tmp_path: Path) -> None:
    written(tmp_path)
    journal = Journal(tmp_path, SETTINGS, fsync=Fsync.NEVER)
    list(journal.replay())
    with full_after(5), pytest.raises(OSError, match="No space left"):
        journal.rotate()
    journal.append(TimeRecord(9))
    journal.close()
    assert [path.name for path in tmp_path.iterdir()] == ["journal-00000001"]
    assert replayed(tmp_path) == [*RECORDS, TimeRecord(9)]


@pytest.mark.parametrize(("policy", "trips"), [(Fsync.ALWAYS, 1), (Fsync.INTERVAL, 0), (Fsync.NEVER, 0)])
def test_the_policy_says_who_waits_for_the_disk(tmp_path: Path, policy: Fsync, trips: int) -> None:
    journal = Journal(tmp_path, SETTINGS, fsync=policy)
    list(journal.replay())
    first, second = journal.append(TimeRecord(1)), journal.append(TimeRecord(2))
    with mock.patch("isoscope.live.journal.os.fsync") as forced:
        journal.sync(first)
        # One trip took both.
        journal.sync(second)
    assert forced.call_count == trips
    journal.close()


def test_what_could_not_be_forced_to_the_disk_is_never_called_safe(tmp_path: Path) -> None:
    journal = Journal(tmp_path, SETTINGS, fsync=Fsync.ALWAYS)
    list(journal.replay())
    position = journal.append(TimeRecord(1))
    with (
        mock.patch("isoscope.live.journal.os.fsync", side_effect=OSError(errno.EIO, "Input/output error")),
        pytest.raises(OSError, match="Input/output error"),
    ):
        journal.sync(position)
    for attempt in (lambda: journal.sync(position), lambda: journal.append(TimeRecord(2))):
        with pytest.raises(OSError, match="cannot be forced to the disk: Input/output error"):
            attempt()
    journal.close()
