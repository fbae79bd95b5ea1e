"""A history that is converted to any format and read back has the same verdicts, or the losses have names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from isoscope import formats
from isoscope.checkers import check
from isoscope.errors import LossError
from isoscope.history import (
    History,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Status,
    Timestamp,
    Transaction,
)
from isoscope.levels import Level
from isoscope.recorder import build
from tests.formats.forms import FORMS, Form

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import DrawFn, SearchStrategy

INITIAL = {
    "unknown": Initial(),
    "nil": Initial(value=None),
    "zero": Initial(value=0),
    "zero that an explicit write replaces": Initial(value=0, replaceable=True),
    "five": Initial(value=5),
    "of single keys": Initial(value=0, of_key={1: 7}),
}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


@st.composite
def sessions(draw: DrawFn, statuses: tuple[Status, ...] = (Status.COMMITTED,)) -> list[Transaction]:
    """A few short sessions, numbered from 1, over two keys: registers, lists, or one of each."""
    shapes = draw(st.lists(st.sampled_from(["register", "list"]), min_size=2, max_size=2))
    transactions: list[Transaction] = []
    next_value = 1
    for session in range(1, draw(st.integers(1, 3)) + 1):
        for _ in range(draw(st.integers(1, 2))):
            operations = []
            for _ in range(draw(st.integers(1, 3))):
                key = draw(st.integers(1, 2))
                is_list = shapes[key - 1] == "list"
                if draw(st.booleans()):
                    kind = OperationKind.APPEND if is_list else OperationKind.WRITE
                    operations.append(Operation(kind=kind, key=key, value=next_value))
                    next_value += draw(st.sampled_from([1, 1, 1, 0]))
                else:
                    seen = st.integers(0, next_value)
                    lists = st.lists(seen, max_size=2, unique=True).map(tuple)
                    value = draw(lists) if is_list else draw(seen)
                    operations.append(Operation(kind=OperationKind.READ, key=key, value=value))
            transactions.append(
                Transaction(
                    number=0,
                    id=len(transactions) + 1,
                    session=0,
                    session_id=session,
                    status=draw(st.sampled_from(statuses)),
                    operations=tuple(operations),
                )
            )
    return transactions


@st.composite
def convertible(draw: DrawFn) -> History:
    """Histories of features that some formats hold and others do not."""
    transactions = draw(sessions(tuple(Status)))
    times = draw(st.permutations(range(2 * len(transactions))))
    pairs = [sorted(times[place : place + 2]) for place in range(0, len(times), 2)]
    if draw(st.booleans()):
        transactions = [
            replace(t, start=Timestamp(s), commit=Timestamp(c))
            for t, (s, c) in zip(transactions, pairs, strict=True)
        ]
    if draw(st.booleans()):
        transactions = [
            replace(t, interval=Interval(s, c)) for t, (s, c) in zip(transactions, pairs, strict=True)
        ]
    return build(transactions, initial=draw(st.sampled_from(list(INITIAL.values()))))


def outcomes(history: History) -> dict[str, str]:
    """The outcome of every level."""
    return {str(verdict.level): str(verdict.outcome) for verdict in check(history, list(Level)).verdicts}


@each_form
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(history=convertible())
def test_a_conversion_keeps_every_verdict_or_is_refused_by_name(
    form: Form, history: History, tmp_path: Path
) -> None:
    losses = form.losses(history)
    event("refused" if losses else "converted")
    if losses:
        with pytest.raises(LossError) as caught:
            formats.save(history, tmp_path / f"history{form.suffix}", format=form.format)
        assert all(loss.strip() and f"  - {loss}" in str(caught.value) for loss in losses)
        return
    assert outcomes(form.read(form.write(history))) == outcomes(history)


def held(form: Form) -> SearchStrategy[History]:
    """Histories that the form holds: its initial value, and registers alone if it has no lists."""
    chosen = formats.find(form.format)
    statuses = [Status.COMMITTED]
    if "aborted transactions" in chosen.holds:
        statuses.append(Status.ABORTED)
    if "indeterminate transactions" in chosen.holds:
        statuses.append(Status.INDETERMINATE)
    initial = chosen.initial or Initial()
    histories = sessions(tuple(statuses)).map(lambda transactions: build(transactions, initial=initial))
    return histories.filter(lambda history: not form.losses(history))


@each_form
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=st.data())
def test_what_a_format_holds_keeps_every_verdict(form: Form, data: st.DataObject) -> None:
    history = data.draw(held(form))
    assert outcomes(form.read(form.write(history))) == outcomes(history)


@each_form
@pytest.mark.parametrize("initial", INITIAL.values(), ids=INITIAL)
def test_an_initial_value_that_only_reads_show_is_kept_or_named(form: Form, initial: Initial) -> None:
    append = Operation(kind=OperationKind.APPEND, key=1, value=1)
    read = Operation(kind=OperationKind.READ, key=2, value=9)
    transaction = Transaction(number=0, id=1, session=0, session_id=1, operations=(append, read))
    history = build([transaction], initial=initial)
    if not form.losses(history):
        assert outcomes(form.read(form.write(history))) == outcomes(history)
