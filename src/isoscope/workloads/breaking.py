"""Which isolation satisfies a level, and which few transactions break another.

A script runs on keys that nothing else uses, so the other transactions do not change which levels it breaks
and keeps: every commit order of the others has room for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.levels import Level, implied

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCRIPTS", "Plan", "Read", "Scene", "Script", "Write", "plan"]


@dataclass(frozen=True, slots=True)
class Write:
    """Writes the next value of a key: 1, then 2."""

    key: str

    @property
    def writes(self) -> None:
        """Nothing is read."""


@dataclass(frozen=True, slots=True)
class Read:
    """Reads a key as its first `writes` writes left it, committed or not; with 0 its initial value."""

    key: str
    writes: int


@dataclass(frozen=True, slots=True)
class Scene:
    """One transaction. Different sessions are different ones, as far as the workload has enough."""

    session: int
    operations: tuple[Read | Write, ...]
    aborted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Transactions in commit order; `keeps` are the strongest levels that they satisfy. Keys are x and y."""

    scenes: tuple[Scene, ...]
    keeps: tuple[Level, ...]
    sessions: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An isolation, by its name in the native core, and a script that runs on it."""

    store: str
    script: Script | None

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The transactions of the script."""
        return self.script.scenes if self.script else ()


#: The weakest level that each script breaks.
SCRIPTS: Mapping[Level, Script] = MappingProxyType(
    {
        # A read shows a write that is rolled back.
        Level.PL_2: Script(
            scenes=(
                Scene(0, (Write("x"),), aborted=True),
                Scene(1, (Read("x", 1),)),
            ),
            keeps=(Level.CUT_ISOLATION, Level.PL_1),
        ),
        # A transaction reads the new y, and then the old x.
        Level.READ_COMMITTED: Script(
            scenes=(
                Scene(0, (Write("x"), Write("y"))),
                Scene(1, (Read("y", 1), Read("x", 0))),
            ),
            keeps=(Level.CUT_ISOLATION, Level.PL_2),
        ),
        # Two reads of the same key differ.
        Level.CUT_ISOLATION: Script(
            scenes=(
                Scene(0, (Write("x"),)),
                Scene(1, (Read("x", 0), Read("x", 1))),
            ),
            keeps=(Level.READ_COMMITTED,),
        ),
        # A transaction sees one half of another.
        Level.READ_ATOMIC: Script(
            scenes=(
                Scene(0, (Write("x"), Write("y"))),
                Scene(1, (Read("x", 0), Read("y", 1))),
            ),
            keeps=(Level.READ_COMMITTED, Level.CUT_ISOLATION),
        ),
        # A transaction sees an effect without its cause. With two sessions, the first two scenes share one.
        Level.CAUSAL: Script(
            scenes=(
                Scene(0, (Write("x"),)),
                Scene(2, (Read("x", 1), Write("y"))),
                Scene(1, (Read("y", 1), Read("x", 0))),
            ),
            keeps=(Level.READ_ATOMIC,),
            sessions=2,
        ),
        # A long fork: each session sees its own write and not the other's.
        Level.PREFIX: Script(
            scenes=(
                Scene(0, (Write("x"),)),
                Scene(1, (Write("y"),)),
                Scene(0, (Read("y", 0),)),
                Scene(1, (Read("x", 0),)),
            ),
            keeps=(Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,),
            sessions=2,
        ),
    }
)

#: Isolations of the native core, the weakest first, and the levels that all of their histories satisfy.
_STORES = {
    level.value: implied(level)
    for level in (Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL, Level.STRONG_SNAPSHOT_ISOLATION)
}
_STORES["serial"] = frozenset(Level)
#: Every session keeps a vector with a place for every other.
_MOST_CAUSAL_SESSIONS = 10_000


def plan(level: Level | None, breaks: Level | None, *, sessions: int, transactions: int) -> Plan:
    """The weakest isolation for `level`, with the script that breaks `breaks`.

    Without `level`: for every level that the script keeps, or without a script for every level.
    """
    if breaks is None:
        return Plan(store="serial" if level is None else _store({level}, sessions), script=None)
    script = _script(level, breaks)
    if sessions < script.sessions:
        raise UsageError(f"breaking {breaks} takes {script.sessions} sessions\n\nhint: raise --sessions")
    if transactions < len(script.scenes):
        raise UsageError(
            f"breaking {breaks} takes {len(script.scenes)} transactions\n\nhint: raise --transactions"
        )
    return Plan(store=_store(set(script.keeps) if level is None else {level}, sessions), script=script)


def _store(levels: set[Level], sessions: int) -> str:
    store = next(name for name, satisfied in _STORES.items() if levels <= satisfied)
    if store == Level.CAUSAL and sessions > _MOST_CAUSAL_SESSIONS:
        raise UsageError(
            f"a causal store takes at most {_MOST_CAUSAL_SESSIONS:,} sessions\n\nhint: lower --sessions"
        )
    return store


def _script(level: Level | None, breaks: Level) -> Script:
    """The script that breaks `breaks` and keeps `level`."""
    if breaks not in SCRIPTS:
        raise UsageError(f"no script breaks {breaks}\n\nhint: one breaks each of {_names(SCRIPTS)}")
    script = SCRIPTS[breaks]
    if level is None:
        return script
    if breaks in implied(level):
        raise UsageError(f"whatever satisfies {level} also satisfies {breaks}\n\n{_hint(level)}")
    if not any(level in implied(kept) for kept in script.keeps):
        raise UsageError(
            f"what breaks {breaks} here also breaks {level}\n\n"
            f"hint: it keeps {_names(script.keeps)} and what these imply"
        )
    return script


def _hint(level: Level) -> str:
    fitting = [
        breaks
        for breaks, script in SCRIPTS.items()
        if breaks not in implied(level) and any(level in implied(kept) for kept in script.keeps)
    ]
    return (
        f"hint: with --level {level} it can be {_names(fitting)}"
        if fitting
        else "hint: ask for a weaker --level"
    )


def _names(levels: Mapping[Level, Script] | tuple[Level, ...] | list[Level]) -> str:
    return ", ".join(map(str, levels))
