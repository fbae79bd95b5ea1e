"""The verifier's own parsers read what the formats of the package read: transaction by transaction."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope.checkers.itemised import ItemisedHistory, with_range_reads_as_reads
from isoscope.history import UNKNOWN, Range, Status
from isoscope.history import Term as Scalar
from isoscope.verify.files import read_history
from isoscope.verify.history import MARKER, RANGE, BadInputError, Term
from isoscope.verify.history import UNKNOWN as NOT_KNOWN
from isoscope.verify.predicates import Unmatched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History, Operation, Transaction

CASES = sorted(
    path
    for path in (Path(__file__).parents[1] / "histories").glob("*/*")
    if path.suffix in (".txt", ".edn", ".parquet")
)
MARKERS = ("begin", "commit", "abort")


def scalar(value: Any) -> Any:
    """A scalar of the package as the verifier has it."""
    if value is UNKNOWN:
        return NOT_KNOWN
    if isinstance(value, Scalar):
        return Term("term", str(value))
    if isinstance(value, bool):
        return Term("term", str(value).lower())
    if isinstance(value, float):
        return Term("term", repr(value))
    return value


def plain(value: Any) -> Any:
    """The same scalar without the kind of a term; nil for what a predicate leaves out."""
    if isinstance(value, Unmatched):
        return None
    if isinstance(value, list | tuple) and not isinstance(value, Term):
        return [plain(scalar(element)) for element in value]
    return ("term", value.text) if isinstance(value, Term) and value is not NOT_KNOWN else value


def told(operation: Operation, *, lists: set[Any]) -> tuple[str, Any, Any]:
    if operation.kind in MARKERS:
        return MARKER, None, None
    if isinstance(operation.value, Range):
        return RANGE, None, None
    key, value = plain(scalar(operation.key)), plain(scalar(operation.value))
    kind = "write" if operation.kind == "insert" else str(operation.kind)
    return kind, key, [] if value is None and kind == "read" and key in lists else value


def single_reads(history: History, t: Transaction) -> Iterator[Operation]:
    """The operations of a transaction; what a range read does not show is nil."""
    for place, operation in enumerate(t.operations):
        is_left_out = isinstance(history, ItemisedHistory) and history.is_left_out(t.number, place)
        yield replace(operation, value=None) if is_left_out else operation


def compare(path: Path) -> None:
    loaded, read = with_range_reads_as_reads(isoscope.load(path)), read_history(path)
    lists = {plain(key) for key in read.lists}
    own = {plain(t.id): t for t in read.transactions}
    assert own.keys() == {plain(scalar(t.id)) for t in loaded}
    for t in loaded:
        mine = own[plain(scalar(t.id))]
        assert mine.status == str(t.status)
        operations = [(kind, plain(key), plain(value)) for kind, key, value in mine.operations]
        assert operations == [told(operation, lists=lists) for operation in single_reads(loaded, t)]
        assert (mine.start, mine.commit) == (t.start, t.commit)
        if t.positions is not None and t.status is Status.COMMITTED:
            assert (mine.begin, mine.end) == t.positions
    for session in loaded.sessions:
        members = [own[plain(scalar(loaded.transaction(number).id))] for number in session.transactions]
        assert [t.place for t in members] == list(range(len(members)))
        assert len({t.session for t in members}) == 1
    assert len({t.session for t in read.transactions}) == len(loaded.sessions)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_is_read_as_the_package_reads_it(path: Path) -> None:
    compare(path)


@pytest.mark.parametrize("path", CASES[::12], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_is_the_same_as_parquet(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "history.parquet"
    isoscope.save(isoscope.load(path), target)
    compare(target)
    mine, there = read_history(path), read_history(target)
    assert [t.operations for t in mine.transactions] == [t.operations for t in there.transactions]
    assert mine.initial == there.initial


def test_a_file_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "history.txt.gz"
    path.write_bytes(gzip.compress(b"w(1,2,0,7)\n\nr(1,2,1,8)\n"))
    assert [t.id for t in read_history(path).transactions] == [7, 8]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("w(1,2,0,7)\nw(1,2,0\n", ":2: expected an operation"),
        ("w(1,2,0,7)\nw(1,2,1,7)\n", ":2: transaction 7 is in another session"),
        ("w(1,2,0,-5)\n", ":1: expected a transaction id"),
        ('{"tid": 1}\n', "the verifier reads Plume text, Jepsen EDN and Isoscope's Parquet"),
        ("{:type :ok, :process 0, :value [[:r :x 1]]\n", ":2: expected }"),
        ("{:type :ok, :process 0, :value [[:cas :x 1]]}\n", "expected a micro-operation"),
    ],
)
def test_a_file_that_cannot_be_read_is_bad_input(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(text)
    with pytest.raises(BadInputError) as caught:
        read_history(path)
    assert reason in str(caught.value)


def test_a_log_beside_a_history_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.edn"
    path.write_text("{:type :ok, :process 0, :value [[:r :x 1]]}\n")
    read_history(path)
    (tmp_path / "run.log").write_text('{"tick":"94"}\n')
    with pytest.raises(BadInputError, match="convert both to Parquet"):
        read_history(path)
