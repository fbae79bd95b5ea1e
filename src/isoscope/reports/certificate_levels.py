"""The levels that have certificates, and which cycles each forbids: the tables of the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CERTIFIED", "REPLAYED", "Rules", "forbids", "is_seen"]

_WR, _WW, _RW, _SESSION, _REAL_TIME = "wr", "ww", "rw", "session", "real-time"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a level demands; `kind` names the condition on cycles with an rw step.

    `wrong_reads`: it forbids a read that is wrong by itself. `non_repeatable`: also two reads of a key that
    differ. `axiom`: how a transaction is seen, at the weak levels.
    """

    kind: str
    sessions: bool = False
    real_time: bool = False
    wrong_reads: bool = True
    non_repeatable: bool = True
    axiom: str = ""


def _variants(kind: str, names: Sequence[str], *, cut: bool = True, reads: bool = True) -> dict[str, Rules]:
    """A level, its variant with sessions, and the one with real time."""
    return {
        name: Rules(kind, place > 0, place > 1, wrong_reads=reads, non_repeatable=cut)
        for place, name in enumerate(names)
    }


def _strong(name: str) -> tuple[str, str, str]:
    return name, f"strong-session-{name}", f"strong-{name}"


CERTIFIED: dict[str, Rules] = {
    **_variants("any", ("serializable", "strong-session-serializable", "strict-serializable")),
    "repeatable-read": Rules("any"),
    **_variants("apart", _strong("snapshot-isolation")),
    "prefix": Rules("prefix", sessions=True),
    **_variants("single", _strong("parallel-snapshot-isolation")[:2]),
    "consistent-view": Rules("single"),
    "update-serializable": Rules("update"),
    "cursor-stability": Rules("cursor", non_repeatable=False),
    "monotonic-view": Rules("monotonic", non_repeatable=False),
    **_variants("none", _strong("pl-2"), cut=False),
    **_variants("writes", _strong("pl-1"), cut=False, reads=False),
    "causal": Rules("none", sessions=True, axiom="chain"),
    "read-atomic": Rules("none", sessions=True, axiom="step"),
    "read-committed": Rules("none", sessions=True, non_repeatable=False, axiom="earlier read"),
    "cut-isolation": Rules("reads", wrong_reads=False),
    **{
        name: Rules("guarantee", sessions=True, wrong_reads=False, non_repeatable=False)
        for name in ("read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads")
    },
    "clock-snapshot-isolation": Rules("clock"),
    "clock-serializable": Rules("clock"),
}
#: Levels whose witness is replayed: a read shows the version that is current.
REPLAYED = ("any", "apart", "prefix")


def forbids(rules: Rules, cycle: Sequence[dict[str, Any]]) -> bool:
    """Whether the level forbids a cycle of these steps."""
    if rules.kind in ("reads", "guarantee", "clock") or len(cycle) < 2:
        return False
    if not {step["by"] for step in cycle} <= _allowed(rules) or not _is_joined(cycle):
        return False
    missed = [place for place, step in enumerate(cycle) if step["by"] == _RW]
    return not missed or rules.kind == "any" or _CONDITIONS[rules.kind](cycle, missed)


def _is_joined(cycle: Sequence[dict[str, Any]]) -> bool:
    return all(cycle[place - 1]["to"] == step["from"] for place, step in enumerate(cycle))


def is_seen(rules: Rules, sees: Sequence[dict[str, Any]], read: int) -> bool:
    """Whether steps bring a transaction to the sight of the read with this place, as a weak level asks."""
    if rules.axiom == "earlier read":
        return len(sees) == 1 and sees[0]["by"] == _WR and bool(sees[0]["read"] < read)
    is_chain = {step["by"] for step in sees} <= {_WR, _SESSION}
    return is_chain and (rules.axiom == "chain" or len(sees) == 1)


def _allowed(rules: Rules) -> set[str]:
    if rules.axiom:
        return {_WR, _WW, _SESSION, "initial", "axiom"}
    found = {_WW} if rules.kind == "writes" else {_WR, _WW}
    found |= {_RW} if rules.kind == "any" or rules.kind in _CONDITIONS else set()
    found |= {_SESSION} if rules.sessions else set()
    return found | ({_REAL_TIME} if rules.real_time else set())


def _after(cycle: Sequence[dict[str, Any]], missed: list[int]) -> set[str]:
    return {cycle[place - 1]["by"] for place in missed}


def _is_lost_update(cycle: Sequence[dict[str, Any]], missed: list[int]) -> bool:
    """A read that missed a version, and the write of its transaction that follows that version."""
    other = cycle[missed[0] - 1]
    return len(cycle) == 2 and other["by"] == _WW and other["versions"][0] == cycle[missed[0]]["versions"][-1]


def _is_non_monotonic(cycle: Sequence[dict[str, Any]], missed: list[int]) -> bool:
    """The step before enters the reader at the read that missed a version, or before it."""
    before, read = cycle[missed[0] - 1], cycle[missed[0]]["read"]
    entered = before["read"] if before["by"] == _WR else before["versions"][-1][1]
    return len(missed) == 1 and bool(entered <= read)


def _writing(cycle: Sequence[dict[str, Any]]) -> list[bool]:
    """Of each transaction of the cycle whether the steps around it show that it writes."""
    return [
        cycle[place - 1]["by"] in (_WW, _RW) or step["by"] in (_WW, _WR) for place, step in enumerate(cycle)
    ]


def _is_single(_: Sequence[dict[str, Any]], missed: list[int]) -> bool:
    return len(missed) == 1


def _is_of_updates(cycle: Sequence[dict[str, Any]], _: list[int]) -> bool:
    return _writing(cycle).count(False) <= 1


_CONDITIONS = {
    "apart": lambda cycle, missed: _RW not in _after(cycle, missed),
    "prefix": lambda cycle, missed: not {_RW, _WW} & _after(cycle, missed),
    "single": _is_single,
    "cursor": _is_lost_update,
    "monotonic": _is_non_monotonic,
    "update": _is_of_updates,
}
