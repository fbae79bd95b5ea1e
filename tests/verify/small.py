"""Tiny random histories, and all certificates that a level could have for them."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import TYPE_CHECKING, Any

from isoscope.verify.certificate import Certificate
from isoscope.verify.history import History, Initial, Transaction
from isoscope.verify.verification import Verification
from tests.verify.worlds import external, possible, versions_of

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

HEADER = {"isoscope_certificate": 1}
BY_EVENTS = ("snapshot-isolation", "strong-session-snapshot-isolation", "strong-snapshot-isolation", "prefix")
BY_ORDER = (
    "serializable",
    "repeatable-read",
    "strong-session-serializable",
    "strict-serializable",
    "causal",
    "read-atomic",
    "read-committed",
    "parallel-snapshot-isolation",
    "strong-session-parallel-snapshot-isolation",
    "consistent-view",
    "update-serializable",
    "cursor-stability",
    "monotonic-view",
    "pl-2",
    "strong-session-pl-2",
    "strong-pl-2",
    "pl-1",
    "strong-session-pl-1",
    "strong-pl-1",
)


def history_of(
    choose: random.Random, *, size: int = 3, repeated: bool = False, lists: bool = False
) -> History:
    """Transactions on two keys; reads show anything that was written, or was there at first, or neither."""
    transactions = []
    values: dict[str, list[int]] = {"x": [0], "y": [0]}
    keys = choose.choice(["x", "xy", "xy"])
    longest = choose.choice([3, 4])
    for number in range(size):
        t = Transaction(number, number + 1, choose.randrange(2))
        t.status = choose.choice(["committed"] * 8 + ["aborted", "indeterminate"])
        t.begin = choose.randrange(6)
        t.end = t.begin + choose.randrange(1, 5)
        for _ in range(choose.randrange(1, longest)):
            key = choose.choice(keys)
            is_read = choose.random() < 0.55
            value = choose.randrange(1, 3) if repeated else sum(map(len, values.values()))
            if not is_read:
                values[key].append(value)
            t.operations.append(("read" if is_read else "append" if lists else "write", key, value))
        transactions.append(t)
    for t in transactions:
        t.operations = [
            (kind, key, _result(choose, values[key], lists=lists) if kind == "read" else value)
            for kind, key, value in t.operations
        ]
    return History(transactions, Initial(value=0, replaceable=False), "tiny")


def _result(choose: random.Random, values: list[int], *, lists: bool) -> Any:
    if choose.random() < 0.03:
        return [99] if lists else 99
    if choose.random() < 0.3:
        return [] if lists else 0
    if not lists:
        return choose.choice(values)
    elements = values[1:]
    if choose.random() < 0.2:
        choose.shuffle(elements)
    return elements[: choose.randrange(len(elements) + 1)]


def explanations(history: History) -> Iterator[dict[str, Any]]:
    """The parts `took_effect` and `writers` of every possible witness."""
    open_ones = [t for t in history.transactions if t.status == "indeterminate"]
    for size in range(len(open_ones) + 1):
        for chosen in combinations(open_ones, size):
            counting = [t for t in history.transactions if t.status == "committed" or t in chosen]
            reads = {}
            for t in counting:
                for place, key, value in external(t):
                    if not isinstance(value, list):
                        reads[t.id, place] = _names(history, counting, t, key, value)
            reads = {read: names for read, names in reads.items() if len(names) > 1}
            for writers in product(*reads.values()):
                listed = [[list(read), name] for read, name in zip(reads, writers, strict=True)]
                yield {"took_effect": [t.id for t in chosen], "writers": listed, "counting": counting}


def _names(history: History, counting: list[Transaction], t: Transaction, key: Any, value: Any) -> list[Any]:
    found: list[Any] = []
    for number in possible(history, counting, t, key, value):
        writer = history.transactions[number]
        places = [version[1] for k, version in versions_of(writer) if k == key]
        found.append(None if number < 0 else [writer.id, places[-1]])
    return found


def witnesses(history: History, *, events: bool) -> Iterator[dict[str, Any]]:
    """Every witness that could be written for a history."""
    for explanation in explanations(history):
        names = [t.id for t in explanation.pop("counting")]
        if events:
            for order in set(permutations([*names, *names])):
                yield explanation | {"witness": "a", "events": list(order)}
        else:
            for one in permutations(names):
                yield explanation | {"witness": "a", "order": list(one)}


def accepts(history: History, *lines: dict[str, Any]) -> bool:
    """Whether every verdict of a certificate with these lines is verified."""
    certificate = Certificate([HEADER, *lines])
    verification = Verification(history, certificate)
    findings = [verification.find(line) for line in certificate.levels]
    return bool(findings) and all(finding.verified for finding in findings)


def accepted_levels(history: History, levels: tuple[str, ...], *, events: bool) -> set[str]:
    """The levels that at least one of all possible witnesses proves."""
    found: set[str] = set()
    for witness in witnesses(history, events=events):
        lines = [
            {"level": level, "outcome": "holds", "witness": "a"} for level in levels if level not in found
        ]
        verification = Verification(history, Certificate([HEADER, witness, *lines]))
        found |= {finding.level for finding in map(verification.find, lines) if finding.verified}
    return found
