"""Drivers: what each says before it is opened, and what it leaves when it is closed."""

from __future__ import annotations

import tempfile
import threading
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest

from isoscope.databases import DATABASES, connect, driver
from isoscope.errors import DatabaseError, UsageError
from tests.databases.conformance import IN_SUITE, SOON, UNREACHABLE, Case, close_all, of_names, opened, write

STARTED = pytest.mark.parametrize("name", of_names(IN_SUITE))
KNOWN = pytest.mark.parametrize("name", of_names(DATABASES, is_started=False))


@KNOWN
def test_a_driver_names_its_isolations_and_settings(name: str) -> None:
    found = driver(name)
    assert name == found.NAME
    for isolation in found.ISOLATIONS.values():
        assert isolation.meaning
        assert isolation.promises
    assert all(found.SETTINGS.values())


@KNOWN
def test_an_unknown_name_is_refused_before_anything_is_opened(name: str) -> None:
    with pytest.raises(UsageError, match=f"unknown isolation of {name} `chaos`"):
        connect(name, isolation="chaos")
    with pytest.raises(UsageError, match=f"unknown setting of {name} `chaos`"):
        connect(name, settings={"chaos": "1"})


@KNOWN
def test_a_database_that_was_never_opened_can_be_closed(name: str) -> None:
    database = connect(name)
    database.close()
    database.close()


@pytest.mark.parametrize("name", of_names(UNREACHABLE, is_started=False))
def test_an_unreachable_server_is_an_error_soon_and_with_a_hint(name: str) -> None:
    started = monotonic()
    with closing(connect(UNREACHABLE[name])) as database, pytest.raises(DatabaseError, match="hint: "):
        database.open("register")
    assert monotonic() - started < SOON


@STARTED
def test_two_databases_do_not_share_rows(name: str) -> None:
    case = Case(name=name, isolation=next(iter(driver(name).ISOLATIONS)))
    with opened(case, "register") as one, opened(case, "register") as other:
        assert one.row(1) == other.row(2)
        write(one.session(), 1, 3)
        assert (one.committed(1), other.committed(1)) == (3, 2)
        close_all(one)


@STARTED
def test_nothing_is_left_behind(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Servers run as another user, which must have access.
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        threads = threading.enumerate()
        database = connect(name)
        database.open("register")
        database.insert([(1, 0)])
        abandoned = database.session()
        abandoned.begin()
        abandoned.write(1, 1)
        database.close()
        database.close()
        assert [*Path(folder).iterdir()] == []
        assert processes_in(folder) == []
        assert threading.enumerate() == threads
        abandoned.close()
        monkeypatch.undo()


def processes_in(folder: str) -> list[str]:
    """Commands that run in a folder or name it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            if folder in command or str((process / "cwd").readlink()).startswith(folder):
                found.append(command)
        except OSError:
            continue
    return found
