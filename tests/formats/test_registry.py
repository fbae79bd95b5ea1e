"""Laws of all formats: what is written is read back, what would be lost is said, nothing is half-written."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoscope import formats
from isoscope._native import Reader
from isoscope.errors import UnknownFormatError, UsageError
from isoscope.history import (
    History,
    Initial,
    Operation,
    OperationKind,
    Transaction,
)
from isoscope.recorder import build
from tests.formats.forms import ALL_FORMS, ALL_TEXT_FORMS, FORMS, READ_ONLY, TEXT_FORMS, Form
from tests.strategies import any_histories, histories

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = sorted(
    path for path in (Path(__file__).parents[1] / "histories").rglob("*") if path.suffix in {".txt", ".edn"}
)
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
each_text_form = pytest.mark.parametrize("form", TEXT_FORMS.values(), ids=TEXT_FORMS.keys())
each_read_form = pytest.mark.parametrize("form", ALL_FORMS.values(), ids=ALL_FORMS.keys())
each_read_text_form = pytest.mark.parametrize("form", ALL_TEXT_FORMS.values(), ids=ALL_TEXT_FORMS.keys())


@pytest.fixture
def small() -> History:
    """A history that every format holds."""
    write = Operation(kind=OperationKind.WRITE, key=1, value=2)
    transaction = Transaction(number=0, id=1, session=0, session_id=1, operations=(write,))
    return build([transaction], initial=Initial(value=0, replaceable=True))


@each_form
@given(data=st.data())
def test_a_history_that_a_format_can_hold_is_read_back_as_it_was(form: Form, data: st.DataObject) -> None:
    history = data.draw(form.histories)
    assert form.losses(history) == ()
    assert form.read(form.write(history)) == history


@each_form
@given(data=st.data())
def test_the_same_history_is_written_as_the_same_bytes(form: Form, data: st.DataObject) -> None:
    history = data.draw(form.histories)
    assert form.write(history) == form.write(history)


@each_form
@given(data=st.data())
def test_a_format_says_everything_that_it_would_lose(form: Form, data: st.DataObject) -> None:
    """Whatever the history: either something is lost and named, or it comes back with all that it says."""
    history = data.draw(st.one_of(*(other.histories for other in FORMS.values()), histories()))
    if form.losses(history) == ():
        assert told(form.read(form.write(history))) == told(history)


@each_text_form
@given(history=any_histories())
def test_a_file_with_losses_can_still_be_read(form: Form, history: History) -> None:
    again = form.read(form.write(history))
    assert form.losses(again) == ()


def told(history: History) -> dict[str, Any]:
    """What a history says, without what some readers add (places of completions) or leave open (numbers).

    The initial value of lists is always the empty list, so it says nothing where there are only lists.
    """
    kinds = {operation.kind for transaction in history for operation in transaction.operations}
    only_lists = OperationKind.APPEND in kinds and not kinds & {OperationKind.WRITE, OperationKind.INSERT}
    labels = {transaction.number: repr(transaction.id) for transaction in history}
    return {
        "transactions": {repr(transaction.id): _told_of(transaction) for transaction in history},
        "sessions": sorted(
            [labels[number] for number in session.transactions] for session in history.sessions
        ),
        "initial": None if only_lists else repr(history.initial),
        "versions": repr(history.version_orders),
    }


def _told_of(transaction: Transaction) -> str:
    places = (
        transaction.positions if transaction.positions and transaction.positions.invoke is not None else None
    )
    bare = [replace(operation, line=None) for operation in transaction.operations]
    return repr(
        replace(transaction, number=0, session=0, line=None, positions=places, operations=tuple(bare))
    )


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_that_is_read_and_written_and_read_is_the_same(path: Path) -> None:
    history = formats.load(path)
    form = FORMS[history.source.format]
    once = form.write(history)
    assert form.read(once) == history
    assert form.write(form.read(once)) == once


@pytest.mark.parametrize("name", [*TEXT_FORMS, *READ_ONLY])
@given(sizes=st.lists(st.integers(1, 40), min_size=1))
def test_the_borders_of_blocks_do_not_matter(name: str, sizes: list[int]) -> None:
    form = ALL_FORMS[name]
    reader = Reader(name.removesuffix("-lines").removesuffix("-times"))
    reader.start_of_file("")
    rest = memoryview((b"\xef\xbb\xbf" if reader.is_text else b"") + form.sample)
    for size in _again_and_again(sizes):
        if not rest:
            break
        reader.feed(rest[:size])
        rest = rest[size:]
    reader.end_of_file()
    assert History(reader.finish()) == form.read(form.sample)


def _again_and_again(sizes: list[int]) -> Iterator[int]:
    while True:
        yield from sizes


@pytest.mark.parametrize("name", ["plume", "jepsen", "aion-lines"])
@given(data=st.data())
def test_a_file_split_into_a_directory_of_files_is_the_same_history(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    form = FORMS[name]
    history = data.draw(form.histories)
    lines = form.write(history).splitlines(keepends=True)
    cut = data.draw(st.integers(0, len(lines)))
    folder = tmp_path_factory.mktemp("split")
    (folder / "1").write_bytes(b"".join(lines[:cut]))
    (folder / "2").write_bytes(b"".join(lines[cut:]))
    assert formats.load(folder, format=form.format) == history


@each_form
@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
def test_files_are_read_back_whatever_their_compression(
    form: Form, compression: str, tmp_path: Path, small: History
) -> None:
    history = form.read(form.sample)
    path = tmp_path / f"history{form.suffix}{compression}"
    assert formats.save(history, path, format=form.format) == ()
    content = path.read_bytes()
    assert formats.load(path) == history
    formats.save(history, path, format=form.format)
    assert path.read_bytes() == content


@pytest.mark.parametrize("form", READ_ONLY.values(), ids=READ_ONLY.keys())
def test_a_format_that_is_only_read_is_recognised_and_converted(form: Form, tmp_path: Path) -> None:
    path = tmp_path / f"history{form.suffix}"
    path.write_bytes(form.sample)
    history = formats.load(path)
    assert history.source.format == form.format
    formats.save(history, tmp_path / "history.parquet")
    assert formats.load(tmp_path / "history.parquet") == history
    with pytest.raises(
        UsageError, match=f"^{form.format} is only read\n\nhint: these can be written: plume,"
    ):
        formats.save(history, tmp_path / "again", format=form.format)


@each_form
@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
def test_standard_input_is_read_like_a_file(
    form: Form, compression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = form.read(form.sample)
    path = tmp_path / f"history{form.suffix}{compression}"
    formats.save(history, path, format=form.format)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert formats.load("-") == history


@each_read_form
def test_a_sample_is_recognised_by_its_content(form: Form, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(form.sample)
    assert formats.load(path).source.format == form.format


@each_read_text_form
def test_a_byte_order_mark_and_other_line_ends_change_nothing(form: Form, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b"\xef\xbb\xbf" + form.sample.replace(b"\n", b"\r\n", 1))
    assert formats.load(path) == form.read(form.sample)


@each_form
@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("existing", [True, False])
def test_a_write_that_fails_leaves_nothing_behind(
    form: Form, compression: str, existing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = form.read(form.sample)
    path = tmp_path / f"history{form.suffix}{compression}"
    if existing:
        path.write_text("old")

    monkeypatch.setattr("os.fdopen", _FullDisk)
    with pytest.raises(UsageError) as caught:
        formats.save(history, path, format=form.format)
    assert str(caught.value) == f"cannot write {path}: No space left on device"
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"] * existing


class _FullDisk(io.FileIO):
    def write(self, data: Any, /) -> int:
        raise OSError(28, "No space left on device")


def test_an_interrupted_write_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: History
) -> None:
    def interrupt(self: object, data: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(_FullDisk, "write", interrupt)
    monkeypatch.setattr("os.fdopen", _FullDisk)
    with pytest.raises(KeyboardInterrupt):
        formats.save(small, tmp_path / "history.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_format_is_found_by_name_or_suffix() -> None:
    assert formats.find("PLUME").name == "plume"
    assert formats.for_path("a/b.jsonl.zst").name == "aion"


def test_the_longest_suffix_names_the_format() -> None:
    assert formats.for_path("a/b.dbcop.json.gz").name == "dbcop-json"
    assert formats.for_path("a/dbcop.json").name == "aion"


_NAMED = ", ".join(known.name for known in formats.FORMATS)
_SUFFIXES = ", ".join(suffix for known in formats.FORMATS if known.write for suffix in known.suffixes)
UNKNOWN_FORMATS = [
    ("find", "elle", f"no format is called `elle`\n\nhint: the formats are {_NAMED}"),
    (
        "for_path",
        "run.csv.gz",
        "run.csv.gz: the name does not say which format to write\n\n"
        f"hint: name the format, or let the file end with one of {_SUFFIXES}",
    ),
]


@pytest.mark.parametrize(("function", "argument", "message"), UNKNOWN_FORMATS)
def test_an_unknown_format_is_an_error_with_the_names(function: str, argument: str, message: str) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        getattr(formats, function)(argument)
    assert str(caught.value) == message


EMPTY = "the input is empty\n\nhint: was the history written? With --format an empty file is an empty history"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", EMPTY),
        (b"\n \n", EMPTY),
        (
            b"SELECT 1;\n",
            "no format recognises this input; it starts with `SELECT 1;`\n\n"
            f"hint: name its format with --format ({_NAMED})",
        ),
    ],
)
def test_input_that_no_format_recognises_is_an_error(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(content)
    with pytest.raises(UnknownFormatError) as caught:
        formats.load(path)
    assert str(caught.value) == f"{path}: {problem}"


@each_read_form
def test_initial_values_can_be_replaced(form: Form, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(form.sample)
    key = form.read(form.sample).keys[0]
    initial = formats.load(path, initial=Initial(value="v", of_key={key: "w"})).initial
    assert (initial.value, initial.of_key[key]) == ("v", "w")
