"""The method of version orders: Adya's levels, snapshot isolation, serializability, sessions and real time.

Where the order of a key's versions is known, dependencies between transactions are known, too: a level is
broken by a cycle that it forbids. Versions without a known order are tried in every order.
`reference/adya.py` is the specification, `rust/kernel/src/versions` the engine. Cost: linear where the order
is known; the search for an open order has a limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import dependencies, judge_versions, ordered_keys
from isoscope.checkers.itemised import ItemisedHistory
from isoscope.checkers.recorded_order import WEAK
from isoscope.checkers.version_judgement import (
    LEVELS,
    METHOD,
    NAMES,
    OF_ITEMS,
    UNTIMED,
    Judgement,
    condition,
    rows,
)
from isoscope.levels import Level
from isoscope.verdict import Claim, Ordered, Presence, Sighting, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope._native import VersionsJudgement
    from isoscope.history import History

__all__ = [
    "LEVELS",
    "METHOD",
    "NAMES",
    "TIME_LIMIT",
    "UNTIMED",
    "Judgement",
    "check",
    "concerns",
    "condition",
    "disbelieved",
    "edges",
    "find",
    "judge",
    "ordered",
]

#: Seconds that the search for an open order may take for each level.
TIME_LIMIT = 60.0


def judge(  # noqa: PLR0913 - the question, and its limits
    history: History,
    *,
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),
    time_limit: float = TIME_LIMIT,
    asked: Sequence[Level] | None = None,
    witnessed: Sequence[Level] = (),
) -> Judgement:
    """What the order of versions says of all levels, and how many keys each source orders.

    The search for an open order takes at most `time_limit` seconds for each level. If all that are asked for
    are levels of versions, it is made for others only if one of these stays unknown. Of the levels
    `witnessed` that hold, an order is kept that shows it.
    """
    claims = [claim.value for claim in assume]
    is_of_versions = asked is not None and all(level in LEVELS for level in asked)
    conditions = [condition(level) for level in asked or ()] if is_of_versions else None
    found = judge_versions(
        history.columns,
        claims=claims,
        max_anomalies=max_anomalies,
        max_seconds=time_limit,
        asked=conditions,
        witnessed=[*dict.fromkeys(condition(level) for level in witnessed if level in LEVELS)],
    )
    if not isinstance(history, ItemisedHistory):
        return Judgement(history, found)
    items = _judged_items(history, found, asked, claims, max_anomalies=max_anomalies, time_limit=time_limit)
    return Judgement(history, found, has_ranges=True, items=items)


def _judged_items(  # noqa: PLR0913 - the question, and its limits
    history: History,
    found: VersionsJudgement,
    asked: Sequence[Level] | None,
    claims: Sequence[str],
    *,
    max_anomalies: int,
    time_limit: float,
) -> Judgement | None:
    """The judgement of levels that do not protect what range reads left out, if it may differ."""
    needed = [level for level in OF_ITEMS if _is_needed(level, found.outcomes[condition(level)], asked)]
    if not needed:
        return None
    judged = judge_versions(
        history.columns,
        claims=claims,
        max_anomalies=max_anomalies,
        max_seconds=time_limit,
        asked=[*dict.fromkeys(condition(level) for level in needed)],
        of_items=True,
    )
    return Judgement(history, judged)


def _is_needed(level: Level, outcome: str, asked: Sequence[Level] | None) -> bool:
    """Whether it matters that a level does not protect what range reads left out."""
    if outcome == "holds":
        return False
    if asked is None or level in asked:
        return True
    return outcome == "violated" and any(level in lattice.implied(one) for one in asked)


def check(
    history: History, *, levels: Sequence[Level], max_anomalies: int = 10, assume: Sequence[Claim] = ()
) -> Iterator[Verdict]:
    """What the order of versions says of the levels that `levels` depend on."""
    if concerns(levels, assume):
        yield from judge(history, max_anomalies=max_anomalies, assume=assume).verdicts()


def find(
    history: History, names: Sequence[str], *, max_anomalies: int = 10, assume: Sequence[Claim] = ()
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names."""
    found = judge(history, max_anomalies=max_anomalies, assume=assume)
    for name in names:
        if count := found.counts.get(name, 0):
            shown = found.of(name)[:max_anomalies]
            yield Sighting(name=name, presence=Presence.FOUND, method=METHOD, count=count, anomalies=shown)
        else:
            presence = Presence.UNKNOWN if found.unjudged else Presence.ABSENT
            yield Sighting(name=name, presence=presence, method=METHOD, reason=found.unjudged)


def edges(history: History) -> list[tuple[str, str, str]]:
    """The dependency graph: (before, after, relation) by the labels of transactions."""
    label = [transaction.label for transaction in history]
    found = dependencies(history.columns)
    return [(label[edge.before], label[edge.after], edge.relation) for edge in found]


def ordered(history: History, assume: Sequence[Claim] = ()) -> tuple[Ordered, ...]:
    """How many keys each source orders, without a judgement: the strongest source first."""
    return rows(ordered_keys(history.columns, claims=[claim.value for claim in assume]))


def disbelieved(history: History, assume: Sequence[Claim] = ()) -> list[tuple[str, object]]:
    """Claims and sources that a key contradicts: the name of the anomaly, and the key."""
    found = judge(history, max_anomalies=len(history.keys), assume=assume)
    names = ("cyclic-versions", "contradictory-evidence")
    return [(name, anomaly.keys[0]) for name in names for anomaly in found.of(name)]


def concerns(levels: Sequence[Level], assume: Sequence[Claim] = ()) -> bool:
    """Whether the order of versions says anything of `levels` that values, or what is recorded, do not.

    The weak levels ask for a commit order that contains what is recorded. A claim may break PL-1, which all
    of them but cut isolation imply.
    """
    return not {*levels} <= {Level.CUT_ISOLATION, *(() if assume else WEAK)}
