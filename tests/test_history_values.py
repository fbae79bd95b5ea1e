"""Keys and values of a history come back as they were, and the public names are there."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope import UNKNOWN, History, Recorder, Term
from isoscope.recorder import build
from tests.small_transactions import append, read, transaction, write

if TYPE_CHECKING:
    from isoscope.history import Scalar


def test_1_and_1_0_and_true_are_three_keys_and_three_values() -> None:
    ones: tuple[Scalar, ...] = (1, 1.0, True)
    history = build([transaction(1, *(write(one, one) for one in ones))])
    assert [type(key) for key in history.keys] == [int, float, bool]
    assert [type(o.value) for o in history[1].operations] == [int, float, bool]
    assert history.evidence.repeated_values == 0
    build([transaction(one) for one in ones])


@pytest.mark.parametrize(
    "value",
    [0, -1, 2**62, -(2**63), 2**64, 10**99, "", "\x00", "é\U0001f600", 0.0, -0.0, 1e300, float("inf"), True],
    ids=repr,
)
def test_every_scalar_comes_back_as_itself(value: Scalar) -> None:
    [operation] = build([transaction(1, write("x", value))])[1].operations
    assert (operation.value, type(operation.value)) == (value, type(value))
    assert str(operation.value) == str(value)


def test_the_value_that_differs_from_itself_is_still_one_value() -> None:
    nan = float("nan")
    history = build([transaction(1, write("x", nan)), transaction(2, read("x", float("nan")))])
    assert isoscope.check(history, ["pl-2"]).weakest_violated == ()
    assert history == build([transaction(1, write("x", nan)), transaction(2, read("x", nan))])


def test_a_term_is_known_by_its_text() -> None:
    assert Term(":x") == Term(":x")
    assert Term(":x") != Term(":y")
    assert Term(":x") != ":x"
    assert hash(Term(":x")) == hash(Term(":x"))
    assert sorted([Term("b"), Term("a")]) == [Term("a"), Term("b")]
    assert (str(Term(":x")), repr(Term(":x")), Term(":x").text) == (":x", 'Term(":x")', ":x")


@pytest.mark.parametrize("original", [Term(":x"), UNKNOWN], ids=repr)
def test_terms_and_the_unknown_survive_copy_and_pickle(original: object) -> None:
    for twin in (copy.copy(original), copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert twin == original
        assert type(twin) is type(original)


def test_there_is_one_unknown() -> None:
    assert repr(UNKNOWN) == "UNKNOWN"
    assert copy.deepcopy(UNKNOWN) is UNKNOWN
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN
    [operation] = build([transaction(1, read("x", UNKNOWN))])[1].operations
    assert operation.value is UNKNOWN


def test_a_nil_read_of_a_list_is_the_empty_list() -> None:
    history = build([transaction(1, append("x", 1)), transaction(2, read("x", None), read("y", None))])
    assert [o.value for o in history[2].operations] == [(), None]


@pytest.mark.parametrize("name", isoscope.__all__)
def test_every_public_name_is_there_and_listed(name: str) -> None:
    assert getattr(isoscope, name) is not None
    assert name in dir(isoscope)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'isoscope' has no attribute 'cheque'"):
        isoscope.cheque  # noqa: B018


def test_load_and_record_return_a_history() -> None:
    assert isinstance(Recorder().history(), History)
