"""Seeded transactions in the shape of AION, correct and faulty, in the order of time or of arrival."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: So many milliseconds may a transaction be later than another one that arrived before it.
TIMEOUT = 40


def lines(seed: int, count: int = 120) -> list[str]:
    """Transactions on registers, or on lists; every third seed is a database with right snapshots."""
    random, is_right, is_list = Random(seed), seed % 3 == 0, seed % 5 == 4
    clock, values = 0, 0
    versions: dict[str, list[tuple[int, Any]]] = {}
    ends = [0] * 4
    places = [0] * 4
    found = []
    for number in range(count):
        session = random.randrange(4)
        clock += random.randint(1, 6)
        start = max(clock, ends[session]) if is_right or random.random() < 0.95 else clock - 5
        commit = start + (0 if is_right else random.choice([0, 1, 3, 9, 20, -2]))
        operations: list[dict[str, Any]] = []
        written: dict[str, Any] = {}
        for _ in range(random.randint(1, 4)):
            key = f"k{random.randrange(5)}"
            shown = _shown(versions.get(key, []), start, written.get(key), is_list=is_list)
            if random.random() < 0.5:
                values += 1
                written[key] = [*shown, values] if is_list else values
                operations.append({"t": "a" if is_list else "w", "k": key, "v": values})
                continue
            if not is_right and random.random() < 0.1 and versions.get(key):
                shown = random.choice(versions[key])[1]
            operations.append({"t": "r", "k": key, "v": shown})
        ends[session] = max(ends[session], commit + 1)
        clock = max(clock, commit) if is_right else clock
        is_aborted = not is_right and random.random() < 0.05
        if not is_aborted:
            for key, value in written.items():
                versions.setdefault(key, []).append((commit, value))
        found.append(
            {
                "tid": number,
                "sid": session,
                "sno": places[session],
                "sts": {"p": start + 1000, "l": 0},
                "cts": {"p": commit + 1000, "l": number % 2},
                "ops": operations,
                **({"status": "aborted"} if is_aborted else {}),
            }
        )
        places[session] += 1
    return [json.dumps(one) for one in found]


def _shown(versions: Sequence[tuple[int, Any]], start: int, own: Any, *, is_list: bool) -> Any:
    if own is not None:
        return own
    known = [one for one in versions if one[0] <= start]
    return max(known, key=lambda one: one[0])[1] if known else [] if is_list else 0


def arrived(whole: Sequence[str], seed: int) -> list[str]:
    """The lines in an order in which none is later than `TIMEOUT` allows."""
    random = Random(seed)
    return sorted(whole, key=lambda line: time_of(line) + random.uniform(0, TIMEOUT - 1))


def time_of(line: str) -> int:
    """The later of start and commit."""
    said = json.loads(line)
    return max(int(said[end]["p"]) for end in ("sts", "cts") if said[end])


def batches(some: Sequence[str], size: int) -> Iterator[list[str]]:
    """The lines in so many at a time."""
    yield from (list(some[at : at + size]) for at in range(0, len(some), size))
