"""Sentences about circles of dependencies: who saw what, who missed what, and why both cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from isoscope.verdict import LostUpdateFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoscope.verdict import Anomaly, Step, Witness

__all__ = ["CONTRADICTIONS", "SENTENCES"]

#: Orders that clients give, whatever the keys.
_CLIENTS = ("session", "real-time")


def _circle(anomaly: Anomaly) -> str:
    """Each comes before the next, and the last before the first."""
    if against_time := _against_time(anomaly):
        return _out_of_time(*against_time)
    steps = anomaly.steps
    how = "each come before the other" if len(steps) == 2 else "come before each other in a circle"
    return f"{_all_of(steps)} {how}: {chain(steps)}."


def _no_order(anomaly: Anomaly) -> str:
    if against_time := _against_time(anomaly):
        return _turned_back(*against_time)
    if len(anomaly.steps) == 2:
        return f"So {_all_of(anomaly.steps)} would each have to come before the other."
    return f"So none of {_all_of(anomaly.steps)} can have come first."


def _all_of(steps: Sequence[Step]) -> str:
    return listed(list(dict.fromkeys(step.before for step in steps)))


def _against_time(anomaly: Anomaly) -> tuple[Step, Step] | None:
    """The clients' order of two transactions, and the one step that contradicts it."""
    by_clients = [step for step in anomaly.steps if step.relation in _CLIENTS]
    others = [step for step in anomaly.steps if step.relation not in _CLIENTS]
    return (by_clients[0], others[0]) if len(by_clients) == len(others) == 1 else None


def _turned_back(together: Step, against: Step) -> str:
    """It saw what was not yet there, or its version is the older one though it came later."""
    early, late = together.before, together.after
    is_session = together.relation == "session"
    if against.relation == "wr":
        when = (
            "ran only later in the same session" if is_session else f"began only after {early} had completed"
        )
        return f"So {early} saw what {late} wrote, although {late} {when}."
    order = "of the session" if is_session else "of real time"
    return f"So the versions of {key_in_words(against.key)} are in the opposite order {order}."


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
    missed, order, mine = _update(anomaly)
    rival = anomaly.facts_as(LostUpdateFacts).rival
    if len(anomaly.steps) == 2 and rival:
        why = f": {ordered(order[0])}" if order else ""
        fate = _which_was_lost(order, mine)
        return f"{_both_changed(rival, missed[0], mine)} {fate[0].upper()}{fate[1:]}{why}."
    seen, theirs, *_ = missed[0].witnesses
    return (
        f"{read(seen)} and then {did(mine)} {shown(mine.value)}{at(mine)}, but {_writing(theirs)} came in "
        f"between: {chain([*missed, *order])}."
    )


def _update(anomaly: Anomaly) -> tuple[list[Step], list[Step], Witness]:
    """What was missed, how the versions are ordered, and the write of him who missed the other's."""
    missed = [step for step in anomaly.steps if step.relation == "rw"]
    order = [step for step in anomaly.steps if step.relation == "ww"]
    return missed, order, missed[1].witnesses[1] if not order else writes(order[-1])[1]


def _both_changed(rival: Witness, missed: Step, mine: Witness) -> str:
    seen, theirs, *_ = missed.witnesses
    them, me = theirs.transaction, seen.transaction
    initial = ", the initial value," if missed.source == "initial" and seen.value != () else ""
    to_it = "appended to it" if mine.kind == OperationKind.APPEND else "wrote it"
    return (
        f"{them}{at(rival)} and {me}{at(seen)} both read {_value(seen)}{initial} and both {to_it}: "
        f"{them} {did(theirs)} {shown(theirs.value)}{at(theirs)} and {me} {did(mine)} {shown(mine.value)}"
        f"{at(mine)}, and neither saw the other's {change(mine)}."
    )


def _value(seen: Witness) -> str:
    return assignment(seen, *seen.value[-1:]) if isinstance(seen.value, tuple) else assignment(seen)


def _which_was_lost(order: list[Step], mine: Witness) -> str:
    is_append = mine.kind == OperationKind.APPEND
    if not order:
        return "whichever came second missed the first" if is_append else "whichever came first was lost"
    return f"{mine.transaction}'s came second" if is_append else f"{order[0].before}'s was lost"


