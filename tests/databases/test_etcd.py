"""etcd: what each way to compare lets through, local reads, URLs, and faults on three nodes."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from isoscope.databases import connect
from isoscope.databases.database import Aborted, Session
from isoscope.databases.process_family import family
from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.databases.conformance import SOON, Case, opened, server_marks, write
from tests.databases.patient_runs import run_with_faults
from tests.databases.test_nodes import is_alive, links
from tests.interrupts import wait_until

SERVER = pytest.param("etcd", marks=server_marks("etcd"))


def skewed(one: Session, other: Session, keys: tuple[int, int]) -> None:
    """Two transactions that read both keys, and write one each."""
    for session in (one, other):
        session.begin()
        assert [session.read(key) for key in keys] == [0, 0]
    one.write(keys[0], 1)
    other.write(keys[1], 2)
    one.commit()
    other.commit()


def lost(one: Session, other: Session, key: int) -> None:
    """Two transactions that read a key and overwrite it."""
    for session in (one, other):
        session.begin()
        assert session.read(key) == 0
    one.write(key, 1)
    other.write(key, 2)
    one.commit()
    other.commit()


@pytest.mark.parametrize("name", [SERVER])
@pytest.mark.parametrize("isolation", ["read-set", "written-keys", "none"])
def test_what_is_compared_decides_what_is_lost(name: str, isolation: str) -> None:
    with opened(Case(name=name, isolation=isolation), "register") as database:
        one, other = database.session(), database.session()
        keys = database.row(), database.row()
        if isolation == "read-set":
            with pytest.raises(Aborted, match="a compared key has changed"):
                skewed(one, other, keys)
        else:
            skewed(one, other, keys)
        key = database.row()
        if isolation == "none":
            lost(one, other, key)
            assert database.committed(key) == 2
        else:
            with pytest.raises(Aborted, match="a compared key has changed"):
                lost(one, other, key)
            assert database.committed(key) == 1


@pytest.mark.parametrize("name", [SERVER])
def test_a_phantom_is_compared_with_the_range_that_was_read(name: str) -> None:
    with opened(Case(name=name, isolation="read-set"), "register") as database:
        one, other, key = database.session(), database.session(), database.row()
        one.begin()
        assert one.range_read(key, key + 10) == [(key, 0)]
        other.begin()
        other.insert(key + 5, 7)
        other.commit()
        one.write(key, 1)
        with pytest.raises(Aborted, match="a compared key has changed"):
            one.commit()


@pytest.mark.parametrize("name", [SERVER])
@pytest.mark.parametrize("isolation", ["read-set", "written-keys", "none"])
def test_the_first_read_takes_the_snapshot_also_if_it_reads_what_the_transaction_wrote(
    name: str, isolation: str
) -> None:
    with opened(Case(name=name, isolation=isolation), "register") as database:
        one, other = database.session(), database.session()
        mine, theirs = database.row(), database.row()
        one.begin()
        one.write(mine, 1)
        assert one.read(mine) == 1
        write(other, theirs, 2)
        assert one.read(theirs) == 0
        one.rollback()


@pytest.mark.parametrize("name", [SERVER])
def test_three_nodes_stay_strict_serializable_although_one_is_killed_and_one_paused(name: str) -> None:
    completed = run_with_faults(name, "kill@1s:n1,pause@4s:n2,cut@6s:n3", seconds=8, every=3)
    assert completed.run.nodes == ("n1", "n2", "n3")
    report = completed.check(levels=(Level.STRICT_SERIALIZABLE,))
    assert report[Level.STRICT_SERIALIZABLE].outcome is Outcome.HOLDS


@pytest.mark.parametrize("name", [SERVER])
def test_nothing_is_left_of_a_cluster_with_faults_whose_run_is_killed(name: str, tmp_path: Path) -> None:
    before = links()
    command = ["run", name, "--nodes", "3", "--faults", "kill@1s:n1,partition@4s:n2", "--every", "4s"]
    run = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "isoscope",
            *command,
            "--seconds",
            str(2 * SOON),
            "--out",
            tmp_path / "a.parquet",
        ],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: len(started(tmp_path)) == 3 or run.poll() is not None)
        first = started(tmp_path)[0]
        wait_until(lambda: first not in started(tmp_path) or run.poll() is not None)
        # The node that was killed runs again.
        wait_until(lambda: len(started(tmp_path)) == 3 or run.poll() is not None)
        assert run.poll() is None
        every = family(run.pid)
        assert len(every) > 6, "nodes and their guards"
    finally:
        run.kill()
        run.communicate()
    wait_until(lambda: not any(map(is_alive, every)))
    wait_until(lambda: not [*tmp_path.glob("isoscope-*")])
    wait_until(lambda: not links() - before)
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


def started(folder: Path) -> list[int]:
    """The processes of nodes that have their files there, by the numbers of the nodes."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_text().split("\0")
            if (place / "cwd").resolve().parent == folder and "--data-dir=data" in words:
                found.append((words[1], int(place.name)))
    return [pid for _, pid in sorted(found)]


def test_settings_and_places_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="reads=old makes no sense"):
        connect("etcd", settings={"reads": "old"})
    with pytest.raises(UsageError, match="the URL of etcd makes no sense"):
        connect("etcd://host:2379/path")
    with pytest.raises(UsageError, match="the URL of another node of etcd, found `postgresql://me@host`"):
        connect("etcd://host", urls=["etcd://host2", "postgresql://me:secret@host"])
    with pytest.raises(UsageError, match="the URL of another node of etcd, found `etcd`"):
        connect("etcd://host", urls=["etcd"])
    with pytest.raises(UsageError, match="several nodes are several URLs"):
        connect("etcd", urls=["etcd://host"])
    with pytest.raises(UsageError, match="--nodes starts nodes, and a URL locates one"):
        connect("etcd://host", nodes=3)
    with pytest.raises(UsageError, match="sqlite is not started as several nodes"):
        connect("sqlite", nodes=3)


def test_local_reads_promise_less() -> None:
    assert connect("etcd", isolation="read-set").promises == (Level.STRICT_SERIALIZABLE,)
    assert connect("etcd", isolation="read-set", settings={"reads": "local"}).promises == (
        Level.SERIALIZABLE,
    )
