"""Hermitage: scripts that provoke one anomaly each.

After Martin Kleppmann's Hermitage (https://github.com/ept/hermitage, 2014, CC BY 4.0), expressed with the
operations of a session: keys 1 and 2 hold 10 and 20 at first, a condition on values becomes a read of the
keys 1 to 4, and a change by a condition becomes one of the key that is meant. Where two transactions of a
script write the same there, they write different values here, so that a read shows which one wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "ANOMALIES",
    "INITIAL",
    "KEYS",
    "SCRIPTS",
    "Answer",
    "Script",
    "Seen",
    "Step",
]

#: The anomalies in the order of the published table, and what the literature calls them.
ANOMALIES: Mapping[str, str] = MappingProxyType(
    {
        "G0": "write cycle",
        "G1a": "aborted read",
        "G1b": "intermediate read",
        "G1c": "circular information flow",
        "OTV": "observed transaction vanishes",
        "PMP": "predicate-many-preceders",
        "P4": "lost update",
        "G-single": "read skew",
        "G2-item": "write skew",
        "G2": "write skew on a predicate read",
    }
)
#: The rows before a script begins.
INITIAL: Mapping[int, int] = MappingProxyType({1: 10, 2: 20})
#: The keys that scripts use, from the first to the last; a range read asks for all of them.
KEYS = (1, 4)

Action: TypeAlias = Literal["begin", "read", "write", "insert", "delete", "range-read", "commit", "rollback"]
#: The rows of a read: one key, or all of them for a range read.
Rows: TypeAlias = "Mapping[int, int]"


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of one transaction; `name` is what the outcome calls the rows that it returned."""

    transaction: int
    action: Action
    key: int = 0
    value: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The results of a script: rows of its named reads, committed transactions, and the final rows."""

    reads: Mapping[str, Rows]
    committed: frozenset[int]
    final: Rows

    def __call__(self, name: str, key: int) -> int | None:
        """What the named read showed of `key`; None if it was not there."""
        return self.reads[name].get(key)


class Answer(StrEnum):
    """Whether a script showed its anomaly."""

    PREVENTED = "prevented"
    ALLOWED = "allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Steps to be run one after the other, and when they have shown the anomaly.

    It has been shown if all that wanted to commit could and `shows` says so; then `level`, the weakest that
    rules the anomaly out, is violated. `is_read_only`: the affected transaction only reads.
    """

    name: str
    anomaly: str
    level: Level
    steps: tuple[Step, ...]
    shows: Callable[[Seen], bool]
    is_read_only: bool = False

    @property
    def transactions(self) -> int:
        """How many there are, numbered from 1."""
        return max(step.transaction for step in self.steps)

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys that are there at first or that it uses."""
        return tuple(sorted({*INITIAL} | {step.key for step in self.steps if step.key}))

    def answer(self, seen: Seen) -> Answer:
        """Whether the script showed the anomaly."""
        wanted = {step.transaction for step in self.steps if step.action == "commit"}
        is_there = wanted <= seen.committed and self.shows(seen)
        return Answer.ALLOWED if is_there else Answer.PREVENTED


#: Berenson et al. 1995 write histories like this.
_STEP = re.compile(r"(?:(\w+)=)?([brwidpca])([1-9])(?:\((\d+)(?:,(\d+))?\))?")
_ACTIONS: Mapping[str, Action] = {
    "b": "begin",
    "r": "read",
    "w": "write",
    "i": "insert",
    "d": "delete",
    "p": "range-read",
    "c": "commit",
    "a": "rollback",
}


def _steps(text: str) -> tuple[Step, ...]:
    """Steps in the notation of the literature: `w1(2,21)` is transaction 1 writing 21 to key 2.

    `b` begins, `p` reads by a predicate, `c` commits, `a` aborts; `before=r2(1)` names what was read.
    """
    return tuple(_step(word) for word in text.split())


def _step(word: str) -> Step:
    found = _STEP.fullmatch(word)
    assert found, word
    name, action, transaction, key, value = found.groups()
    return Step(int(transaction), _ACTIONS[action], int(key or 0), int(value or 0), name or "")


def _vanished(seen: Seen) -> bool:
    """Whether transaction 3 read something older after something newer."""
    age = {10: 0, 20: 0, 11: 1, 19: 1, 12: 2, 18: 2}
    names = ("first", "second", "third", "fourth", "fifth", "sixth")
    ages = [age[value] for name in names for value in seen.reads[name].values()]
    return ages != sorted(ages) and seen.final == {1: 12, 2: 18}


SCRIPTS: tuple[Script, ...] = (
    Script(
        name="G0",
        anomaly="G0",
        level=Level.PL_1,
        # Not in Hermitage's order, in which a database without locks would write a serial history.
        steps=_steps("b1 b2 w1(1,11) w2(1,12) w2(2,22) w1(2,21) c1 c2"),
        shows=lambda seen: (seen.final.get(1), seen.final.get(2)) in {(11, 22), (12, 21)},
    ),
    Script(
        name="G1a",
        anomaly="G1a",
        level=Level.PL_2,
        steps=_steps("b1 b2 w1(1,101) before=r2(1) a1 after=r2(1) c2"),
        shows=lambda seen: 101 in (seen("before", 1), seen("after", 1)),
    ),
    Script(
        name="G1b",
        anomaly="G1b",
        level=Level.PL_2,
        steps=_steps("b1 b2 w1(1,101) before=r2(1) w1(1,11) c1 after=r2(1) c2"),
        shows=lambda seen: 101 in (seen("before", 1), seen("after", 1)),
    ),
    Script(
        name="G1c",
        anomaly="G1c",
        level=Level.PL_2,
        steps=_steps("b1 b2 w1(1,11) w2(2,22) by_1=r1(2) by_2=r2(1) c1 c2"),
        shows=lambda seen: (seen("by_1", 2), seen("by_2", 1)) == (22, 11),
    ),
    Script(
        name="OTV",
        anomaly="OTV",
        level=Level.MONOTONIC_VIEW,
        steps=_steps(
            "b1 b2 b3 w1(1,11) w1(2,19) w2(1,12) c1 first=r3(1) second=r3(2) w2(2,18) "
            "third=r3(2) fourth=r3(1) c2 fifth=r3(2) sixth=r3(1) c3"
        ),
        shows=_vanished,
    ),
    Script(
        name="PMP",
        anomaly="PMP",
        level=Level.CONSISTENT_VIEW,
        steps=_steps("b1 b2 before=p1 i2(3,30) c2 after=p1 c1"),
        shows=lambda seen: seen("before", 3) is None and seen("after", 3) == 30,
        is_read_only=True,
    ),
    Script(
        name="PMP, writing",
        anomaly="PMP",
        # The row that is gone at last is a predicate's: levels of items do not protect it.
        level=Level.PARALLEL_SNAPSHOT_ISOLATION,
        steps=_steps("b1 b2 w1(1,20) w1(2,30) before=p2 d2(2) c1 c2"),
        shows=lambda seen: seen("before", 2) == 20 and 2 not in seen.final,
    ),
    Script(
        name="P4",
        anomaly="P4",
        level=Level.CURSOR_STABILITY,
        steps=_steps("b1 b2 by_1=r1(1) by_2=r2(1) w1(1,11) w2(1,12) c1 c2"),
        shows=lambda seen: (seen("by_1", 1), seen("by_2", 1)) == (10, 10),
    ),
    Script(
        name="G-single",
        anomaly="G-single",
        level=Level.CONSISTENT_VIEW,
        steps=_steps("b1 b2 before=r1(1) r2(1) r2(2) w2(1,12) w2(2,18) c2 after=r1(2) c1"),
        shows=lambda seen: (seen("before", 1), seen("after", 2)) == (10, 18),
        is_read_only=True,
    ),
    Script(
        name="G-single, predicate",
        anomaly="G-single",
        level=Level.CONSISTENT_VIEW,
        steps=_steps("b1 b2 before=p1 w2(1,12) c2 after=p1 c1"),
        shows=lambda seen: (seen("before", 1), seen("after", 1)) == (10, 12),
        is_read_only=True,
    ),
    Script(
        name="G-single, writing",
        anomaly="G-single",
        level=Level.CONSISTENT_VIEW,
        steps=_steps("b1 b2 before=r1(1) w2(1,12) w2(2,18) c2 w1(2,21) c1"),
        shows=lambda seen: (seen("before", 1), seen.final.get(2)) == (10, 21),
    ),
    Script(
        name="G2-item",
        anomaly="G2-item",
        level=Level.REPEATABLE_READ,
        steps=_steps("b1 b2 r1(1) by_1=r1(2) by_2=r2(1) r2(2) w1(1,11) w2(2,21) c1 c2"),
        shows=lambda seen: (seen("by_1", 2), seen("by_2", 1)) == (20, 10),
    ),
    Script(
        name="G2",
        anomaly="G2",
        level=Level.SERIALIZABLE,
        steps=_steps("b1 b2 by_1=p1 by_2=p2 i1(3,30) i2(4,42) c1 c2"),
        shows=lambda seen: seen("by_1", 4) is None and seen("by_2", 3) is None,
    ),
    # Fekete, O'Neil and O'Neil 2004: a transaction that only reads closes the cycle of two that write.
    Script(
        name="G2, two edges",
        anomaly="G2",
        level=Level.SERIALIZABLE,
        steps=_steps("b1 by_1=p1 b2 r2(2) w2(2,25) c2 b3 by_3=p3 c3 w1(1,0) c1"),
        shows=lambda seen: (seen("by_1", 2), seen("by_3", 1), seen("by_3", 2)) == (20, 10, 25),
    ),
)