def _overwritten_unseen(anomaly: Anomaly) -> str:
    missed, order, mine = _update(anomaly)
    seen, theirs, *_ = missed[0].witnesses
    them, me, kind = theirs.transaction, seen.transaction, change(mine)
    if len(anomaly.steps) == 2 and anomaly.facts_as(LostUpdateFacts).rival:
        both = f"{them} and {me} both changed {_value(seen)}"
        return f"So {both}, and neither saw the other's {kind}: {_which_was_lost(order, mine)}."
    key = key_in_words(seen.key)
    return f"So {_writing(theirs)} came between {me}'s read of {key} and its own {kind}."


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


def _seen_and_missed(anomaly: Anomaly) -> str:
    *path, missed = anomaly.steps
    if missed.relation != "rw":
        return _no_order(anomaly)
    reader, writer = missed.before, missed.after
    what = change(missed.witnesses[1])
    if len(path) == 1 and path[0].relation == "wr":
        return f"So {reader} {_torn(path[0], missed)}: it would have to come both after and before {writer}."
    if len(path) == 1 and path[0].relation == "session":
        return f"So {reader} missed the {what} of a transaction that ran before it in its session."
    if len(path) == 1 and path[0].relation == "real-time":
        return f"So the read was stale: {writer}'s {what} was complete before {reader} began."
    return f"So {reader} comes after {writer} and yet did not see its {what} to {key_in_words(missed.key)}."


def _stale(together: Step, missed: Step) -> str:
    if together.relation == "real-time":
        return f"Stale read: although {in_time(together)}, {overwritten(missed)}."
    return (
        f"Although {together.before} ran before {together.after} in {session(together.session)}, "
        f"{overwritten(missed)}."
    )


def _long_fork(anomaly: Anomaly) -> str:
    """Two readers each saw one update and not the other."""
    if not _is_fork(anomaly):
        return _circle(anomaly)
    saw, missed, saw_too, missed_too = anomaly.steps
    return (
        f"{_opposite_orders(anomaly)}: {because(saw)}, but {overwritten(missed, 'it')}; "
        f"{because(saw_too)}, but {overwritten(missed_too, 'it')}."
    )


def _opposite(anomaly: Anomaly) -> str:
    if not _is_fork(anomaly):
        return _no_order(anomaly)
    return f"So {_opposite_orders(anomaly)}."


def _is_fork(anomaly: Anomaly) -> bool:
    return [step.relation for step in anomaly.steps] == ["wr", "rw", "wr", "rw"]


def _opposite_orders(anomaly: Anomaly) -> str:
    saw, _, saw_too, _ = anomaly.steps
    updates = f"the updates of {saw.before} and {saw_too.before}"
    return f"{saw.after} and {saw_too.after} saw {updates} in opposite orders"


def _write_skew(anomaly: Anomaly) -> str:
    """Each read what the next then changed."""
    if not _is_blind(anomaly):
        return _circle(anomaly)
    changed, so = _changed(anomaly)
    return f"{changed}: {'; '.join(map(overwritten, anomaly.steps))}. So {so}."


def _unseen(anomaly: Anomaly) -> str:
    return "So {}: {}.".format(*_changed(anomaly)) if _is_blind(anomaly) else _no_order(anomaly)


def _is_blind(anomaly: Anomaly) -> bool:
    return {step.relation for step in anomaly.steps} == {"rw"}


def _changed(anomaly: Anomaly) -> tuple[str, str]:
    """What happened, and what would follow."""
    who = f"{_all_of(anomaly.steps)} each read what"
    if len(anomaly.steps) == 2:
        return f"{who} the other then changed", "each would have to come before the other"
    return f"{who} the next of them then changed, in a circle", "none of them can have come first"


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

CONTRADICTIONS: Mapping[str, Callable[[Anomaly], str]] = {
    "cyclic-causal-order": _no_order,
    "lost-update": _overwritten_unseen,
    **_in_every_order("write-cycle", _no_order),
    **_in_every_order("circular-information-flow", _no_order),
    **_in_every_order("read-skew", _seen_and_missed),
    **_in_every_order("long-fork", _opposite),
    **_in_every_order("write-skew", _unseen),
}
