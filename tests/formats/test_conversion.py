"""From every format to every format: the same history, or everything that would be lost has a name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.history import (
    UNKNOWN,
    History,
    Interval,
    Operation,
    OperationKind,
    Range,
    Status,
    Term,
    Timestamp,
    Transaction,
)
from isoscope.recorder import build
from tests.cli.running import run
from tests.formats.forms import FORMS, Form
from tests.formats.test_registry import told

if TYPE_CHECKING:
    from pathlib import Path

WRITABLE = {name: form for name, form in FORMS.items() if formats.find(form.format).write is not None}
each_source = pytest.mark.parametrize("source", FORMS.values(), ids=[f"from {name}" for name in FORMS])
each_target = pytest.mark.parametrize("target", WRITABLE.values(), ids=[f"to {name}" for name in WRITABLE])


def paths(source: Form, target: Form, folder: Path) -> tuple[Path, Path]:
    """A file with the sample of `source`, and where its conversion goes."""
    given = folder / "given"
    given.write_bytes(source.sample)
    return given, folder / f"made{target.suffix}"


@each_source
@each_target
def test_a_sample_is_converted_or_rejected_with_the_names_of_all_losses(
    source: Form, target: Form, tmp_path: Path
) -> None:
    given, made = paths(source, target, tmp_path)
    history = formats.load(given)
    losses = target.losses(history)
    done = run("convert", given, made, "--to", target.format)
    if losses:
        assert done.status == 2
        assert [line for line in done.err.splitlines() if line.startswith("  - ")] == [
            f"  - {loss}" for loss in losses
        ]
        assert not made.exists()
    else:
        assert (done.status, done.err) == (0, "")
        assert told(formats.load(made)) == told(history)


@each_source
@each_target
def test_lossy_names_its_losses_and_the_rest_is_whole(source: Form, target: Form, tmp_path: Path) -> None:
    given, made = paths(source, target, tmp_path)
    history = formats.load(given)
    losses = target.losses(history)
    done = run("convert", given, made, "--to", target.format, "--lossy")
    if not formats.find(target.format).leaves_operations(history, made.name):
        assert (done.status, made.exists()) == (2, False)
        assert done.err.startswith(f"error: {target.format} can hold no operation of this history")
        return
    assert (done.status, done.out) == (0, "")
    assert done.err.splitlines() == [f"lost: {loss}" for loss in losses]
    again = tmp_path / f"again{target.suffix}"
    done = run("convert", made, again, "--format", target.format, "--to", target.format)
    assert (done.status, done.err) == (0, "")
    assert told(formats.load(again, format=target.format)) == told(formats.load(made, format=target.format))


def one(key: object = 1, value: object = 2, **fields: object) -> History:
    """One write, in a transaction with these fields."""
    write = Operation(kind=OperationKind.WRITE, key=key, value=value)  # type: ignore[arg-type]
    plain = Transaction(number=0, id=1, session=0, session_id=1, operations=(write,))
    return build([replace(plain, **fields)])  # type: ignore[arg-type]


BEYOND_INTEGERS = {
    "integers beyond 64 bits": one(value=2**64),
    "keys that are no integers": one(key="x y"),
    "values that are no integers": one(value="x"),
    "timestamps": one(start=Timestamp(1), commit=Timestamp(2)),
    "client intervals of transactions": one(interval=Interval(1, 2)),
    "indeterminate transactions": one(status=Status.INDETERMINATE),
}


@pytest.mark.parametrize("name", ["plume", "dbcop-hist", "dbcop-json", "awdit"])
@pytest.mark.parametrize("feature", BEYOND_INTEGERS)
def test_formats_of_integers_reject_everything_else_by_name(name: str, feature: str) -> None:
    named = {
        ("dbcop-hist", "keys that are no integers"): (
            "keys that are neither integers from 0 nor names of letters, digits and `_`"
        )
    }
    losses = FORMS[name].losses(BEYOND_INTEGERS[feature])
    assert any(loss.split(":")[0] == named.get((name, feature), feature) for loss in losses)


RANGE = Operation(kind=OperationKind.RANGE_READ, value=Range(low=1, high=2))
DELETE = Operation(kind=OperationKind.DELETE, key=1, value=3)
READ = Operation(kind=OperationKind.READ, key=1, value=2)
UNKNOWN_READ = Operation(kind=OperationKind.READ, key=1, value=UNKNOWN)

#: Histories that have a feature which the format holds in general, and of which it refuses this.
REFUSED_IN_PART = [
    ("plume", "aborted transactions", one(status=Status.ABORTED)),
    ("jepsen", "client intervals of transactions", one(interval=Interval(3, None))),
    ("jepsen", "event order", one(positions=Interval(1, None))),
    ("jepsen", "transactions without a session id", one(session_id=None, positions=Interval(0, 1))),
    ("jepsen", "unknown results", one(operations=(UNKNOWN_READ,))),
    ("jepsen", "range reads", one(operations=(RANGE,))),
    ("jepsen", "deletes", one(operations=(DELETE,))),
    ("jepsen", "predicates", one(operations=(replace(READ, predicate=":true"),))),
    ("jepsen", "statement kinds", one(operations=(replace(READ, statement="init"),))),
    ("jepsen-json", "keys that are no integers", one(key=Term(":k"))),
    ("jepsen-json", "values that are no integers", one(value=Term(":v"))),
    ("leopard", "range reads", one(operations=(RANGE,))),
    ("leopard", "deletes", one(operations=(DELETE,))),
    ("leopard", "keys that are no integers", one(key=Term(":k"))),
    ("leopard", "values that are no integers", one(value=Term(":v"))),
    ("aion", "keys that are no integers", one(key=Term(":k"))),
    ("aion", "values that are no integers", one(value=Term(":v"))),
]


@pytest.mark.parametrize(("name", "feature", "history"), REFUSED_IN_PART)
def test_a_feature_of_which_a_part_is_lost_is_held_in_part(name: str, feature: str, history: History) -> None:
    form = FORMS[name]
    assert feature in history.columns.features()
    assert feature not in form.losses(history)
    assert history.columns.unwritable(name)
    assert feature in formats.find(form.format).partly
