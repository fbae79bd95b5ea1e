"""Values of drivers: recorded, written and read back without loss; equal where Python finds them equal."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isoscope
from isoscope import FormatError, load
from isoscope.history import Operation, OperationKind, Transaction
from isoscope.recorder import build
from isoscope.scalars import key_scalar, python_value, scalar

if TYPE_CHECKING:
    from pathlib import Path

EAST = timezone(timedelta(hours=2))
VALUES = [
    Decimal("1.5"),
    Decimal("-0.001"),
    Decimal("1E-500"),
    Decimal("1E+500"),
    Decimal("Infinity"),
    b"\x00\xff'\"",
    b"",
    UUID("123e4567-e89b-12d3-a456-426614174000"),
    datetime(2026, 1, 2, 3, 4, 5, 6),
    datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    date(2026, 1, 2),
    time(3, 4, 5, 6),
    time(3, 4, tzinfo=EAST),
    timedelta(days=-1, microseconds=1),
]
FORMATS = ("history.parquet", "history.edn", "history.jepsen.json", "history.jepsen.jsonl")


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_from_its_scalar(value: object) -> None:
    assert isinstance(scalar(value), isoscope.Term)
    assert python_value(scalar(value)) == value
    assert type(python_value(scalar(value))) is type(value)


@given(
    st.one_of(st.decimals(allow_nan=False), st.datetimes(timezones=st.just(EAST)), st.binary(), st.uuids())
)
def test_every_value_comes_back_from_its_scalar(value: object) -> None:
    assert python_value(scalar(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(0, 40))
def test_equal_decimals_are_one_value(value: Decimal, zeros: int) -> None:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    longer = Decimal((sign, (*digits, *([0] * zeros)), exponent - zeros))
    assert longer == value
    assert scalar(longer) == scalar(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal("1.50"), Decimal("1.5")),
        (Decimal("5.00"), 5),
        (Decimal("-0"), 0),
        (Decimal("12E2"), 1200),
        (datetime(2026, 1, 1, 2, tzinfo=EAST), datetime(2026, 1, 1, tzinfo=UTC)),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"ab"), b"ab"),
    ],
)
def test_what_a_driver_returns_equals_what_was_written(one: object, other: object) -> None:
    assert scalar(one) == scalar(other)
    assert type(scalar(one)) is type(scalar(other))


@pytest.mark.parametrize("value", [datetime(2026, 1, 1), date(2026, 1, 1)])
def test_a_date_and_its_midnight_are_two_values(value: datetime | date) -> None:
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    assert scalar(value) != scalar(midnight)


def test_a_decimal_that_is_no_number_is_recorded() -> None:
    found = python_value(scalar(Decimal("NaN")))
    assert isinstance(found, Decimal)
    assert math.isnan(found)


def test_scalars_of_numpy_are_plain_ones() -> None:
    numpy = pytest.importorskip("numpy")
    assert scalar(numpy.int64(7)) == 7
    assert type(scalar(numpy.float64(0.5))) is float


@pytest.mark.parametrize("value", [object(), {}, {1}, [1], (1,), 1j])
def test_a_value_of_another_type_is_refused_by_name(value: object) -> None:
    with pytest.raises(TypeError, match=f"expected None, a bool, .* found {type(value).__name__}"):
        scalar(value)


@pytest.mark.parametrize("text", ['#inst "never"', '#uuid "1"', "12x4M", ":keyword", '#other/tag "1"'])
def test_a_term_without_a_twin_stays_a_term(text: str) -> None:
    assert python_value(isoscope.Term(text)) == isoscope.Term(text)


def recorded(*, key: Any = "x", value: Any = 1) -> isoscope.History:
    recorder = isoscope.Recorder(initial=None)
    with recorder.transaction(session=1) as t:
        t.write(key, value)
    with recorder.transaction(session=2) as t:
        t.read(key, value)
    return recorder.history()


def rows(history: isoscope.History) -> list[tuple[Any, ...]]:
    """Not the whole history: a file may add an order of events."""
    return [(o.kind, o.key, o.value) for transaction in history for o in transaction.operations]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_format_that_claims_a_value_gives_it_back(name: str, value: object, tmp_path: Path) -> None:
    for history in (recorded(value=value), recorded(key=value)):
        try:
            isoscope.save(history, tmp_path / name)
        except isoscope.LossError:
            assert name != "history.parquet", "Parquet holds everything"
            continue
        again = rows(isoscope.load(tmp_path / name))
        assert again == rows(history)
        assert [python_value(seen) for _, _, seen in again] in ([value, value], [1, 1])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "key",
    [("accounts", 7), (1, (2, None), True), ('a"b\\', 0.5), (UUID(int=1), Decimal("1.50")), ()],
    ids=repr,
)
def test_a_tuple_is_a_key(name: str, key: tuple[Any, ...], tmp_path: Path) -> None:
    history = recorded(key=key)
    assert history.keys == (key_scalar(key),)
    assert isoscope.check(history, ["read-committed"]).levels(isoscope.Outcome.HOLDS)
    try:
        isoscope.save(history, tmp_path / name)
    except isoscope.LossError:
        assert name != "history.parquet"
        return
    assert rows(isoscope.load(tmp_path / name)) == rows(history)


def test_a_read_shows_the_write_of_an_equal_number() -> None:
    recorder = isoscope.Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write(("account", 1), Decimal("2.5"))
        t.write("count", 3)
        t.append("list", Decimal("1.1"))
    with recorder.transaction(session=2) as t:
        t.read(("account", 1), Decimal("2.50"))
        t.read("count", Decimal("3.00"))
        t.read("list", [Decimal("1.10")])
    assert isoscope.check(recorder.history(), ["read-atomic"]).strongest_holding == ("read-atomic",)


@pytest.mark.parametrize(
    ("name", "line", "column"),
    [
        ("h.jsonl", '{"tid":1,"sid":1,"ops":[{"t":"w","k":1,"v":NUMBER}]}', 44),
        ("h.jsonl", '{"tid":NUMBER,"sid":1,"ops":[]}', 8),
        ("h.edn", "{:type :ok, :process 0, :f :txn, :value [[:append 1 NUMBER]]}", 53),
    ],
)
def test_an_integer_of_more_digits_than_python_shows_is_refused_with_its_place(
    name: str, line: str, column: int, tmp_path: Path
) -> None:
    path = tmp_path / name
    for sign in ("", "-"):
        path.write_text(line.replace("NUMBER", sign + "9" * 4301), encoding="utf-8")
        with pytest.raises(FormatError) as caught:
            load(path)
        start = f"{path}:1:{column}: expected an integer of at most 4,300 digits, found "
        assert str(caught.value).startswith(start)
        assert str(caught.value).endswith("hint: a string can be longer: write it in quotes")
        path.write_text(line.replace("NUMBER", sign + "9" * 4300), encoding="utf-8")
        assert len(load(path)) == 1


def test_the_api_refuses_an_integer_of_more_digits_than_python_shows() -> None:
    operation = Operation(kind=OperationKind.WRITE, key="x", value=10**4300)
    with pytest.raises(ValueError, match=r"an integer of more than 4,300 digits is no key or value"):
        build([Transaction(number=0, id=1, session=0, session_id=1, operations=(operation,))])
