"""Histories in a few words, for tests that are written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.recorder import Recorder

if TYPE_CHECKING:
    from isoscope.history import History


def told(*lines: str, **orders: list[Any]) -> History:
    """`1: r(x,[1]) a(x,2) w(y,3)` is a transaction of session 1; orders of keys are declared."""
    recorder = Recorder(initial=0)
    for line in lines:
        session, _, operations = line.partition(":")
        with recorder.transaction(session=session) as transaction:
            for operation in operations.split():
                key, _, value = operation[2:-1].partition(",")
                act: dict[str, Any] = {
                    "r": transaction.read,
                    "w": transaction.write,
                    "a": transaction.append,
                }
                act[operation[0]](key, _value(value))
    for key, values in orders.items():
        recorder.version_order(key, values)
    return recorder.history()


def _value(text: str) -> int | list[int]:
    if not text.startswith("["):
        return int(text)
    return [int(number) for number in text.strip("[]").split(";") if number]
