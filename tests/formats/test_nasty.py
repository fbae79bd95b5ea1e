"""Small files that are wrong in one way each, and endless ones: every format tells what is the matter.

A file of `nasty/` is called by what is nasty about it. Whatever its format, it is a history or one error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.errors import FormatError, IsoscopeError, UnknownFormatError
from tests.formats.forms import ALL_FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator

NASTY = sorted(Path(__file__).with_name("nasty").iterdir())
each_file = pytest.mark.parametrize("path", NASTY, ids=lambda path: path.name)
#: Bytes of a single line; the deep profile takes a gigabyte.
LINE = 1 << 30 if os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep" else 1 << 26
#: What a record may cost while it is read: itself a few times, and no record is longer than 256 MiB.
MOST_MEMORY = 6 * min(LINE, 1 << 28)


@pytest.fixture(autouse=True)
def _nothing_on_stderr(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """A panic of the native core would leave its text there."""
    yield
    assert capfd.readouterr().err == ""


def problem(path: Path, name: str | None = None) -> IsoscopeError | None:
    """The error that reading raises, if it does; any other exception fails the test."""
    try:
        formats.load(path, format=name)
    except IsoscopeError as error:
        return error
    return None


@each_file
@pytest.mark.parametrize("name", [known.name for known in formats.FORMATS])
def test_a_nasty_file_is_a_history_or_one_clear_error(path: Path, name: str) -> None:
    error = problem(path, name)
    if error is None:
        return
    assert isinstance(error, FormatError)
    assert error.path == str(path)
    assert is_clear(str(error)), str(error)


@each_file
def test_a_nasty_file_without_a_name_of_its_format_is_a_history_or_one_clear_error(path: Path) -> None:
    error = problem(path)
    if error is None:
        return
    assert isinstance(error, FormatError | UnknownFormatError)
    assert str(error).startswith(str(path))
    assert is_clear(str(error)), str(error)


def is_clear(message: str) -> bool:
    """Short, printable, and with nothing of the machinery in it."""
    return message.replace("\n", "").isprintable() and len(message) < 1000 and "Traceback" not in message


#: Feeds endless lines to a format and prints how much memory that took at most.
ENDLESS = """
import io, json, sys
from isoscope import formats
from isoscope.errors import IsoscopeError
from isoscope.formats.source import File, Input

class Endless(io.RawIOBase):
    def __init__(self, start, filler, size):
        self.start, self.filler, self.left = start, filler, size
    def readable(self):
        return True
    def readinto(self, buffer):
        size = min(len(buffer), self.left)
        piece = self.start[:size] or (self.filler * (size // len(self.filler) + 1))[:size]
        self.start = self.start[len(piece):]
        self.left -= len(piece)
        buffer[:len(piece)] = piece
        return len(piece)

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

name, size, start, fillers = json.loads(sys.argv[1])
before, errors = peak(), []
for filler in fillers:
    stream = io.BufferedReader(Endless(start.encode("latin-1"), filler.encode("latin-1"), size))
    try:
        formats.find(name).read(Input("<line>", (File.streamed("<line>", stream),)))
    except IsoscopeError as error:
        errors.append(str(error))
print(json.dumps([peak() - before, errors]))
"""
FILLERS = ["9", "[", "x", " "]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [name for name in ALL_FORMS if name != "parquet"])
def test_a_line_without_end_costs_bounded_memory(name: str) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    form = ALL_FORMS[name]
    place = max(form.sample.find(value) for value in (b"5", b"null", b"nil"))
    start = form.sample[:place].decode("latin-1")
    question = json.dumps([form.format, LINE, start, FILLERS])
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS, question], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    memory, errors = json.loads(done.stdout)
    assert memory < MOST_MEMORY
    assert errors
    assert all(is_clear(error) for error in errors)


def test_the_corpus_is_small_and_has_both_histories_and_errors() -> None:
    assert all(path.stat().st_size < 10_000 for path in NASTY)
    read = [path for path in NASTY if problem(path) is None]
    assert 0 < len(read) < len(NASTY)
