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

from isoscope.databases.process_family import family
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    import pwd
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Server", "free_port", "is_free"]

#: Reads the process to stop, 0 for none; $1 is the folder, $2 the signal.
#: A paused process and its children must go on to hear a signal; children that are left are killed.
_GUARD = """
family() {
    echo "$1"
    for child in $(cat "/proc/$1/task/"*/children); do family "$child"; done
}
pid=0
while read -r told; do pid=$told; done
if [ "$pid" -gt 0 ]; then
    all=$(family "$pid")
    kill -s "$2" "$pid"
    kill -s CONT $all
    left=50
    while kill -0 "$pid" && [ "$left" -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
    kill -s KILL $all
fi
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
"""
#: Seconds that a server may take to start, on a busy machine. One that ends instead is noticed at once.
_START = 300.0
#: Seconds that a server may take to stop before it is killed.
_PATIENCE = 10.0
#: Seconds between two checks whether a server is ready.
_GLANCE = 0.05
#: Seconds before a node that ended is started again.
_AGAIN = 0.3
#: How many ports are tried, if another process takes the free one first.
_TRIES = 5
#: Lines of the log that a message shows.
_LINES = 5
_FULL = "No space left on device"
_HINT = "\n\nhint: TMPDIR names the folder in which temporary ones are made"


