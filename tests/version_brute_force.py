"""Levels by brute force: every order of the versions of every key, held against the conditions of the docs.

For small histories of committed transactions without wrong single reads. Nothing of the package is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: (kind, key, value), as in `tests.small_histories`.
Operation = tuple[Any, ...]
#: The transaction and the operation that installed a version; the initial one is None.
Version = tuple[int, int]
Edge = tuple[int, int]

SESSIONS = ("", "strong-session-")
#: Levels that a non-repeatable read breaks.
CUT = ("consistent-view", "parallel-snapshot-isolation", "snapshot-isolation", "serializable", "prefix")


@dataclass(frozen=True)
class Observation:
    """What a read showed of others: the last version, and all of them for a list."""

    transaction: int
    operation: int
    key: Any
    last: Version | None
    seen: tuple[Version, ...]


def is_cyclic(edges: Iterable[tuple[Any, Any]]) -> bool:
    return any(a == b for a, b in closure(edges))


def closure(edges: Iterable[tuple[Any, Any]]) -> set[tuple[Any, Any]]:
    found = {*edges}
    nodes = {node for edge in found for node in edge}
    for middle in nodes:
        before = [a for a, b in found if b == middle]
        after = [b for a, b in found if a == middle]
        found |= {*product(before, after)}
    return found


class BruteForce:
    """A history of (session, operations), with the orders that a log gives for some keys."""

    def __init__(
        self,
        transactions: Sequence[tuple[Any, Sequence[Operation]]],
        log: Mapping[Any, Sequence[Any]] | None = None,
    ) -> None:
        self.transactions = transactions
        self.log = log or {}
        every = [operation for _, operations in transactions for operation in operations]
        self.keys = [*dict.fromkeys(key for _, key, _ in every)]
        self.lists = {key for kind, key, value in every if kind == "append" or isinstance(value, list)}
        self.versions: dict[Any, list[Version]] = {key: [*self._versions(key)] for key in self.keys}
        self.by_value = {
            (key, transactions[t][1][o][2]): (t, o) for key in self.keys for t, o in self.versions[key]
        }
        self.canonical: dict[Any, list[Any]] = {}
        for _, _, key, shown in self._shown():
            if key in self.lists:
                self.canonical[key] = max(self.canonical.get(key, []), shown, key=len)
        self.observations = [*self._observed()]
        numbers = range(len(transactions))
        self.sessions = [(a, b) for a, b in combinations(numbers, 2) if self._session(a) == self._session(b)]

    def _session(self, number: int) -> Any:
        return self.transactions[number][0]

    def _versions(self, key: Any) -> Iterator[Version]:
        for number, (_, operations) in enumerate(self.transactions):
            writes = [o for o, (kind, other, _) in enumerate(operations) if other == key and kind != "read"]
            yield from ((number, o) for o in (writes if key in self.lists else writes[-1:]))

    def _shown(self) -> Iterator[tuple[int, int, Any, Any]]:
        """External reads, and what reads of lists show of others."""
        for number, (_, operations) in enumerate(self.transactions):
            own: dict[Any, int] = {}
            for place, (kind, key, value) in enumerate(operations):
                if kind != "read":
                    own[key] = own.get(key, 0) + 1
                elif key in self.lists:
                    yield number, place, key, value[: len(value) - own.get(key, 0)]
                elif key not in own:
                    yield number, place, key, value

    def _observed(self) -> Iterator[Observation]:
        for number, place, key, shown in self._shown():
            values = shown if key in self.lists else [] if shown == 0 else [shown]
            seen = tuple(self.by_value[key, value] for value in values)
            yield Observation(number, place, key, seen[-1] if seen else None, seen)

    def known(self, key: Any) -> list[tuple[Version, Version]]:
        """What list reads and the log say of the order."""
        read = [self.by_value[key, value] for value in self.canonical.get(key, [])]
        rest = [version for version in self.versions[key] if version not in read]
        logged = [self.by_value[key, value] for value in self.log.get(key, [])]
        behind = [(read[-1], version) for version in rest] if read else []
        return [*pairwise(read), *behind, *pairwise(logged)]

    def orders(self) -> Iterator[dict[Any, Sequence[Version]]]:
        """Every order of all versions that contains what is known."""
        of_keys = []
        for key in self.keys:
            known = self.known(key)
            orders = permutations(self.versions[key])
            of_keys.append([o for o in orders if all(o.index(a) < o.index(b) for a, b in known)])
        return (dict(zip(self.keys, each, strict=True)) for each in product(*of_keys))

    def levels(self) -> dict[str, bool]:
        """Whether each level holds."""
        held: dict[str, bool] = {}
        for order in self.orders():
            for level, holds in Completed(self, order).levels().items():
                held[level] = held.get(level, False) or holds
        varies = any(
            (a.transaction, a.key) == (b.transaction, b.key) and a.last != b.last
            for a, b in combinations(self.observations, 2)
        )
        held["cut-isolation"] = not varies
        for level in held:
            if varies and level.removeprefix("strong-session-") in (*CUT, "update-serializable"):
                held[level] = False
        return held | self.weak_levels(is_cut=not varies)

    def weak_levels(self, *, is_cut: bool) -> dict[str, bool]:
        """Read committed, read atomic and causal by the axiom of Biswas and Enea."""
        reads = {(v[0], o.transaction) for o in self.observations for v in o.seen if v[0] != o.transaction}
        happens = closure([*self.sessions, *reads])
        known = {(a[0], b[0]) for key in self.keys for a, b in self.known(key) if a[0] != b[0]}
        edges: set[tuple[Any, Any]] = {*self.sessions, *reads, *known}
        found = {}
        for level in ("read-committed", "read-atomic", "causal"):
            edges |= {*self._demands(level, reads, happens)}
            # None is the initial transaction: nothing comes before it.
            is_met = not is_cyclic(edges) and not any(after is None for _, after in edges)
            found[level] = is_met and (is_cut or level == "read-committed")
        return found

    def _demands(self, level: str, reads: set[Edge], happens: set[Edge]) -> Iterator[tuple[int, int | None]]:
        for read in self.observations:
            older = read.last[0] if read.last else None
            shown = {version[0] for version in read.seen}
            for newer in {version[0] for version in self.versions[read.key]} - shown - {read.transaction}:
                earlier = [
                    o
                    for o in self.observations
                    if o.transaction == read.transaction and o.operation < read.operation
                ]
                sees = any(version[0] == newer for o in earlier for version in o.seen)
                if level != "read-committed":
                    sees = sees or (newer, read.transaction) in {*reads, *self.sessions}
                if level == "causal":
                    sees = sees or (newer, read.transaction) in happens
                if sees and older != read.transaction:
                    yield newer, older


class Completed:
    """A history in which the order of all versions is known."""

    def __init__(self, history: BruteForce, order: Mapping[Any, Sequence[Version]]) -> None:
        self.history, self.order = history, order
        self.ww = [(a, b) for versions in order.values() for a, b in pairwise(versions) if a[0] != b[0]]
        self.wr = [(v[0], o) for o in history.observations for v in o.seen if v[0] != o.transaction]
        following = ((o, self._next(o)) for o in history.observations)
        self.rw = [(o, version[0]) for o, version in following if version and version[0] != o.transaction]

    def place(self, key: Any, version: Version | None) -> int:
        return -1 if version is None else self.order[key].index(version)

    def _next(self, read: Observation) -> Version | None:
        return next(iter(self.order[read.key][self.place(read.key, read.last) + 1 :]), None)

    def levels(self) -> dict[str, bool]:
        writes = [(a[0], b[0]) for a, b in self.ww]
        reads = [(writer, o.transaction) for writer, o in self.wr]
        missed = [(o.transaction, writer) for o, writer in self.rw]
        found = {}
        for prefix, sessions in zip(SESSIONS, ([], self.history.sessions), strict=True):
            flow = [*writes, *reads, *sessions]
            leads = closure(flow)
            psi = not is_cyclic(flow) and not any((b, a) in leads or a == b for a, b in missed)
            found[f"{prefix}pl-1"] = not is_cyclic([*writes, *sessions])
            found[f"{prefix}pl-2"] = not is_cyclic(flow)
            found[f"{prefix}parallel-snapshot-isolation"] = psi
            found[f"{prefix}snapshot-isolation"] = not is_cyclic(self.begins_and_commits(flow, [], missed))
            found[f"{prefix}serializable"] = not is_cyclic([*flow, *missed])
        seen = [*reads, *self.history.sessions]
        found["prefix"] = not is_cyclic(self.begins_and_commits(seen, writes, missed))
        flow = [*writes, *reads]
        found["cursor-stability"] = found["pl-2"] and not any(map(self.loses, self.history.observations))
        found["monotonic-view"] = found["pl-2"] and not self.goes_back(closure(flow))
        found["update-serializable"] = found["pl-2"] and not self.updates_cyclic([*flow, *missed])
        return found | self.guarantees()

    def begins_and_commits(
        self, before_begin: Sequence[Edge], before_commit: Sequence[Edge], missed: Sequence[Edge]
    ) -> Iterator[tuple[Any, Any]]:
        numbers = range(len(self.history.transactions))
        yield from ((("begin", n), ("commit", n)) for n in numbers)
        yield from ((("commit", a), ("begin", b)) for a, b in before_begin)
        yield from ((("commit", a), ("commit", b)) for a, b in before_commit)
        yield from ((("begin", a), ("commit", b)) for a, b in missed)

    def loses(self, read: Observation) -> bool:
        """Whether a version of another transaction stands between the one that was read and an own one."""
        behind = self.order[read.key][self.place(read.key, read.last) + 1 :]
        own = [place for place, version in enumerate(behind) if version[0] == read.transaction]
        return bool(own) and any(version[0] != read.transaction for version in behind[: own[-1]])

    def goes_back(self, leads: set[Edge]) -> bool:
        """Whether a read misses a transaction that leads into it or into an earlier operation."""
        entries = [(writer, (o.transaction, o.operation)) for writer, o in self.wr]
        entries += [(a[0], b) for a, b in self.ww]
        return any(
            writer == before or (writer, before) in leads
            for read, writer in self.rw
            for before, (number, place) in entries
            if number == read.transaction and place <= read.operation
        )

    def updates_cyclic(self, edges: Sequence[Edge]) -> bool:
        kinds = [{kind for kind, *_ in operations} for _, operations in self.history.transactions]
        writing = {number for number, found in enumerate(kinds) if found != {"read"}}
        groups = [writing, *(writing | {number} for number in range(len(kinds)))]
        return any(is_cyclic((a, b) for a, b in edges if {a, b} <= group) for group in groups)

    def guarantees(self) -> dict[str, bool]:
        reads = [(o.transaction, o.key, self.place(o.key, o.last)) for o in self.history.observations]
        writes = [(v[0], key, place) for key, order in self.order.items() for place, v in enumerate(order)]
        sides = {
            "monotonic-writes": (writes, writes),
            "writes-follow-reads": (reads, writes),
            "read-your-writes": (writes, reads),
            "monotonic-reads": (reads, reads),
        }
        return {level: not any(self._backwards(*pair)) for level, pair in sides.items()}

    def _backwards(
        self, first: Sequence[tuple[int, Any, int]], second: Sequence[tuple[int, Any, int]]
    ) -> Iterator[bool]:
        is_write = {
            (number, key, place) for number, key, place in second if self._installs(number, key, place)
        }
        for (one, key, earlier), (other, same, later) in product(first, second):
            if (one, other) in self.history.sessions and key == same:
                # A transaction may write several versions of which its session read the last before.
                is_own = (other, same, later) in is_write and self._installs(other, key, earlier)
                yield later < earlier and not is_own

    def _installs(self, number: int, key: Any, place: int) -> bool:
        return place >= 0 and self.order[key][place][0] == number
