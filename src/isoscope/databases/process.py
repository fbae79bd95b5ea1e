"""A server for one run: a process in a temporary folder, on a free port, that ends when this process ends.

A guard, a few lines of shell in a session of their own, waits at the other end of a pipe. However this
process ends, also by `kill -9`, the pipe closes; then the guard stops the server and removes the folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    import pwd
    from collections.abc import Callable, Sequence

__all__ = ["Server"]

#: Reads the process to stop, 0 for none; $1 is the folder, $2 the signal.
_GUARD = """
pid=0
while read -r told; do pid=$told; done
if [ "$pid" -gt 0 ]; then
    kill -s "$2" "$pid"
    left=50
    while kill -0 "$pid" && [ "$left" -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
    kill -s KILL "$pid"
fi
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
"""
#: Seconds that a server may take to stop before it is killed.
_PATIENCE = 10.0
#: Seconds between two checks whether a server is ready.
_GLANCE = 0.05
#: How many ports are tried, if another process takes the free one first.
_TRIES = 5
#: Lines of the log that a message shows.
_LINES = 5
_FULL = "No space left on device"
_HINT = "\n\nhint: TMPDIR names the folder in which temporary ones are made"


class Server:
    """A folder, and the server process that has its files there; `stop` ends both.

    For root, the first of `users` that exists owns and runs it: some servers refuse root. `stop_signal` asks
    the server to stop; the guard sends `guard_signal` when this process has ended.
    """

    def __init__(
        self,
        name: str,
        *,
        users: Sequence[str] = (),
        stop_signal: signal.Signals = signal.SIGTERM,
        guard_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        if os.name != "posix":
            raise DatabaseError(
                f"{name} can be started on Unix only\n\nhint: give the URL of one that is running"
            )
        self.name = name
        self._stop_signal = stop_signal
        self._process: subprocess.Popen[bytes] | None = None
        self._user = _user(users)
        self.folder = _folder(name, self._user)
        self._log = self.folder / "log"
        self._guard = _guard(self.folder, guard_signal)

    def write(self, name: str, text: str) -> None:
        """Writes a file into the folder, where only the server's user can read it."""
        try:
            path = self.folder / name
            path.write_text(text)
            path.chmod(0o644)  # the folder itself is closed to other users
        except OSError as error:
            raise DatabaseError(f"{self.name} has no place for its files: {error.strerror}{_HINT}") from error

    def run(self, command: Sequence[str], *, seconds: float = 60.0) -> None:
        """Runs a command to its end, as the server's user, in its folder.

        Raises `DatabaseError` if it fails.
        """
        process = self._spawn(command)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._end()
            raise self.error(f"{Path(command[0]).name} was not done after {seconds:g} seconds") from None
        if status:
            raise self.error(f"{Path(command[0]).name} failed")

    def start(
        self,
        command: Callable[[int], Sequence[str]],
        ready: Callable[[int], bool],
        *,
        seconds: float = 60.0,
    ) -> int:
        """Starts the server on a free port and waits until it is ready; returns the port.

        Raises `DatabaseError` if it is not ready in time.
        """
        end = monotonic() + seconds
        for _ in range(_TRIES):
            port = _free_port()
            process = self._spawn(command(port))
            while process.poll() is None:
                if ready(port):
                    return port
                if monotonic() >= end:
                    self._end()
                    raise self.error(f"{self.name} was not ready after {seconds:g} seconds")
                sleep(_GLANCE)
            if _is_free(port):
                break
        raise self.error(f"{self.name} did not start")

    @property
    def is_running(self) -> bool:
        """Whether the process that was started last still runs."""
        return self._process is not None and self._process.poll() is None

    def error(self, problem: str) -> DatabaseError:
        """An error that ends with the last lines of the server's log, or names the full disk."""
        lines = self._last_lines()
        if any(_FULL in line for line in lines):
            return DatabaseError(f"{problem}: no space left in {self.folder.parent}{_HINT}")
        return DatabaseError("\n".join([problem, *(f"  {line}" for line in lines[-_LINES:])]))

    def stop(self) -> None:
        """Stops the server and removes its folder; never fails, and a second call does nothing."""
        self._end()
        with suppress(OSError, subprocess.TimeoutExpired):
            if self._guard.stdin is not None and not self._guard.stdin.closed:
                self._guard.stdin.close()
            self._guard.wait(_PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _spawn(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Starts a process in its own session, which Ctrl-C does not reach, and tells the guard."""
        try:
            with self._log.open("wb") as log:  # the output of an earlier process explains nothing
                self._process = subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env=os.environ | {"LC_ALL": "C", "TMPDIR": str(self.folder)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    user=self._user and self._user.pw_uid,
                    group=self._user and self._user.pw_gid,
                    extra_groups=self._user and [],
                )
        except OSError as error:
            raise DatabaseError(f"{command[0]} cannot be run: {error.strerror}") from error
        self._tell_guard(self._process.pid)
        return self._process

    def _end(self) -> None:
        """Asks the process to stop, then kills it."""
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(self._stop_signal)
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._process = None
        # Another process may soon have the same number.
        self._tell_guard(0)

    def _tell_guard(self, pid: int) -> None:
        with suppress(OSError, ValueError):
            assert self._guard.stdin is not None
            self._guard.stdin.write(f"{pid}\n".encode())
            self._guard.stdin.flush()

    def _last_lines(self) -> list[str]:
        try:
            text = self._log.read_bytes()[-4_000:].decode(errors="replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if line.strip()]


def _user(names: Sequence[str]) -> pwd.struct_passwd | None:
    """The user that owns and runs the server; None for the current user."""
    if os.geteuid() != 0:
        return None
    import pwd  # noqa: PLC0415 - does not exist on Windows

    for name in names:
        with suppress(KeyError):
            return pwd.getpwnam(name)
    return None


def _folder(name: str, user: pwd.struct_passwd | None) -> Path:
    try:
        if user is not None:
            _refuse_closed(Path(tempfile.gettempdir()).resolve(), user)
        folder = Path(tempfile.mkdtemp(prefix=f"isoscope-{name}-"))
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
    except OSError as error:
        raise DatabaseError(f"{name} has no place for its files: {error.strerror}{_HINT}") from error
    return folder


def _refuse_closed(folder: Path, user: pwd.struct_passwd) -> None:
    for part in (folder, *folder.parents):
        status = part.stat()
        if not status.st_mode & 1 and status.st_uid != user.pw_uid:
            raise DatabaseError(
                f"{part} is closed to the user {user.pw_name}, which would run the server{_HINT}"
            )


def _guard(folder: Path, end: signal.Signals) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "isoscope-guard", str(folder), end.name.removeprefix("SIG")],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise DatabaseError(f"no process can be started: {error.strerror}") from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
