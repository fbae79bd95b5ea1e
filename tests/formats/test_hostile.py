"""Whatever the bytes: a history or an error for the user, never another exception, never a panic."""

from __future__ import annotations

import gzip
import random
from typing import TYPE_CHECKING

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from isoscope import formats
from isoscope.errors import IsoscopeError
from isoscope.history import History
from tests.formats.forms import ALL_FORMS, ALL_TEXT_FORMS, EDN, LOG, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

each_form = pytest.mark.parametrize("form", ALL_FORMS.values(), ids=ALL_FORMS.keys())
each_text_form = pytest.mark.parametrize("form", ALL_TEXT_FORMS.values(), ids=ALL_TEXT_FORMS.keys())


@pytest.fixture(autouse=True)
def _nothing_on_stderr(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """A panic of the native core would leave its text there."""
    yield
    assert capfd.readouterr().err == ""


def outcome(form: Form, content: bytes) -> History | IsoscopeError:
    """What reading gives; any other exception fails the test."""
    try:
        return form.read(content)
    except IsoscopeError as error:
        return error


@each_form
def test_a_sample_cut_off_anywhere_is_a_history_or_an_error(form: Form) -> None:
    # A Parquet file is long and says at its end where everything stands.
    stride = 23 if form.format == "parquet" else 1
    sizes = range(0, len(form.sample), stride)
    # Counted one by one: an error that is kept holds the buffer of its file.
    assert sum(isinstance(outcome(form, form.sample[:size]), IsoscopeError) for size in sizes) > 0


@each_form
def test_flipped_bits_are_a_history_or_an_error(form: Form) -> None:
    source = random.Random(7)
    for _ in range(600):
        content = bytearray(form.sample)
        for _ in range(source.randint(1, 3)):
            content[source.randrange(len(content))] ^= 1 << source.randrange(8)
        outcome(form, bytes(content))


@each_form
@given(content=st.binary(max_size=200))
def test_random_bytes_are_a_history_or_an_error(form: Form, content: bytes) -> None:
    outcome(form, content)


@each_text_form
@given(cuts=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=4))
def test_shuffled_pieces_of_a_sample_are_a_history_or_an_error(
    form: Form, cuts: list[tuple[int, int]]
) -> None:
    outcome(form, b"".join(form.sample[start : start + size] for start, size in cuts))


# What stands in a value's place, and whether it can be a history.
STRANGE = {
    "deep vectors": b"[" * 100_000,
    "deep maps": b'{"a":' * 100_000,
    "deep EDN maps": b"{:a " * 100_000,
    "deep tags": b"#a " * 100_000,
    "deep discards": b"#_ " * 100_000,
    "deep dashes": b"- " * 100_000,
    "deep indentation": b"".join(b" " * depth + b"-\n" for depth in range(1000)),
    "a huge integer": b"9" * 100_000,
    "a huge exponent": b"1e" + b"9" * 1000,
    "a tiny exponent": b"1e-" + b"9" * 1000,
    "a minus": b"-",
    "a NUL byte": b"\x00",
    "invalid UTF-8": b'"\xff\xfe"',
    "half a surrogate pair": b'"\\ud800"',
    "an endless string": b'"' + b"x" * 100_000,
    "an empty name": b'""',
    "a vertical tab": b"\x0b",
}


@each_text_form
@pytest.mark.parametrize("strange", STRANGE.values(), ids=STRANGE.keys())
def test_strange_values_are_a_history_or_an_error(form: Form, strange: bytes) -> None:
    outcome(form, strange)
    for value in (b"5", b"1.5", b"nil", b"null"):
        place = form.sample.find(value)
        if place >= 0:
            outcome(form, form.sample[:place] + strange + form.sample[place + len(value) :])


@each_text_form
@pytest.mark.parametrize("ends", [b"\r\n", b"\r", b"\n\n", b"\n\r\n", b"\n \t\n"])
def test_other_line_ends_are_a_history_or_an_error(form: Form, ends: bytes) -> None:
    outcome(form, form.sample.replace(b"\n", ends))


@each_text_form
def test_line_ends_of_windows_and_mixed_ones_mean_nothing(form: Form) -> None:
    history = form.read(form.sample)
    assert form.read(form.sample.replace(b"\n", b"\r\n")) == history
    assert form.read(form.sample.replace(b"\n", b"\r\n", 1)) == history


@each_text_form
def test_a_byte_order_mark_means_nothing(form: Form) -> None:
    assert form.read(b"\xef\xbb\xbf" + form.sample) == form.read(form.sample)


@each_form
@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress], ids=[".gz", ".zst"])
def test_compressed_files_cut_off_or_damaged_are_errors(
    form: Form, compress: Callable[[bytes], bytes]
) -> None:
    content = compress(form.sample)
    assert isinstance(outcome(form, content), History)
    for size in range(4, len(content) - 1, 7):
        assert isinstance(outcome(form, content[:size]), IsoscopeError), size
    source = random.Random(11)
    for _ in range(100):
        damaged = bytearray(content)
        damaged[source.randrange(4, len(content))] ^= 1 << source.randrange(8)
        outcome(form, bytes(damaged))


def test_a_log_that_is_cut_off_or_damaged_is_taken_or_an_error(tmp_path: Path) -> None:
    history, log = tmp_path / "run.edn", tmp_path / "run.log"
    history.write_bytes(EDN)
    source = random.Random(13)
    contents = [LOG[:size] for size in range(len(LOG))]
    for _ in range(300):
        damaged = bytearray(LOG)
        damaged[source.randrange(len(LOG))] ^= 1 << source.randrange(8)
        contents.append(bytes(damaged))
    errors: list[str] = []
    for content in contents:
        log.write_bytes(content)
        try:
            formats.load(history)
        except IsoscopeError as error:
            errors.append(str(error))
    assert all(error.startswith(f"{log}:") for error in errors)
    assert 0 < len(errors) < len(contents)
