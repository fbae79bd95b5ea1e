"""Servers of our own: started, stopped, and gone with us."""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isoscope.databases import process
from isoscope.databases.process import Server
from isoscope.errors import DatabaseError
from tests.interrupts import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A server in one line: listens, says so, stops when it is asked to.
LISTENER = """
import os, signal, socket, sys, time
print("user", os.getuid(), flush=True)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
time.sleep(600)
"""
#: A run that starts a server and says where it is, then waits to be killed.
PARENT = """
import sys, time
from isoscope.databases.process import Server
server = Server("listener")
server.start(lambda port: [sys.executable, "-c", "import time; time.sleep(600)"], lambda port: True)
print(server._process.pid, server.folder, flush=True)
time.sleep(600)
"""


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server("listener")
    yield one
    one.stop()


def command(port: int) -> list[str]:
    return [sys.executable, "-c", LISTENER, str(port)]


def is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def is_alive(pid: int) -> bool:
    """Whether a process is there that is more than a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pid: int, folder: Path) -> None:
    wait_until(lambda: not is_alive(pid) and not folder.exists())


def test_a_server_answers_on_its_port_until_it_is_stopped(server: Server) -> None:
    port = server.start(command, is_open)
    assert server.is_running
    server.stop()
    assert not server.is_running
    assert not is_open(port)


def test_a_stopped_server_leaves_nothing(server: Server) -> None:
    server.start(command, is_open)
    assert server.folder.is_dir()
    server.stop()
    assert not server.folder.exists()
    assert server._guard.returncode == 0


def test_stopping_twice_is_stopping_once(server: Server) -> None:
    server.start(command, is_open)
    server.stop()
    server.stop()
    assert not server.is_running


def test_a_guard_that_takes_long_is_ended_and_the_folder_removed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PATIENCE", 0.1)
    os.kill(server._guard.pid, signal.SIGSTOP)
    server.stop()
    assert server._guard.returncode == -signal.SIGKILL
    assert not server.folder.exists()


def test_a_server_that_was_never_started_can_be_stopped(server: Server) -> None:
    server.stop()
    assert not server.folder.exists()


def test_a_server_can_be_started_again(server: Server) -> None:
    server.start(command, is_open)
    assert server._process is not None
    server._process.kill()
    server._process.wait()
    assert not server.is_running
    assert is_open(server.start(command, is_open))


def test_a_server_that_ends_at_once_is_an_error_with_the_end_of_its_log(server: Server) -> None:
    talk = "[print('line', number) for number in range(20)]; raise SystemExit('no space left')"
    with pytest.raises(DatabaseError) as caught:
        server.start(lambda port: [sys.executable, "-c", talk], is_open)
    lines = str(caught.value).splitlines()
    assert lines[0] == "listener did not start"
    assert lines[-1] == "  no space left"
    assert "  line 0" not in lines


def test_the_output_of_an_earlier_command_is_no_part_of_an_error(server: Server) -> None:
    server.run(["/bin/sh", "-c", "echo success"])
    with pytest.raises(DatabaseError) as caught:
        server.start(lambda _: ["/bin/sh", "-c", "echo no such parameter; exit 1"], lambda _: False)
    assert str(caught.value) == "listener did not start\n  no such parameter"


def test_a_server_that_is_never_ready_is_an_error_and_is_stopped(server: Server) -> None:
    with pytest.raises(DatabaseError, match=r"listener was not ready after 0\.3 seconds"):
        server.start(command, lambda port: False, seconds=0.3)
    assert not server.is_running


def test_a_port_that_somebody_takes_first_is_replaced_by_another(server: Server) -> None:
    thieves: list[socket.socket] = []

    def robbed(port: int) -> list[str]:
        if not thieves:
            thieves.append(socket.create_server(("127.0.0.1", port)))
        return command(port)

    port = server.start(robbed, lambda port: is_open(port) and port != thieves[0].getsockname()[1])
    assert port != thieves[0].getsockname()[1]
    thieves[0].close()


@pytest.mark.slow
def test_a_server_that_ignores_the_polite_signal_is_killed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isoscope.databases.process._PATIENCE", 0.2)
    stubborn = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{LISTENER}"
    server.start(lambda port: [sys.executable, "-c", stubborn, str(port)], is_open)
    process = server._process
    assert process is not None
    server.stop()
    assert process.returncode == -signal.SIGKILL


def test_a_command_that_fails_is_an_error_that_says_why(server: Server) -> None:
    with pytest.raises(DatabaseError, match=r"failed\n  disk full$"):
        server.run([sys.executable, "-c", "raise SystemExit('disk full')"])


def test_a_command_that_takes_too_long_is_an_error(server: Server) -> None:
    with pytest.raises(DatabaseError, match=r"was not done after 0\.2 seconds"):
        server.run([sys.executable, "-c", "import time; time.sleep(600)"], seconds=0.2)
    assert not server.is_running


def test_a_command_that_is_not_there_is_an_error(server: Server) -> None:
    with pytest.raises(DatabaseError, match="/no/such/server cannot be run: No such file"):
        server.run(["/no/such/server"])


def test_no_place_for_temporary_files_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(DatabaseError, match="listener has no place for its files: No such file") as caught:
        Server("listener")
    assert "hint: TMPDIR" in str(caught.value)


def test_elsewhere_than_on_unix_no_server_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoscope.databases.process.os.name", "nt")
    with pytest.raises(DatabaseError, match="listener can be started on Unix only\n\nhint: give the URL"):
        Server("listener")


def test_a_full_disk_is_one_clear_message(server: Server) -> None:
    full = "import sys; sys.exit('cannot write: No space left on device\\nmuch\\nmore')"
    with pytest.raises(DatabaseError) as caught:
        server.start(lambda port: [sys.executable, "-c", full], is_open)
    assert str(caught.value).splitlines() == [
        f"listener did not start: no space left in {server.folder.parent}",
        "",
        "hint: TMPDIR names the folder in which temporary ones are made",
    ]


def test_a_file_for_the_server_can_be_read_in_its_folder_only(server: Server) -> None:
    server.write("password", "secret")
    server.run(["/bin/sh", "-c", 'test "$(cat password)" = secret'])
    assert server.folder.stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_written_is_an_error(server: Server) -> None:
    with pytest.raises(DatabaseError, match="listener has no place for its files: No such file"):
        server.write("missing/password", "secret")


def test_a_killed_run_leaves_neither_process_nor_folder() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, folder = parent.stdout.readline().split()
        assert is_alive(int(pid))
        parent.kill()
    wait_until_gone(int(pid), Path(folder))
    assert not is_alive(int(pid))
    assert not Path(folder).exists()


def test_a_server_does_not_hear_the_interrupt_of_the_terminal(server: Server) -> None:
    server.start(command, is_open)
    assert server._process is not None
    assert os.getpgid(server._process.pid) != os.getpgid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a server as another user")
def test_a_place_that_the_other_user_cannot_enter_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(
        DatabaseError, match="is closed to the user nobody, which would run the server\n\nhint: TMPDIR"
    ):
        Server("listener", users=("nobody",))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a server as another user")
def test_a_server_runs_as_another_user_if_we_are_root() -> None:
    server = Server("listener", users=("no-such-user", "nobody"))
    try:
        server.run(["/bin/sh", "-c", "id -u > uid"])
        uid = pwd.getpwnam("nobody").pw_uid
        assert (server.folder / "uid").read_text() == f"{uid}\n"
        assert server.folder.stat().st_uid == uid
    finally:
        server.stop()
