"""Sentences about circles of dependencies: who saw what, who missed what, and why both cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isoscope.explain.orders import in_time, ordered, overwritten, writes
from isoscope.explain.phrases import (
    assignment,
    at,
    change,
    did,
    key_in_words,
    listed,
    read,
    same,
    session,
    shown,
)
from isoscope.explain.steps import because, chain
from isoscope.history import OperationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.verdict import Anomaly, Step, Witness

__all__ = ["SENTENCES"]

#: Orders that clients give, whatever the keys.
_CLIENTS = ("session", "real-time")


def _circle(anomaly: Anomaly) -> str:
    """Each comes before the next, and the last before the first."""
    steps = anomaly.steps
    by_clients = [step for step in steps if step.relation in _CLIENTS]
    others = [step for step in steps if step.relation not in _CLIENTS]
    if len(by_clients) == len(others) == 1:
        return _out_of_time(*by_clients, *others)
    who = listed(list(dict.fromkeys(step.before for step in steps)))
    how = "each come before the other" if len(steps) == 2 else "come before each other in a circle"
    return f"{who} {how}: {chain(steps)}."


def _out_of_time(together: Step, against: Step) -> str:
    """One saw another, or was overwritten by it, that came only later or earlier."""
    late = (
        in_time(together)
        if together.relation == "real-time"
        else f"{together.after} ran only after {together.before} in {session(together.session)}"
    )
    if against.relation == "wr":
        return f"{because(against)}, although {late}."
    return f"Although {late}, {because(against)}."


def _lost_update(anomaly: Anomaly) -> str:
    """Two changed a version that both had read, or one changed what had changed since it read it."""
    missed = [step for step in anomaly.steps if step.relation == "rw"]
    order = [step for step in anomaly.steps if step.relation == "ww"]
    mine = missed[1].witnesses[1] if not order else writes(order[-1])[1]
    if len(anomaly.steps) == 2 and anomaly.facts["rival"]:
        return f"{_both_changed(anomaly, missed[0], mine)} {_which_was_lost(order, mine)}"
    seen, theirs, *_ = missed[0].witnesses
    return (
        f"{read(seen)} and then {did(mine)} {shown(mine.value)}{at(mine)}, but {_writing(theirs)} came in "
        f"between: {chain([*missed, *order])}."
    )


def _both_changed(anomaly: Anomaly, missed: Step, mine: Witness) -> str:
    [rival] = cast("tuple[Witness]", anomaly.facts["rival"])
    seen, theirs, *_ = missed.witnesses
    them, me = theirs.transaction, seen.transaction
    initial = ", the initial value," if missed.source == "initial" and seen.value != () else ""
    to_it = "appended to it" if mine.kind == OperationKind.APPEND else "wrote it"
    value = assignment(seen, *seen.value[-1:]) if isinstance(seen.value, tuple) else assignment(seen)
    return (
        f"{them}{at(rival)} and {me}{at(seen)} both read {value}{initial} and both {to_it}: "
        f"{them} {did(theirs)} {shown(theirs.value)}{at(theirs)} and {me} {did(mine)} {shown(mine.value)}"
        f"{at(mine)}, and neither saw the other's {change(mine)}."
    )


def _which_was_lost(order: list[Step], mine: Witness) -> str:
    is_append = mine.kind == OperationKind.APPEND
    if not order:
        return "Whichever came second missed the first." if is_append else "Whichever came first was lost."
    lost = f"{mine.transaction}'s came second" if is_append else f"{order[0].before}'s was lost"
    return f"{lost}: {ordered(order[0])}."


def _writing(write: Witness) -> str:
    return f"{write.transaction}'s {change(write)} of {shown(write.value)}{at(write)}"


def _read_skew(anomaly: Anomaly) -> str:
    """It comes after somebody by what it saw, or by the clients' order, and missed a write of him."""
    *path, missed = anomaly.steps
    if missed.relation != "rw":
        return _circle(anomaly)
    if len(path) > 1:
        return f"{missed.before} comes after {missed.after}: {chain(path)}. But {overwritten(missed)}."
    [step] = path
    if step.relation in _CLIENTS:
        return _stale(step, missed)
    if step.relation == "ww":
        return f"{step.after} comes after {step.before}, because {because(step)}. But {overwritten(missed)}."
    return f"{step.after} {_torn(step, missed)}: {because(step)}, but {overwritten(missed, 'it')}."


def _torn(step: Step, missed: Step) -> str:
    if step.witnesses[0] == missed.witnesses[0]:
        return f"saw {key_in_words(step.key)} while {step.before} was still changing it"
    if same(step.key, missed.key):
        return f"saw {key_in_words(step.key)} before and after {step.before} changed it"
    return f"saw only part of what {step.before} wrote"


def _stale(together: Step, missed: Step) -> str:
    if together.relation == "real-time":
        return f"Stale read: although {in_time(together)}, {overwritten(missed)}."
    return (
        f"Although {together.before} ran before {together.after} in {session(together.session)}, "
        f"{overwritten(missed)}."
    )


def _long_fork(anomaly: Anomaly) -> str:
    """Two readers each saw one update and not the other."""
    if [step.relation for step in anomaly.steps] != ["wr", "rw", "wr", "rw"]:
        return _circle(anomaly)
    saw, missed, saw_too, missed_too = anomaly.steps
    return (
        f"{saw.after} and {saw_too.after} saw the updates of {saw.before} and {saw_too.before} in opposite "
        f"orders: {because(saw)}, but {overwritten(missed, 'it')}; "
        f"{because(saw_too)}, but {overwritten(missed_too, 'it')}."
    )


def _write_skew(anomaly: Anomaly) -> str:
    """Each read what the next then changed."""
    steps = anomaly.steps
    if {step.relation for step in steps} != {"rw"}:
        return _circle(anomaly)
    who = listed([step.before for step in steps])
    what = "the other then changed" if len(steps) == 2 else "the next of them then changed, in a circle"
    so = "each would have to come before the other" if len(steps) == 2 else "none of them can have come first"
    return f"{who} each read what {what}: {'; '.join(map(overwritten, steps))}. So {so}."


def _in_every_order(name: str, sentence: Callable[[Anomaly], str]) -> dict[str, Callable[[Anomaly], str]]:
    return {f"{name}{suffix}": sentence for suffix in ("", "-session", "-real-time")}


SENTENCES: Mapping[str, Callable[[Anomaly], str]] = {
    "cyclic-causal-order": _circle,
    "lost-update": _lost_update,
    **_in_every_order("write-cycle", _circle),
    **_in_every_order("circular-information-flow", _circle),
    **_in_every_order("read-skew", _read_skew),
    **_in_every_order("long-fork", _long_fork),
    **_in_every_order("write-skew", _write_skew),
}
