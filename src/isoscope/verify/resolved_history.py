"""The history that a choice gives: one of its own, in which only the writers of registers are left open."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from isoscope.verify.choices import Choice, Shown, Version
from isoscope.verify.history import (
    ABORTED,
    APPEND,
    INDETERMINATE,
    READ,
    History,
    Initial,
    Term,
    Transaction,
)

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["resolved", "settled"]


def settled(history: History, effects: Collection[int]) -> History:
    """The history in which exactly these indeterminate transactions took effect, and all others aborted."""
    choice = Choice(effects=tuple(effects))
    transactions = [_rewritten(t, choice, set(), {}) for t in history.transactions]
    found = History(transactions, history.initial, history.form)
    found.recorded, found.has_real_time = history.recorded, history.has_real_time
    return found


def resolved(history: History, choice: Choice) -> History:
    """The history that a choice gives: repeated appends have names of their own, and every end is known."""
    keys = {history.transactions[n].operations[p][1] for (n, p), _ in choice.elements}
    shown = dict(choice.elements)
    transactions = [_rewritten(t, choice, keys, shown) for t in history.transactions]
    _keep_duplicates(history, transactions, keys)
    of_key = dict(history.initial.of_key)
    for number, place in choice.initial:
        _, key, value = history.transactions[number].operations[place]
        of_key[key] = value
    found = History(
        transactions, Initial(history.initial.value, of_key, history.initial.replaceable), history.form
    )
    found.has_real_time = history.has_real_time
    found.effective = frozenset(choice.effects)
    rows = iter(choice.rows)
    for source, recorded in history.recorded.items():
        for key in recorded:
            if key not in found.unjudged:
                found.versions.setdefault(source, {})[key] = [v for v in next(rows)[1] if v is not None]
    return found


def _keep_duplicates(history: History, transactions: list[Transaction], keys: set[Any]) -> None:
    """A list with misplaced own appends has no names: what it shows too often is all that is known of it."""
    copies = Counter((k, v) for t in history.transactions for kind, k, v in t.operations if kind == APPEND)
    for t in transactions:
        for place, (kind, key, value) in enumerate(t.operations):
            is_raw = value and value is history.transactions[t.number].operations[place][2]
            if kind != READ or key not in keys or not isinstance(value, list) or not is_raw:
                continue
            twice = [e for e, count in Counter(value).items() if count > copies[key, e] > 0]
            names = [Term("misplaced", str(at)) for at in range(len(value))]
            t.operations[place] = kind, key, [*_named_twice(history, key, twice), *names]


def _named_twice(history: History, key: Any, elements: list[Any]) -> list[Term]:
    for t in history.transactions:
        for place, operation in enumerate(t.operations):
            if elements and operation == (APPEND, key, elements[0]):
                return [_name((t.number, place), elements[0])] * 2
    return []


def _rewritten(t: Transaction, choice: Choice, keys: set[Any], shown: dict[Version, Shown]) -> Transaction:
    status = ABORTED if t.status == INDETERMINATE and t.number not in choice.effects else t.status
    copy = Transaction(t.number, t.id, t.session, status)
    for name in (
        "session_id",
        "place",
        "sequence",
        "start",
        "commit",
        "begin",
        "end",
        "left_out",
        "is_first",
    ):
        setattr(copy, name, getattr(t, name))
    own: dict[Any, list[Any]] = {}
    for place, (kind, key, value) in enumerate(t.operations):
        written = value
        if kind == APPEND and key in keys:
            written = _name((t.number, place), value)
            own.setdefault(key, []).append(written)
        elif kind == READ and (t.number, place) in shown:
            names = shown[t.number, place]
            foreign = [_name(version, element) for version, element in zip(names, value, strict=False)]
            written = [*foreign, *own.get(key, [])]
        copy.operations.append((kind, key, written))
    return copy


def _name(version: Version | None, element: Any) -> Term:
    if version is None:
        return Term("unwritten", f"{type(element).__name__} {element}")
    return Term("append", f"{version[0]}.{version[1]}")
