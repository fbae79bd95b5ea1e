"""The conditions of levels for one explanation, after `version-order.md` and the list of levels."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING

from tests.semantics.second_definition.explanations import (
    GUARANTEES,
    START,
    Attribution,
    Case,
    Edges,
    Read,
    World,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def reach(edges: Edges) -> Edges:
    """The transitive closure."""
    closed = set(edges)
    nodes = {node for edge in edges for node in edge}
    for middle in nodes:
        into = [a for a, b in closed if b == middle]
        out = [b for a, b in closed if a == middle]
        closed.update(product(into, out))
    return closed


def cyclic(edges: Edges) -> bool:
    """Whether an edge leads back."""
    return any(a == b for a, b in reach(edges))


def between(edges: set[tuple[int, int]]) -> Edges:
    """Edges between different transactions, without the implicit first one."""
    return {(a, b) for a, b in edges if a != b and a >= 0 and b >= 0}


class Explained:
    """One explanation: a world, the writers of its reads, and the order of versions of each key."""

    def __init__(
        self, case: Case, world: World, attribution: Attribution, orders: dict[str, tuple[int, ...]]
    ) -> None:
        """Derive the edges."""
        self.case, self.world, self.attribution, self.orders = case, world, attribution, orders
        self.session = set(case.session_pairs(world))
        self.wr = between({(writer, read.reader) for read, writer in attribution.items()})
        self.ww = between({pair for order in orders.values() for pair in pairwise(order)})
        self.targets = {read: self.following(read.key, writer) for read, writer in attribution.items()}
        self.rw = between({(read.reader, target) for read, target in self.targets.items()})
        self.d = self.wr | self.ww

    def following(self, key: str, writer: int) -> int:
        """The writer of the version right after, or the implicit first transaction for none."""
        order = self.orders.get(key, (START,))
        if writer not in order or order[-1] == writer:
            return START
        return order[order.index(writer) + 1]

    def place(self, key: str, writer: int) -> int | None:
        """The place of a version among those of its key, None for what is no version."""
        order = self.orders.get(key, (START,))
        return order.index(writer) if writer in order else None

    def few_rw(self, fixed: Edges) -> bool:
        """No cycle of fixed edges with at most one rw."""
        closed = reach(fixed)
        return not any(a == b for a, b in closed) and not any((b, a) in closed for a, b in self.rw)

    def begins_commits(self, x: Edges, commits: bool = False) -> bool:
        """The BC-graph has no cycle; with `commits`, ww leads from commit to commit."""
        edges = {(2 * n, 2 * n + 1) for n in self.world.effect}
        edges |= {(2 * a + 1, 2 * b) for a, b in self.wr | x}
        edges |= {(2 * a + 1, 2 * b + (1 if commits else 0)) for a, b in self.ww}
        edges |= {(2 * a, 2 * b + 1) for a, b in self.rw}
        return not cyclic(edges)

    def cursor_stable(self) -> bool:
        """No version of another transaction between the one read and the own."""
        for read, writer in self.attribution.items():
            seen, own = self.place(read.key, writer), self.place(read.key, read.reader)
            if seen is not None and own is not None and own - seen > 1:
                return False
        return True

    def monotonic_view(self) -> bool:
        """No rw edge of a read whose target leads by D into that read or an earlier operation."""
        closed = reach(self.d)
        for read, target in self.targets.items():
            if target in (START, read.reader):
                continue
            if any(target == source or (target, source) in closed for source in self.sources(read)):
                return False
        return True

    def sources(self, read: Read) -> set[int]:
        """Transactions with a D edge into the read or an earlier operation of its transaction."""
        found = {
            writer
            for other, writer in self.attribution.items()
            if other.reader == read.reader and other.place <= read.place
        }
        ops = self.case.txns[read.reader].ops
        for key, order in self.orders.items():
            if read.reader in order:
                last = max(i for i, op in enumerate(ops) if op.write and op.key == key)
                if last <= read.place:
                    found.add(order[order.index(read.reader) - 1])
        return {n for n in found if n >= 0 and n != read.reader}

    def update_serializable(self) -> bool:
        """No cycle of D and rw among the writers and any single other transaction."""
        edges = self.d | self.rw
        writing = {n for n in self.world.effect if self.case.txns[n].written()}
        groups = [writing | {n} for n in self.world.effect]
        return not any(cyclic({(a, b) for a, b in edges if a in group and b in group}) for group in groups)

    def guarantee(self, name: str) -> bool:
        """A session guarantee."""
        first_writes = name in ("read-your-writes", "monotonic-writes")
        second_writes = name in ("monotonic-writes", "writes-follow-reads")
        for a, b in self.session:
            for key in self.orders:
                earlier = self.met(a, key, first_writes)
                later = self.met(b, key, second_writes)
                if any(second < first for first in earlier for second in later):
                    return False
        return True

    def met(self, number: int, key: str, writes: bool) -> list[int]:
        """Places of the versions that a transaction wrote, or read of others."""
        if writes:
            found = [self.place(key, number)] if key in self.case.txns[number].written() else []
        else:
            found = [
                self.place(key, w) for r, w in self.attribution.items() if r.reader == number and r.key == key
            ]
        return [place for place in found if place is not None]

    def meets(self, level: str) -> bool:
        """Whether the condition of a level is met, single reads apart."""
        if level in GUARANTEES:
            return self.guarantee(level)
        x: Edges = self.session if level.startswith("strong-session-") else set()
        plain = level.removeprefix("strong-session-")
        if plain == "pl-1":
            return not cyclic(self.ww | x)
        if cyclic(self.d | x):
            return False
        return self.conditions(x)[plain]()

    def conditions(self, x: Edges) -> dict[str, Callable[[], bool]]:
        """What each level asks beside `pl-2`."""
        no_cycle = partial(self.no_cycle, x)
        one_rw = partial(self.few_rw, self.d | x)
        return {
            "pl-2": lambda: True,
            "cursor-stability": self.cursor_stable,
            "monotonic-view": self.monotonic_view,
            "consistent-view": one_rw,
            "parallel-snapshot-isolation": one_rw,
            "update-serializable": self.update_serializable,
            "snapshot-isolation": partial(self.begins_commits, x),
            "prefix": partial(self.begins_commits, self.session, commits=True),
            "repeatable-read": no_cycle,
            "serializable": no_cycle,
        }

    def no_cycle(self, x: Edges) -> bool:
        """No cycle of D, rw and x."""
        return not cyclic(self.d | self.rw | x)


def commit_order(case: Case, world: World, attribution: Attribution, level: str) -> bool:
    """`read-committed`, `read-atomic`, `causal`: demands that do not depend on the commit order."""
    session = set(case.session_pairs(world))
    wr = between({(writer, read.reader) for read, writer in attribution.items()})
    happens = reach(session | wr)
    base = session | wr
    demands: Edges = set()
    for read, t1 in attribution.items():
        for t2 in world.effect:
            if t2 in (t1, read.reader) or read.key not in case.txns[t2].written():
                continue
            if level == "read-committed":
                seen = any(
                    w == t2 and r.reader == read.reader and r.place < read.place
                    for r, w in attribution.items()
                )
            else:
                seen = (t2, read.reader) in (base if level == "read-atomic" else happens)
            if seen and t1 == START:
                return False
            if seen:
                demands.add((t2, t1))
    return not cyclic(base | demands)


def prefix(case: Case, world: World, attribution: Attribution) -> bool:
    """`prefix` by its definition in the list of levels: some total order of the transactions."""
    session = set(case.session_pairs(world))
    wr = between({(writer, read.reader) for read, writer in attribution.items()})
    base = session | wr
    if cyclic(base):
        return False
    return any(
        in_prefix(case, world, attribution, base, order)
        for order in permutations(world.effect)
        if all(order.index(a) < order.index(b) for a, b in base)
    )


def in_prefix(
    case: Case, world: World, attribution: Attribution, base: Edges, order: tuple[int, ...]
) -> bool:
    """Whether every read shows the last version in the prefix of its transaction."""
    at = {number: place for place, number in enumerate(order)}
    at[START] = -1
    for read, t1 in attribution.items():
        seen = [at[a] for a, b in base if b == read.reader]
        for t2 in world.effect:
            if t2 == t1 or read.key not in case.txns[t2].written() or at[t2] < at[t1]:
                continue
            if any(at[t2] <= place for place in seen):
                return False
    return True
