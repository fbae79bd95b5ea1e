"""No exception leaves as status 1, which means violated: a fault of Isoscope is 70, Ctrl-C is 130."""

from __future__ import annotations

import signal
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import click
import pytest

import isoscope
from isoscope.cli import failure
from isoscope.databases.database import ConnectionLost
from isoscope.errors import DatabaseError, UsageError
from isoscope.run import connections

from .fake_database import Fake, FakeSession, install
from .running import COMMAND, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL = ("--workload", "list-append", "--transactions", 300, "--sessions", 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("run", "sqlite", "--seconds", "x"),
            "Invalid value for '--seconds': 'x' is no duration such as 5s, 500ms, 2m or 8h",
        ),
        (("run", "sqlite", "--rate", "x"), "Invalid value for '--rate': 'x' is not a number."),
        (("run", "sqlite", "--keys", "1.5"), "Invalid value for '--keys': '1.5' is not a whole number."),
        (("completion",), "Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish"),
    ],
)
def test_a_wrong_argument_is_one_line_without_names_of_types(
    arguments: tuple[str, ...], message: str
) -> None:
    done = run(*arguments)
    assert done.status == 2
    assert done.err.splitlines()[0] == f"error: {message}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # of processes that a test starts
    monkeypatch.setattr(connections, "_PATIENCE", 0.1)
    return tmp_path


class NativePanic(BaseException):
    """As the native core raises it: no Exception."""


def raising(error: BaseException | type[BaseException]) -> Callable[..., Any]:
    def function(*_: object, **__: object) -> Any:
        raise error

    return function


#: Exceptions, and the status that each must have wherever it comes from.
ERRORS = [
    (RuntimeError("odd"), 70),
    (MemoryError(), 70),
    (RecursionError("deep"), 70),
    (AssertionError(), 70),
    (NativePanic("index out of range"), 70),
    (SystemExit(1), 70),
    (SystemExit(0), 70),
    (GeneratorExit(), 70),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd"), 70),
    (DatabaseError("odd"), 2),
    (UsageError("odd"), 2),
    (OSError(28, "No space left on device"), 2),
    (click.FileError("x"), 2),
    (KeyboardInterrupt(), 130),
    (click.Abort(), 130),
]


@pytest.mark.parametrize(("error", "status"), ERRORS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("isoscope.formats.load", ("check", "h.txt")),
        ("isoscope.checkers.check", ("check", "h.txt")),
        ("isoscope.cli.report_files.ReportFiles.opened", ("check", "h.txt")),
        ("isoscope.formats.save", ("convert", "h.txt", "h.parquet")),
        ("isoscope.cli.program.import_module", ("levels",)),
        ("isoscope.databases.connect", ("run", "fake", *SMALL)),
        ("isoscope.live.service.Service.__init__", ("serve", "--port", 0)),
        ("isoscope.live.http_server.HttpServer.run", ("serve", "--port", 0)),
    ],
)
def test_an_exception_anywhere_is_never_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    command: tuple[object, ...],
    error: BaseException,
    status: int,
) -> None:
    recorder = isoscope.Recorder(initial=0)
    with recorder.transaction(session=1) as one:
        one.write("x", 1)
    isoscope.save(recorder.history(), "h.txt", lossy=True)
    monkeypatch.setattr(place, raising(error))
    done = run(*command)
    assert done.status == status
    assert "Traceback" not in done.err


def test_a_fault_leaves_a_short_message_and_a_file_for_the_issue_without_secrets(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr("isoscope.databases.connect", raising(RuntimeError("at postgresql://me:word@host/x")))
    done = run("run", "postgresql://me:secret@host/x")
    assert done.status == 70
    assert done.err.startswith(
        "error: isoscope itself failed, and this is no verdict: RuntimeError: at postgresql"
    )
    [path] = folder.glob("isoscope-failure-*.txt")
    assert str(path) in done.err
    text = path.read_text()
    assert "Traceback" in text
    assert "RuntimeError" in text
    assert isoscope.__version__ in text
    assert "postgresql://me:***@host/x" in text
    assert not any(secret in text + done.err for secret in ("secret", ":word"))


def test_a_fault_without_room_for_a_file_is_told_whole(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder / "missing"))
    said: list[str] = []
    monkeypatch.setattr(failure, "_say", said.append)
    assert failure.report(RuntimeError("odd")) == 70
    assert "Traceback" not in said[0]
    assert "RuntimeError: odd" in said[1]


