"""Small histories by hand: a transaction is a list of (kind, key, value) and perhaps a last word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope import Recorder

if TYPE_CHECKING:
    from isoscope import History


def record(*transactions: list[tuple[Any, ...]], initial: Any = 0) -> History:
    """The history of `transactions`, each its own session; `("abort",)` is an operation too."""
    recorder = Recorder(initial=initial)
    for operations in transactions:
        with recorder.transaction() as t:
            for kind, *arguments in operations:
                getattr(t, kind)(*arguments)
    return recorder.history()
