"""After a crash at any moment the service knows what it knew, and its events are the same to the letter."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.live.check_settings import CheckSettings
from isoscope.live.checkpoint import latest, write
from isoscope.live.journal import Fsync
from isoscope.live.service import Service, Settings

from .sent_batches import STALE, Clock, answers, batch, chain, in_batches, offline
from .test_journal import full_after
from .test_service import SETTINGS, running

if TYPE_CHECKING:
    from pathlib import Path

TRANSACTIONS = chain(60, stale_every=5)
#: Checkpoints come after every few batches.
SMALL = Settings(fsync=Fsync.NEVER, segment=2000, segments=2)


def fed(folder: Path, settings: Settings, *, crash_after: frozenset[int] = frozenset()) -> Service:
    """A service that has taken everything, batch by batch, and was killed after some of them."""
    clock = Clock()
    service = Service(folder, settings, clock=clock)
    for sequence, part in enumerate(in_batches(TRANSACTIONS, 4), start=1):
        assert service.take(batch(sequence, part)).taken == len(part)
        clock.sleep(2)
        service.tick()
        if sequence in crash_after:
            service = crashed(service, folder, settings, clock)
            assert service.take(batch(sequence, part)).again
    return service


def crashed(service: Service, folder: Path, settings: Settings, clock: Clock) -> Service:
    """The service that finds what another left when it was killed."""
    left = folder.with_name(folder.name + "-left")
    shutil.copytree(folder, left)
    service.close()
    shutil.rmtree(folder)
    left.rename(folder)
    return Service(folder, settings, clock=clock)


@pytest.mark.parametrize("way", ["journal", "checkpoints", "spilling"])
@pytest.mark.parametrize("moments", [{3}, {1, 2, 3}, {8, 14}, {*range(1, 16)}], ids=str)
def test_a_service_that_was_killed_says_what_one_says_that_was_not(
    tmp_path: Path, way: str, moments: set[int]
) -> None:
    results = []
    for name, crashes in (("whole", frozenset[int]()), ("killed", frozenset(moments))):
        (tmp_path / name).mkdir()
        settings = SETTINGS if way == "journal" else SMALL
        if way == "spilling":
            settings = replace(SMALL, check=CheckSettings(spill=tmp_path / name / "spilled"))
        service = fed(tmp_path / name, settings, crash_after=crashes)
        service.flush()
        results.append((service.report(), service.violations(0, 1000)))
        service.close()
    assert results[0] == results[1]
    assert answers(results[0][0]) == offline(TRANSACTIONS)
    assert len(results[0][1]) == sum(sum(counts.values()) for _, counts in offline(TRANSACTIONS).values())


def test_a_checkpoint_lets_old_segments_go(tmp_path: Path) -> None:
    fed(tmp_path, SMALL).close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len([name for name in names if name.startswith("checkpoint")]) == 1
    assert len([name for name in names if name.startswith("journal")]) <= 2
    assert "journal-00000001" not in names


def test_what_a_crash_left_of_an_old_checkpoint_does_not_matter(tmp_path: Path) -> None:
    service = fed(tmp_path, SMALL)
    before = service.report()
    service.close()
    (tmp_path / "checkpoint-00000001").write_bytes(b"old")
    (tmp_path / "checkpoint-99999999.new").write_bytes(b"half")
    (tmp_path / "journal-00000001").write_bytes(b"old")
    with running(tmp_path, SMALL) as service:
        assert service.report() == before
    assert not (tmp_path / "journal-00000001").exists()


def test_a_damaged_checkpoint_is_one_message(tmp_path: Path) -> None:
    fed(tmp_path, SMALL).close()
    [path] = tmp_path.glob("checkpoint-*")
    data = path.read_bytes()
    path.write_bytes(data[:-10] + b"?" + data[-9:])
    with pytest.raises(UsageError, match=r"checkpoint-.*: the checkpoint is damaged"):
        Service(tmp_path, SMALL)


@pytest.mark.parametrize("room", [100, 500])
def test_a_checkpoint_that_does_not_fit_on_the_disk_is_made_later(tmp_path: Path, room: int) -> None:
    with running(tmp_path, SMALL, clock := Clock()) as service:
        first, second = in_batches(TRANSACTIONS, 30)
        service.take(batch(1, first))
        service.tick()
        service.take(batch(2, second))
        before = service.status()["journal"]["checkpoint"]
        with full_after(room):
            service.tick()
        assert "No space left" in service.problem
        for _ in range(3):
            clock.sleep(1)
            service.take(batch(service.expected("c"), TRANSACTIONS))
            service.tick()
        assert service.status()["journal"]["checkpoint"] > before
        service.flush()
        assert answers(service.report()) == offline(TRANSACTIONS)


def test_a_checkpoint_of_another_version_is_one_message(tmp_path: Path) -> None:
    fed(tmp_path, SMALL).close()
    known = latest(tmp_path)
    write(tmp_path, replace(known, engines=(b"other", b"other")))
    with pytest.raises(UsageError, match="the checkpoint is damaged, or of another version"):
        Service(tmp_path, SMALL)


def test_other_levels_do_not_go_with_an_old_checkpoint(tmp_path: Path) -> None:
    fed(tmp_path, SMALL).close()
    with pytest.raises(UsageError, match=r"levels was .* and is \['clock-serializable'\]"):
        Service(tmp_path, replace(SMALL, check=CheckSettings(levels=(Level.CLOCK_SERIALIZABLE,))))


def test_two_services_never_share_a_folder_to_spill_to(tmp_path: Path) -> None:
    settings = replace(SETTINGS, check=CheckSettings(spill=tmp_path / "spilled"))
    with (
        running(tmp_path / "a", settings),
        pytest.raises(UsageError, match="spilled is used by another service"),
    ):
        Service(tmp_path / "b", settings)


def test_other_settings_do_not_go_with_an_old_journal(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE))
    with pytest.raises(UsageError, match="timeout was 5000000000 and is 1"):
        Service(tmp_path, replace(SETTINGS, check=CheckSettings(timeout=1)))
    with running(tmp_path) as service:
        assert service.expected("c") == 2
