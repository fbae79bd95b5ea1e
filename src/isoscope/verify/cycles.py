"""Cycles of a violation: every step is shown by the history, and the level forbids a cycle of such steps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope.verify.certificate import check_fields
from isoscope.verify.explanation import last_writes
from isoscope.verify.history import RejectedError
from isoscope.verify.levels import GUARANTEES
from isoscope.verify.reads import INITIAL

if TYPE_CHECKING:
    from isoscope.verify.certificate import Names
    from isoscope.verify.levels import Level
    from isoscope.verify.supposition import Supposition
    from isoscope.verify.version_order import Version

__all__ = ["chain", "check", "read_step"]

_FIELDS = {
    "wr": {"read"},
    "ww": {"versions"},
    "rw": {"read", "versions"},
    "session": set(),
    "real-time": set(),
    "initial": set(),
    "axiom": {"reader", "read", "sees"},
}
_WEAK = ("read-committed", "read-atomic", "causal")


class _Step(NamedTuple):
    """An edge; `left` and `entered` are places of the operations where it leaves and enters, -1 if none."""

    by: str
    start: int
    end: int
    left: int = -1
    entered: int = -1
    key: Any = None


def check(level: Level, supposition: Supposition, names: Names, content: Any) -> None:
    """Raise `RejectedError` unless the steps are a cycle that the level forbids."""
    if not isinstance(content, list) or len(content) < 2:
        raise RejectedError("a cycle has two steps at least")
    steps = [read_step(level, supposition, names, step) for step in content]
    for step, following in zip(steps, [*steps[1:], steps[0]], strict=True):
        if step.end != following.start:
            raise RejectedError("the steps of the cycle are not joined")
    _check_kinds(level, steps)
    condition = _CONDITIONS.get(level.kind)
    if condition is not None:
        condition(steps, supposition)


def chain(supposition: Supposition, names: Names, versions: Any) -> list[Version | None]:
    """Versions of one key, each known to come before the next."""
    if not isinstance(versions, list) or len(versions) < 2:
        raise RejectedError("a chain has two versions at least")
    found = [None if version is None else names.operation(version) for version in versions]
    keys = {supposition.key_of_version(version) for version in found if version is not None}
    if len(keys) != 1:
        raise RejectedError("a chain has versions of one key")
    (key,) = keys
    for one, two in pairwise(found):
        if not supposition.before(key, one, two):
            raise RejectedError(
                f"nothing shows that {_say(supposition, one)} comes before {_say(supposition, two)}"
            )
    return found


def _say(supposition: Supposition, version: Version | None) -> str:
    if version is None:
        return "the initial version"
    return f"the version of operation {version[1]} of {supposition.transactions[version[0]]}"


def read_step(level: Level, supposition: Supposition, names: Names, step: Any) -> _Step:
    """A step of a cycle; `RejectedError` unless the history shows it."""
    by = step.get("by") if isinstance(step, dict) else None
    if not isinstance(by, str) or by not in _FIELDS:
        raise RejectedError(f"{step!r} is no step")
    check_fields(step, {"by", "from", "to", *_FIELDS[by]}, f"a step by {by}")
    start, end = (_node(supposition, names, step.get(side)) for side in ("from", "to"))
    if start == end:
        raise RejectedError(f"a step by {by} leads from a transaction to itself")
    if by == "initial":
        if start != INITIAL:
            raise RejectedError("a step by initial starts at the implicit first transaction")
        return _Step(by, start, end)
    if by == "axiom":
        _check_axiom(level, supposition, names, step)
        return _Step(by, start, end)
    if INITIAL in (start, end):
        raise RejectedError(f"a step by {by} does not join the implicit first transaction")
    return _plain_step(supposition, names, step, _Step(by, start, end))


def _node(supposition: Supposition, names: Names, name: Any) -> int:
    if name is None:
        return INITIAL
    number = names.transaction(name)
    supposition.require(number)
    return number


def _plain_step(supposition: Supposition, names: Names, step: dict[str, Any], found: _Step) -> _Step:
    start, end = found.start, found.end
    one, two = supposition.transactions[start], supposition.transactions[end]
    if found.by == "session":
        if not supposition.in_session(start, end):
            raise RejectedError(f"{one} is not before {two} in a session")
        return found
    if found.by == "real-time":
        if not (supposition.in_real_time(start, end) or supposition.in_session(start, end)):
            raise RejectedError(f"nothing shows that {one} was over before {two} began")
        return found
    if found.by == "wr":
        place = names.place(end, step.get("read"))[1]
        if start not in supposition.dependencies(end, place):
            raise RejectedError(f"nothing shows that operation {place} of {two} reads from {one}")
        return found._replace(entered=place)
    return _version_step(supposition, names, step, found)


def _version_step(supposition: Supposition, names: Names, step: dict[str, Any], found: _Step) -> _Step:
    """A step by ww or rw, which rests on a chain of versions."""
    versions = chain(supposition, names, step.get("versions"))
    last = versions[-1]
    if last is None or last[0] != found.end:
        raise RejectedError(f"a step by {found.by} does not end with a version of its target")
    key = supposition.key_of_version(last)
    if found.by == "ww":
        if versions[0] is None or versions[0][0] != found.start:
            raise RejectedError("a step by ww does not start with a version of its source")
        return found._replace(entered=last[1], key=key)
    place = names.place(found.start, step.get("read"))[1]
    t, level = supposition.transactions[found.start], supposition.level
    if place in t.left_out and not level.phantoms:
        raise RejectedError("the level does not look at later versions of what a range read does not show")
    if t.operations[place][1] != key or supposition.version_read(found.start, place) != versions[0]:
        raise RejectedError(f"operation {place} of {t} does not read the first version of its step")
    return found._replace(left=place, entered=last[1], key=key)


def _check_axiom(level: Level, supposition: Supposition, names: Names, step: dict[str, Any]) -> None:
    """t3 reads the key from t1 and sees t2, which writes it: t2 comes before t1."""
    t2, t1 = (_node(supposition, names, step.get(side)) for side in ("from", "to"))
    t3 = names.transaction(step.get("reader"))
    place = names.place(t3, step.get("read"))[1]
    value = supposition.external_read(t3, place)
    key = supposition.transactions[t3].operations[place][1]
    if t2 == INITIAL or key not in last_writes(supposition.transactions[t2]):
        raise RejectedError("the transaction that is seen does not write the key")
    if supposition.source(t3, place) != t1:
        raise RejectedError(
            f"operation {place} of {supposition.transactions[t3]} reads from another transaction"
        )
    if isinstance(value, list) and any(t2 in supposition.writes.of(key, element) for element in value):
        raise RejectedError("the list shows an element of the transaction that is said to be missing")
    _check_sees(level, supposition, names, step, (t2, t3, place))


def _check_sees(
    level: Level, supposition: Supposition, names: Names, step: dict[str, Any], ends: tuple[int, int, int]
) -> None:
    t2, t3, place = ends
    sees = step.get("sees")
    if not isinstance(sees, list) or not sees or (level.kind != "causal" and len(sees) > 1):
        raise RejectedError("the axiom does not say how the transaction is seen, as its level needs")
    steps = [read_step(level, supposition, names, inner) for inner in sees]
    allowed = {"wr"} if level.kind == "read-committed" else {"wr", "session"}
    at = t2
    for inner in steps:
        if inner.by not in allowed or inner.start != at:
            raise RejectedError("the steps by which a transaction is seen are not joined, or of another kind")
        at = inner.end
    if at != t3 or (level.kind == "read-committed" and steps[0].entered >= place):
        raise RejectedError("the steps by which a transaction is seen do not lead to the reader")


def _check_kinds(level: Level, steps: list[_Step]) -> None:
    if level.kind == "cut" or level.kind in GUARANTEES:
        raise RejectedError("no cycle breaks the level")
    if level.kind in _WEAK:
        allowed = {"wr", "ww", "session", "initial", "axiom"}
    else:
        allowed = {"ww"} if level.kind == "pl-1" else {"ww", "wr"}
        allowed |= {"rw"} if level.kind in _CONDITIONS or level.kind == "serializable" else set()
        allowed |= {"session"} if level.sessions else set()
        allowed |= {"real-time"} if level.real_time else set()
    for step in steps:
        if step.by not in allowed:
            raise RejectedError(f"a cycle with a step by {step.by} does not break the level")


def _anti(steps: list[_Step]) -> list[int]:
    return [place for place, step in enumerate(steps) if step.by == "rw"]


def _single(steps: list[_Step], supposition: Supposition) -> None:
    del supposition
    if len(_anti(steps)) > 1:
        raise RejectedError("the cycle has more than one step by rw")


def _snapshot(steps: list[_Step], supposition: Supposition) -> None:
    del supposition
    _not_after(steps, {"rw"})


def _prefix(steps: list[_Step], supposition: Supposition) -> None:
    del supposition
    _not_after(steps, {"rw", "ww"})


def _not_after(steps: list[_Step], kinds: set[str]) -> None:
    for place in _anti(steps):
        if steps[place - 1].by in kinds:
            raise RejectedError(f"a step by rw stands directly after one by {steps[place - 1].by}")


def _cursor(steps: list[_Step], supposition: Supposition) -> None:
    del supposition
    if not _anti(steps):
        return
    if len(steps) != 2 or {step.by for step in steps} != {"rw", "ww"} or steps[0].key != steps[1].key:
        raise RejectedError("the cycle is not a lost update")


def _monotonic(steps: list[_Step], supposition: Supposition) -> None:
    del supposition
    found = _anti(steps)
    if not found:
        return
    before = steps[found[0] - 1]
    if len(found) > 1 or not 0 <= before.entered <= steps[found[0]].left:
        raise RejectedError(
            "the cycle does not lead into the read that missed a version, or an earlier operation"
        )


def _update(steps: list[_Step], supposition: Supposition) -> None:
    readers = {step.start for step in steps if not last_writes(supposition.transactions[step.start])}
    if _anti(steps) and len(readers) > 1:
        raise RejectedError("the cycle has more than one transaction that writes nothing")


_CONDITIONS = {
    "single": _single,
    "snapshot": _snapshot,
    "prefix": _prefix,
    "cursor": _cursor,
    "monotonic": _monotonic,
    "update": _update,
}
