"""The levels by brute force on tiny histories: every explanation, every order of versions.

Written for the tests of the verifier, with nothing of it but the plain data of a history.
"""

from __future__ import annotations

from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING, Any

from tests.verify.worlds import (
    INITIAL,
    Version,
    World,
    appender,
    canonical,
    has_duplicates,
    non_repeatable,
    value_of,
    versions_of,
    worlds,
    wrong_reads,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.verify.history import History

Edge = tuple[int, int]
WITHOUT_READS = ("pl-1", "strong-session-pl-1", "strong-pl-1")
WEAK = ("read-committed", "read-atomic", "causal")


def version_orders(world: World) -> Iterator[dict[Any, list[Version]]]:
    """Every order of the versions of every key that contains what lists show."""
    lists = canonical(world)
    versions = world.versions()
    choices = [
        [
            order
            for order in map(list, permutations(versions[key]))
            if fits(world, order, lists.get(key, []), key)
        ]
        for key in versions
    ]
    for chosen in product(*choices):
        yield dict(zip(versions, chosen, strict=True))


def fits(world: World, order: list[Version], longest: list[Any], key: Any) -> bool:
    if key not in world.history.lists:
        return True
    values = [value_of(world.history, version) for version in order]
    known = [value for value in longest if value in values]
    shown = {e for k, v in world.reads.values() if k == key and isinstance(v, list) for e in v}
    unread = [value for value in values if value not in shown]
    in_order = [value for value in values if value in known] == known
    behind = all(values.index(value) > values.index(last) for last in known for value in unread)
    own = all(
        values.index(value_of(world.history, one)) < values.index(value_of(world.history, two))
        for one in order
        for two in order
        if one[0] == two[0]
        and one[1] < two[1]
        and {value_of(world.history, one), value_of(world.history, two)} <= set(unread)
    )
    return in_order and behind and own


def last_version(world: World, read: Version) -> Version | None:
    """The version that a read shows last, None for the initial one."""
    key, value = world.reads[read]
    if isinstance(value, list):
        return appender(world, key, value[-1], read[0]) if value else None
    number = world.writers[read]
    if number == INITIAL:
        return None
    return next(v for k, v in versions_of(world.history.transactions[number]) if k == key)


def sources(world: World, read: Version) -> set[int]:
    key, value = world.reads[read]
    if isinstance(value, list):
        found = {appender(world, key, element, read[0]) for element in value}
        return {version[0] for version in found if version is not None}
    return {world.writers[read]} - {INITIAL} if read in world.writers else set()


def wr(world: World) -> set[Edge]:
    return {(n, read[0]) for read in world.reads for n in sources(world, read)}


def ww(order: dict[Any, list[Version]]) -> set[Edge]:
    return {
        (one[0], two[0]) for versions in order.values() for one, two in pairwise(versions) if one[0] != two[0]
    }


def rw(world: World, order: dict[Any, list[Version]]) -> list[tuple[Version, int, Any]]:
    """(read, the writer of the version right after the one that it shows, key)."""
    found = []
    for read, (key, _) in world.reads.items():
        last = last_version(world, read)
        versions = order.get(key, [])
        at = 0 if last is None else versions.index(last) + 1
        if at < len(versions) and versions[at][0] != read[0]:
            found.append((read, versions[at][0], key))
    return found


def sessions(world: World) -> set[Edge]:
    return {
        (a.number, b.number)
        for a in world.counting
        for b in world.counting
        if a.session == b.session and a.place < b.place
    }


def real_time(world: World) -> set[Edge]:
    return {
        (a.number, b.number)
        for a in world.counting
        for b in world.counting
        if a.status == "committed" and a.end is not None and b.begin is not None and a.end < b.begin
    }


def closure(edges: Iterable[Edge]) -> set[Edge]:
    found = set(edges)
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return found
        found |= more


def acyclic(edges: Iterable[Edge]) -> bool:
    return all(a != b for a, b in closure(edges))


def beyond(world: World, level: str) -> set[Edge]:
    """The edges of sessions and real time that a level adds."""
    if level in ("strict-serializable", "strong-snapshot-isolation", "strong-pl-1", "strong-pl-2"):
        return sessions(world) | real_time(world)
    return sessions(world) if level.startswith("strong-session-") or level in (*WEAK, "prefix") else set()


def holds_in(  # noqa: PLR0911 - one for each condition of the table
    world: World, order: dict[Any, list[Version]], level: str
) -> bool:
    """The condition of a level from a version order; docs/explanation/version-order.md, "Conditions"."""
    extra = beyond(world, level)
    plain = level.removeprefix("strong-session-").removeprefix("strong-")
    d = ww(order) | extra
    if plain == "pl-1":
        return acyclic(d)
    d |= wr(world)
    anti = rw(world, order)
    if not acyclic(d):
        return False
    if plain == "pl-2":
        return True
    paths = closure(d)
    edges = {(read[0], target) for read, target, _ in anti}
    if plain in ("serializable", "repeatable-read", "strict-serializable"):
        return acyclic(d | edges)
    if plain == "snapshot-isolation":
        return acyclic(d | {(a, t) for a, b in d for s, t in edges if b == s})
    if plain == "prefix":
        return acyclic(bc_graph(world, order, extra))
    if plain in ("consistent-view", "parallel-snapshot-isolation"):
        return not any((target, reader) in paths for reader, target in edges)
    if plain == "cursor-stability":
        return not any(lost(order, world, read, key) for read, _, key in anti)
    if plain == "monotonic-view":
        return not any(goes_into(world, order, read, target) for read, target, _ in anti)
    return updates(world, d, edges)


def bc_graph(world: World, order: dict[Any, list[Version]], extra: set[Edge]) -> set[Any]:
    """Begins are positive, commits negative; numbers from 1."""
    edges = {(t.number + 1, -t.number - 1) for t in world.counting}
    edges |= {(-a - 1, b + 1) for a, b in wr(world) | extra}
    edges |= {(-a - 1, -b - 1) for a, b in ww(order)}
    return edges | {(read[0] + 1, -target - 1) for read, target, _ in rw(world, order)}


def lost(order: dict[Any, list[Version]], world: World, read: Version, key: Any) -> bool:
    versions = order[key]
    own = [at for at, version in enumerate(versions) if version[0] == read[0]]
    last = last_version(world, read)
    start = -1 if last is None else versions.index(last)
    return any(version[0] != read[0] for at in own for version in versions[start + 1 : at])


def goes_into(world: World, order: dict[Any, list[Version]], read: Version, target: int) -> bool:
    """Whether dependencies lead from the target into the read or an earlier operation of its transaction."""
    entries = {n for r in world.reads if r[0] == read[0] and r[1] <= read[1] for n in sources(world, r)}
    for versions in order.values():
        for one, two in pairwise(versions):
            if two[0] == read[0] and two[1] <= read[1] and one[0] != two[0]:
                entries.add(one[0])
    paths = closure(wr(world) | ww(order))
    return any(entry == target or (target, entry) in paths for entry in entries)


def updates(world: World, d: set[Edge], edges: set[Edge]) -> bool:
    writers = {t.number for t in world.counting if list(versions_of(t))}
    others = {t.number for t in world.counting} - writers
    return all(
        acyclic((a, b) for a, b in d | edges if {a, b} <= writers | {other}) for other in others or {INITIAL}
    )


def weak_order(world: World, order: list[int], level: str) -> bool:
    """The axiom of a weak level on one commit order."""
    position = {number: place for place, number in enumerate(order)} | {INITIAL: -1}
    needed = wr(world) | sessions(world)
    if any(position[a] >= position[b] for a, b in needed):
        return False
    happens = closure(needed)
    for read, (key, _) in world.reads.items():
        shown = sources(world, read)
        last = last_version(world, read)
        t1 = INITIAL if last is None else last[0]
        for t2 in order:
            t = world.history.transactions[t2]
            if t2 == t1 or t2 == read[0] or t2 in shown or key not in dict(versions_of(t)):
                continue
            sees = {
                "read-committed": any(
                    t2 in sources(world, r) for r in world.reads if r[0] == read[0] and r[1] < read[1]
                ),
                "read-atomic": (t2, read[0]) in needed,
                "causal": (t2, read[0]) in happens,
            }
            if sees[level] and position[t2] > position[t1]:
                return False
    return True


def forbidden(world: World, level: str, *, cut: bool) -> bool:
    if has_duplicates(world):
        return True
    if level in WITHOUT_READS:
        return False
    return wrong_reads(world) or (cut and non_repeatable(world))


def implies_cut(level: str) -> bool:
    return level not in ("read-committed", "cursor-stability", "monotonic-view") and "pl-" not in level


def holds(history: History, level: str) -> bool:
    """Whether some explanation and some order of versions, or of commits, meets the level."""
    for world in worlds(history):
        if forbidden(world, level, cut=implies_cut(level)):
            continue
        orders = list(version_orders(world))
        if level in WEAK:
            names = [t.number for t in world.counting]
            contained = [(lists_edges(world, order)) for order in orders[:1]]
            for order in permutations(names):
                known = all(order.index(a) < order.index(b) for edges in contained for a, b in edges)
                if known and weak_order(world, list(order), level):
                    return True
        elif any(holds_in(world, order, level) for order in orders):
            return True
    return False


def lists_edges(world: World, order: dict[Any, list[Version]]) -> set[Edge]:
    """What lists say of the order of writers: along the longest list, and from its end to unread appends."""
    found: set[Edge] = set()
    lists = canonical(world)
    for key, versions in order.items():
        if key not in world.history.lists:
            continue
        known = [v for v in versions if value_of(world.history, v) in lists.get(key, [])]
        behind = [v for v in versions if v not in known]
        found |= {(a[0], b[0]) for a, b in pairwise(known)}
        found |= {(a[0], b[0]) for a in known[-1:] for b in behind}
    return {(a, b) for a, b in found if a != b}
