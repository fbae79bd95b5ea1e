"""Losses of formats: each has a name, and a file with losses is written only if asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import formats
from isoscope.errors import LossError
from isoscope.history import (
    History,
    Initial,
    Operation,
    OperationKind,
    Range,
    Scalar,
    Status,
    Timestamp,
    Transaction,
)
from isoscope.recorder import build
from tests.formats.forms import FORMS, TEXT_FORMS
from tests.strategies import EVERYTHING

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def small() -> History:
    """A history that every format holds."""
    write = Operation(kind=OperationKind.WRITE, key=1, value=2)
    transaction = Transaction(number=0, id=1, session=0, session_id=1, operations=(write,))
    return build([transaction], initial=Initial(value=0, replaceable=True))


def test_every_feature_is_held_by_parquet_and_named_where_it_is_lost() -> None:
    assert formats.features_of(EVERYTHING) == list(formats.FEATURES)
    assert FORMS["parquet"].losses(EVERYTHING) == ()
    for name, form in TEXT_FORMS.items():
        unheld = set(formats.FEATURES) - formats.find(form.format).holds - formats.find(form.format).partly
        assert unheld <= {loss.split(": ")[0] for loss in form.losses(EVERYTHING)}, name


def write(key: Scalar, value: Scalar) -> Operation:
    return Operation(kind=OperationKind.WRITE, key=key, value=value)


_NAMES = "keys that are neither integers from 0 nor names of letters, digits and `_`"
LOSSES = {
    "plume": [
        ({"id": "a"}, "transaction ids that are no integers"),
        ({"id": -5}, "transaction ids that are negative or beyond 62 bits"),
        ({"id": 2**62}, "transaction ids that are negative or beyond 62 bits"),
        ({"status": Status.ABORTED}, "ids of aborted transactions"),
        ({"session_id": None}, "transactions without a session id"),
        ({"operations": ()}, "empty transactions"),
    ],
    "awdit": [
        ({"id": 2}, "transaction ids other than 1, 2, 3, ... session by session"),
        ({"operations": (write(1, 2**64),)}, "integers beyond 64 bits"),
        ({"session_id": 0}, "session ids other than 1, 2, 3, ... in this order"),
        ({"status": Status.ABORTED}, "aborted transactions"),
        ({"status": Status.INDETERMINATE}, "indeterminate transactions"),
        ({"operations": ()}, "empty transactions"),
        ({"operations": (write(1, -1),)}, "negative integers"),
        ({"operations": (write(-1, 1),)}, "negative integers"),
        ({"operations": (write(-(2**63), 1),)}, "negative integers"),
        ({"operations": (write("x", 1),)}, "keys that are no integers"),
        ({"operations": (write(1, "x"),)}, "values that are no integers"),
        ({"start": Timestamp(1)}, "timestamps"),
        ({"interval": (0, 1)}, "client intervals of transactions"),
    ],
    "dbcop-hist": [
        ({"id": 0}, "transaction ids other than 1, 2, 3, ... session by session"),
        ({"session_id": 7}, "session ids other than 1, 2, 3, ... in this order"),
        ({"operations": (write("a b", 1),)}, _NAMES),
        ({"operations": (write("7", 1),)}, _NAMES),
        ({"operations": (write(-7, 1),)}, _NAMES),
        ({"operations": (write(1, -1),)}, "values below 0"),
        ({"operations": (write(1, "x"),)}, "values that are no integers"),
        ({"operations": (write(1, None),)}, "values that are no integers"),
        ({"operations": (write(2**64, 1),)}, "integers beyond 64 bits"),
    ],
    "dbcop-json": [
        ({"id": 0}, "transaction ids other than 1, 2, 3, ... session by session"),
        ({"session_id": 7}, "session ids other than 1, 2, 3, ... in this order"),
        ({"operations": (write("x", 1),)}, "keys that are no integers"),
        ({"operations": (write(-7, 1),)}, "keys below 0"),
        ({"operations": (write(1, -(2**63)),)}, "values below 0"),
        ({"operations": (write(1, 1.5),)}, "values that are no integers"),
        ({"operations": (write(1, 2**64),)}, "integers beyond 64 bits"),
    ],
    "leopard": [
        ({"id": 1.5}, "ids that are neither integers nor strings"),
        ({"positions": (0, 1)}, "event order"),
        ({"interval": (0, 1)}, "client intervals of transactions"),
        (
            {"operations": (Operation(kind=OperationKind.COMMIT),)},
            "markers of commit and abort that have no time, come twice or contradict the status",
        ),
        (
            {"operations": (Operation(kind=OperationKind.RANGE_READ, value=Range(low=1), predicate="p"),)},
            "range reads other than predicates that no row matched",
        ),
        (
            {"operations": (Operation(kind=OperationKind.WRITE, key="t/1/v", value=1, table="t"),)},
            "tables and columns that keys do not name",
        ),
        ({"operations": (Operation(kind=OperationKind.DELETE, key=1, value=1),)}, "values of deletes"),
    ],
    "jepsen": [
        ({"session_id": None, "positions": (0, 1)}, "missing session ids of transactions that were invoked"),
        (
            {"positions": (1, None)},
            "event order that is incomplete, or in which transactions of one session overlap",
        ),
        (
            {"interval": (None, -4)},
            "client intervals that are open, negative, end before they start or overlap in one session",
        ),
        (
            {"interval": (3, None)},
            "client intervals that are open, negative, end before they start or overlap in one session",
        ),
        ({"operations": (Operation(kind=OperationKind.DELETE, key=1, value=1),)}, "values of deletes"),
        *[
            (
                {"operations": (Operation(kind=OperationKind.RANGE_READ, value=rows, predicate=predicate),)},
                "range reads other than of `:true`, `[:= n]` or `[:mod m r]`",
            )
            for rows, predicate in [
                (Range(low=1), ":true"),
                (Range(high=1), ":true"),
                (Range(tombstones=((1, 2),)), "[:= 2]"),
                (Range(), "value = 2"),
                (Range(), None),
            ]
        ],
        (
            {"operations": (Operation(kind=OperationKind.READ, key=1, value=1, predicate=":true"),)},
            "predicates of other operations than range reads",
        ),
        (
            {"operations": (Operation(kind=OperationKind.WRITE, key=1, value=1, statement="init"),)},
            "statement kinds other than those of a first transaction",
        ),
    ],
    "aion": [
        ({"id": 1.5}, "ids that are neither integers nor strings"),
        ({"session_id": True}, "ids that are neither integers nor strings"),
        ({"positions": (0, 1)}, "event order"),
        ({"interval": (0, 1)}, "client intervals of transactions"),
    ],
}


@pytest.mark.parametrize(
    ("name", "changes", "loss"), [(name, *row) for name, rows in LOSSES.items() for row in rows]
)
def test_a_loss_has_a_name(name: str, changes: dict[str, Any], loss: str, small: History) -> None:
    form = FORMS[name]
    kept = formats.find(form.format).initial
    [transaction] = small
    assert form.losses(build([transaction], initial=kept)) == ()
    [told] = form.losses(build([replace(transaction, **changes)], initial=kept))
    assert told.split(": ")[0] == loss


@pytest.mark.parametrize(("value", "shown"), [(False, "False"), (0.0, "0.0"), (5, "5")])
def test_an_initial_value_that_only_python_finds_equal_is_a_loss(value: Scalar, shown: str) -> None:
    initial = Initial(value=value, replaceable=True)
    assert FORMS["plume"].losses(build([], initial=initial)) == (
        f"the initial value ({shown}, but 0 in every file of this format)",
    )


def test_a_loss_is_an_error_that_names_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    history = build(
        [Transaction(number=0, id="a", session=0, session_id=None)],
        initial=Initial(value=5, replaceable=True),
    )
    with pytest.raises(LossError) as caught:
        formats.save(history, path)
    assert str(caught.value) == (
        "plume cannot hold all of this history; it would lose\n"
        "  - empty transactions\n"
        "  - transaction ids that are no integers: transactions are numbered\n"
        "  - transactions without a session id: their sessions are numbered\n"
        "  - the initial value (5, but 0 in every file of this format)\n"
        "\n"
        "hint: --lossy (in Python `lossy=True`) writes the rest; Parquet holds everything"
    )
    assert list(tmp_path.iterdir()) == []
    assert formats.save(history, path, lossy=True) == caught.value.losses
    assert path.read_bytes() == b""
