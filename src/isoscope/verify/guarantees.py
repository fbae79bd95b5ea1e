"""Session guarantees: a session that touches a key again goes forward in the versions of that key.

Terry et al. 1994. The witness gives the order of the versions of each key; nothing else is asked of it than
that it contains what sources say. Cost: one pass over the sessions.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import external_reads, last_writes
from isoscope.verify.history import APPEND, INSTALLS, RejectedError
from isoscope.verify.predicates import fits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.verify.explanation import Explanation
    from isoscope.verify.history import Transaction
    from isoscope.verify.version_order import Version, VersionOrder

__all__ = ["EARLIER", "LATER", "check", "versions_of"]

#: What the earlier and what the later transaction of a session did with the key.
EARLIER = {
    "read-your-writes": "write",
    "monotonic-reads": "read",
    "monotonic-writes": "write",
    "writes-follow-reads": "read",
}
LATER = {
    "read-your-writes": "read",
    "monotonic-reads": "read",
    "monotonic-writes": "write",
    "writes-follow-reads": "write",
}


def versions_of(t: Transaction) -> Iterator[tuple[Any, Version]]:
    """The key and the version of the last write or delete of a register, and of each append."""
    last = last_writes(t)
    for place, (kind, key, _) in enumerate(t.operations):
        if kind == APPEND or (kind in INSTALLS and last[key] == place):
            yield key, (t.number, place)


def check(
    kind: str,
    explanation: Explanation,
    known: VersionOrder,
    chosen: dict[Version, int],
    orders: list[list[Version]],
) -> None:
    """Raise `RejectedError` unless every session goes forward, in the way that the guarantee says."""
    ranks = _ranks(explanation, known, orders)
    writers = {
        (key, ranks[v]): t.number
        for t in explanation.history.transactions
        if explanation.counting[t.number]
        for key, v in versions_of(t)
    }
    met: dict[tuple[int, Any], list[int]] = {}
    for t in sorted(explanation.history.transactions, key=lambda t: (t.session, t.place)):
        if not explanation.counting[t.number]:
            continue
        touched = {
            "write": [(key, ranks[version]) for key, version in versions_of(t)],
            "read": list(_read_ranks(t, explanation, chosen, ranks, known.canonical)),
        }
        for key, rank in touched[LATER[kind]]:
            # A transaction's own versions order nothing: what it writes is not compared with them.
            others = (
                before
                for before in met.get((t.session, key), [])
                if LATER[kind] == "read" or writers.get((key, before)) != t.number
            )
            if rank < max(others, default=0):
                raise RejectedError(f"{t} goes back in key {key} behind what its session met before")
        for key, rank in touched[EARLIER[kind]]:
            _meet(met.setdefault((t.session, key), []), rank, partial(_writer, writers, key))


def _writer(writers: dict[tuple[Any, int], int], key: Any, rank: int) -> int | None:
    return writers.get((key, rank))


def _meet(met: list[int], rank: int, writer: Callable[[int], int | None]) -> None:
    """Keep the last versions that were met: the last one, and the last by another transaction."""
    met.append(rank)
    met.sort(reverse=True)
    others = [at for at in met if writer(at) != writer(met[0])]
    met[:] = [met[0], *others[:1]]


def _ranks(explanation: Explanation, known: VersionOrder, orders: list[list[Version]]) -> dict[Version, int]:
    """The rank of each version in its key, from 1; the initial version has 0."""
    of_key: dict[Any, set[Version]] = {}
    key_of: dict[Version, Any] = {}
    for t in explanation.history.transactions:
        if explanation.counting[t.number]:
            for key, version in versions_of(t):
                of_key.setdefault(key, set()).add(version)
                key_of[version] = key
    ranks: dict[Version, int] = {}
    for order in orders:
        keys = {key_of.get(version) for version in order}
        if len(keys) != 1 or set(order) != of_key[key_of[order[0]]] or len(set(order)) != len(order):
            raise RejectedError("a list of versions is not one of all versions of a key")
        if order[0] in ranks:
            raise RejectedError(f"the versions of key {key_of[order[0]]} are listed twice")
        known.check_versions(key_of[order[0]], order)
        ranks.update({version: rank for rank, version in enumerate(order, start=1)})
    for key, versions in of_key.items():
        if len(versions) > 1 and not all(version in ranks for version in versions):
            raise RejectedError(f"the versions of key {key} are not ordered")
        for version in versions:
            ranks.setdefault(version, 1)
    return ranks


def _read_ranks(
    t: Transaction,
    explanation: Explanation,
    chosen: dict[Version, int],
    ranks: dict[Version, int],
    canonical: dict[Any, list[Any]],
) -> Iterator[tuple[Any, int]]:
    """The ranks of the versions that external reads show; a read that shows no version has none.

    A list that is no beginning of the canonical one shows no state that there ever was.
    """
    for place, key, value in external_reads(t, []):
        if isinstance(value, list) and canonical.get(key, [])[: len(value)] != value:
            continue
        if isinstance(value, list):
            if not value:
                yield key, 0
            last = [version for version in _writes_of(explanation, key, value[-1:]) if version[0] != t.number]
        else:
            last = [version for version in _writes_of(explanation, key, [value]) if version[0] != t.number]
            if not last and not explanation.possible_initial(key, value):
                last = _replaced_writes(explanation, t, key, value)
        initial = not isinstance(value, list) and explanation.possible_initial(key, value)
        choice = chosen.get((t.number, place))
        if len(last) + initial > 1 and choice is None:
            raise RejectedError(f"the certificate does not name the writer of operation {place} of {t}")
        if choice is not None:
            last = [version for version in last if version[0] == choice]
            initial = initial and choice < 0
        if last:
            yield key, ranks[last[0]]
        elif initial:
            yield key, 0


def _replaced_writes(explanation: Explanation, t: Transaction, key: Any, value: Any) -> list[Version]:
    """An intermediate read observes its writer: it stands for the version of that transaction."""
    numbers = explanation.writes.earlier.get(key, {}).get(value, [])
    transactions = explanation.history.transactions
    return [
        (number, last_writes(transactions[number])[key])
        for number in sorted({*numbers})
        if explanation.counting[number] and number != t.number
    ]


def _writes_of(explanation: Explanation, key: Any, values: list[Any]) -> list[Version]:
    """The versions of counting transactions with the one value of `values`."""
    transactions = explanation.history.transactions
    numbers = {number for value in values for number in explanation.writes.of(key, value)}
    return [
        version
        for number in sorted(numbers)
        if explanation.counting[number]
        for written, version in versions_of(transactions[number])
        if written == key
        and any(fits(transactions[number].operations[version[1]][2], value) for value in values)
    ]