class Server:
    """A folder, and the server process that has its files there; `stop` ends both.

    For root, the first of `users` that exists owns and runs it: some servers refuse root. `stop_signal` asks
    the server to stop; the guard sends `guard_signal` when this process has ended. With a `namespace`, the
    server runs in the network namespace of that process.
    """

    def __init__(
        self,
        name: str,
        *,
        users: Sequence[str] = (),
        stop_signal: signal.Signals = signal.SIGTERM,
        guard_signal: signal.Signals = signal.SIGTERM,
        namespace: int | None = None,
    ) -> None:
        if os.name != "posix":
            raise DatabaseError(
                f"{name} can be started on Unix only\n\nhint: give the URL of one that is running"
            )
        self.name = name
        self._stop_signal = stop_signal
        self._namespace = namespace
        self._command: Sequence[str] = ()
        self._ready: Callable[[], bool] = bool
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

    def reachable(self, files: Path) -> Path:
        """The folder itself if the server's user can read it, else a copy in the server's folder.

        The cache of root is closed to other users.
        """
        if self._user is None or all(part.stat().st_mode & 1 for part in (files, *files.parents)):
            return files
        copy = self.folder / files.name
        try:
            if not copy.exists():
                shutil.copytree(files, copy, symlinks=True)
        except OSError as error:
            raise DatabaseError(f"{self.name} has no place for its files: {error.strerror}{_HINT}") from error
        return copy

    def run(
        self, command: Sequence[str], *, seconds: float = _START, env: Mapping[str, str] | None = None
    ) -> None:
        """Runs a command to its end, as the server's user, in its folder.

        Raises `DatabaseError` if it fails.
        """
        process = self._spawn(command, env)
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
        seconds: float = _START,
    ) -> int:
        """Starts the server on a free port and waits until it is ready; returns the port.

        Raises `DatabaseError` if it is not ready in time.
        """
        end = monotonic() + seconds
        for _ in range(_TRIES):
            port = free_port()
            process = self._spawn(command(port))
            while process.poll() is None:
                if ready(port):
                    return port
                if monotonic() >= end:
                    self._end()
                    raise self.error(f"{self.name} was not ready after {seconds:g} seconds")
                sleep(_GLANCE)
            if is_free(port):
                break
        raise self.error(f"{self.name} did not start")

    def start_node(
        self, command: Sequence[str], ready: Callable[[], bool], *, seconds: float = _START
    ) -> None:
        """Starts a server whose command has its port; `restart` starts it again in the same way."""
        self._command, self._ready = command, ready
        self.restart(seconds=seconds)

    def spawn_node(self, command: Sequence[str], ready: Callable[[], bool]) -> None:
        """The same without waiting: some nodes are ready only when others are."""
        self._command, self._ready = command, ready
        self._spawn(command)

    def start_again_with(self, command: Sequence[str]) -> None:
        """The command of later starts, where it is not that of the first."""
        self._command = command

    def take(self, source: Path, name: str) -> None:
        """Copies a folder into this one, for the server's user."""
        shutil.copytree(source, self.folder / name)
        if self._user is not None:
            for path in (self.folder / name, *(self.folder / name).rglob("*")):
                os.chown(path, self._user.pw_uid, self._user.pw_gid)

    def take_file(self, source: Path) -> Path:
        """Copies a file into the folder, for the server's user; returns the copy."""
        target = self.folder / source.name
        shutil.copy(source, target)
        target.chmod(0o755)
        return target

    def end_process(self, *, seconds: float = _PATIENCE) -> None:
        """Asks the server to stop; one that does not is killed. The folder stays as it is."""
        self._end(seconds)

    def respawn(self) -> None:
        """Starts the node again without waiting."""
        self._spawn(self._command)

    def restart(self, *, seconds: float = _START) -> None:
        """Starts the node again, with the folder as it is, and waits until it is ready.

        Raises `DatabaseError` if it is not ready in time; then it may still run.
        """
        end = monotonic() + seconds
        while not self.wait_until_ready(end):
            if self.is_running or monotonic() >= end:
                raise self.error(f"{self.name} was not ready after {seconds:g} seconds")
            # The port or a lock of the killed process may not be free yet.
            sleep(_AGAIN)

    def wait_until_ready(self, end: float) -> bool:
        """Starts the process if it does not run; False if it ended, or was not ready at the instant `end`."""
        if not self.is_running:
            self._spawn(self._command)
        while self.is_running and monotonic() < end:
            if self._ready():
                return True
            sleep(_GLANCE)
        return False

    def kill(self) -> None:
        """Ends the server and its children as a crash does; the folder stays as it is."""
        if self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
        self._tell_guard(0)

    def pause(self) -> None:
        """Stops the server and its children: they keep their connections and say nothing."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Lets them go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def processes(self) -> list[int]:
        """The numbers of the server's process and its descendants."""
        return [] if self._process is None else family(self._process.pid)

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
        with suppress(OSError):
            if self._guard.stdin is not None and not self._guard.stdin.closed:
                self._guard.stdin.close()
        try:
            self._guard.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            # It is still removing the folder, which is done here as well.
            self._guard.kill()
            self._guard.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _spawn(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Starts a process in its own session, which Ctrl-C does not reach, and tells the guard."""
        user = self._user if self._namespace is None else None
        try:
            with self._log.open("wb") as log:  # the output of an earlier process explains nothing
                self._process = subprocess.Popen(
                    self._inside(command),
                    cwd=self.folder,
                    env=os.environ | {"LC_ALL": "C", "TMPDIR": str(self.folder)} | dict(env or {}),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    user=user and user.pw_uid,
                    group=user and user.pw_gid,
                    extra_groups=user and [],
                )
        except OSError as error:
            raise DatabaseError(f"{command[0]} cannot be run: {error.strerror}") from error
        self._tell_guard(self._process.pid)
        return self._process

    def _inside(self, command: Sequence[str]) -> Sequence[str]:
        """The command in the namespace; each of these programs becomes the next, with the same number."""
        if self._namespace is None:
            return command
        user = self._user
        ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"] if user else []
        drop = ["setpriv", *ids] if ids else []
        return ["nsenter", f"--target={self._namespace}", "--net", *drop, *command]

    def _end(self, seconds: float = _PATIENCE) -> None:
        """Asks the process to stop, then kills it."""
        process = self._process
        if process is not None and process.poll() is None:
            self.resume()  # a paused process would not hear the signal
            process.send_signal(self._stop_signal)
            try:
                process.wait(seconds)
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


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Whether a port is free now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