def test_a_broken_pipe_that_is_not_the_output_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of the socket of a driver: nothing was checked."""
    monkeypatch.setattr("isoscope.databases.connect", raising(BrokenPipeError(32, "Broken pipe")))
    assert run("run", "fake", *SMALL).status not in (0, 1)


IMPORTS = ["click", "isoscope._native", "isoscope.errors", "isoscope.cli.program", "isoscope.cli.failure",
           "isoscope.cli.check", "isoscope.formats", "isoscope.checkers", "isoscope.reports"]  # fmt: skip


@pytest.mark.parametrize("module", IMPORTS)
@pytest.mark.parametrize("error", ["KeyboardInterrupt()", "ImportError('odd')", "MemoryError()"])
def test_an_exception_during_an_import_is_never_a_verdict(module: str, error: str) -> None:
    program = f"""
        import sys
        class Stop:
            def find_spec(self, name, path=None, target=None):
                if name == {module!r}:
                    raise {error}
        sys.meta_path.insert(0, Stop())
        sys.argv = ["isoscope", *{["nonsense"] if module.endswith("failure") else ["check", "x.txt"]!r}]
        from isoscope.cli import main
        main()
    """
    done = subprocess.run([sys.executable, "-c", dedent(program)], capture_output=True, check=False)
    assert done.returncode == (130 if "Keyboard" in error else 70), done.stderr


def test_ctrl_c_that_an_import_turned_into_something_else_is_still_ctrl_c() -> None:
    error = ImportError("initialization failed")
    error.__cause__ = SystemError("odd")
    error.__cause__.__context__ = KeyboardInterrupt()
    assert failure.report(error) == 130


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-", "2>/dev/full", ">/dev/full"])
@pytest.mark.parametrize("command", ["check missing.txt", "levels", "nonsense", "--version"])
def test_streams_that_are_closed_or_full_are_never_a_verdict(closed: str, command: str) -> None:
    line = f'{sys.executable} -c "{COMMAND[2]}" {command} {closed}'
    assert subprocess.run(line, shell=True, capture_output=True, check=False).returncode in (0, 2, 120)


#: Where an exception may come up in a run, and whether transactions were recorded before.
POINTS = [
    ("open", False),
    ("insert", False),
    ("session", False),
    ("version_order", True),
    ("close", True),
    ("begin", False),
    ("read", True),
    ("append", True),
    ("commit", True),
]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RuntimeError("odd"), 70),
        (NativePanic("odd"), 70),
        (ConnectionLost("gone"), 2),
        (DatabaseError("gone"), 2),
        (ConnectionResetError(104, "reset"), 70),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize(("point", "has_history"), POINTS)
def test_an_exception_at_any_point_of_a_run_keeps_the_history(  # noqa: PLR0917 - as pytest calls it
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    point: str,
    has_history: bool,
    error: BaseException,
    status: int,
) -> None:
    kind = Fake if hasattr(Fake, point) else FakeSession
    original = getattr(kind, point)
    calls = {"left": 40 if has_history and kind is FakeSession else 0}

    def failing(self: Any, *arguments: Any) -> Any:
        if calls["left"] > 0:
            calls["left"] -= 1
            return original(self, *arguments)
        if isinstance(self, FakeSession) and point != "begin":
            self.rollback()
        raise error

    monkeypatch.setattr(kind, point, failing)
    done = run("run", "fake", *SMALL)
    if isinstance(error, ConnectionLost) and kind is FakeSession:
        # Sessions connect again, until all transactions are tried.
        assert done.status in (0, 2, 3)
    else:
        assert done.status == (70 if isinstance(error, ConnectionLost) and point == "close" else status)
    if has_history:
        [path] = folder.glob("fake-serial.parquet")
        assert len(isoscope.load(path)) > 0


def test_a_line_of_progress_that_cannot_be_written_does_not_lose_the_history(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr("isoscope.cli.progress.ProgressLine.__call__", raising(OSError(28, "No space left")))
    done = run("run", "fake", "--workload", "list-append", "--seconds", 60)
    assert done.status == 2
    assert isoscope.load(folder / "fake-serial.parquet") is not None


def test_ctrl_c_while_a_command_starts_is_130() -> None:
    """The signal comes while a module is imported, as early as a test can send it."""
    program = """
        import os, signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        class Stop:
            def find_spec(self, name, path=None, target=None):
                if name == "isoscope.formats":
                    os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, Stop())
        sys.argv = ["isoscope", "check", "missing.txt"]
        from isoscope.cli import main
        main()
    """
    done = subprocess.run([sys.executable, "-c", dedent(program)], capture_output=True, check=False)
    assert done.returncode in (130, -signal.SIGINT)
    assert b"Traceback" not in done.stderr
