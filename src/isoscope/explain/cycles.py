"""Sentences about cycles of dependencies: transactions that each come before the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.operation_text import (
    assignment,
    at,
    range_text,
    read_text,
    session_name,
    write_noun,
    wrote,
)
from isoscope.explain.steps import because, chain
from isoscope.explain.value_text import enumeration, key_in_words, same, shown
from isoscope.explain.version_order import missed_reason, order_reason, real_time_reason, version_writes
from isoscope.explain.wording import Wording
from isoscope.history import OperationKind
from isoscope.verdict import LostUpdateFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoscope.verdict import Anomaly, Step, Witness

__all__ = ["WORDINGS"]

#: Relations that order transactions whatever keys they use.
_CLIENT_ORDERS = ("session", "real-time")


def _cycle(anomaly: Anomaly) -> str:
    """Each transaction comes before the next, and the last before the first."""
    if contradicted := _contradicted_order(anomaly):
        return _wrong_order_message(*contradicted)
    steps = anomaly.steps
    how = "each come before the other" if len(steps) == 2 else "come before each other in a circle"
    return f"{_all_of(steps)} {how}: {chain(steps)}."


def _no_order(anomaly: Anomaly) -> str:
    if contradicted := _contradicted_order(anomaly):
        return _wrong_order_conclusion(*contradicted)
    if len(anomaly.steps) == 2:
        return f"So {_all_of(anomaly.steps)} would each have to come before the other."
    return f"So none of {_all_of(anomaly.steps)} can have come first."


def _all_of(steps: Sequence[Step]) -> str:
    return enumeration(list(dict.fromkeys(step.before for step in steps)))


def _contradicted_order(anomaly: Anomaly) -> tuple[Step, Step] | None:
    """A step by session or real time, and the one other step, which contradicts it."""
    by_clients = [step for step in anomaly.steps if step.relation in _CLIENT_ORDERS]
    others = [step for step in anomaly.steps if step.relation not in _CLIENT_ORDERS]
    return (by_clients[0], others[0]) if len(by_clients) == len(others) == 1 else None


def _wrong_order_conclusion(together: Step, against: Step) -> str:
    """A transaction read a value before it was written, or wrote the older version although it came later."""
    early, late = together.before, together.after
    is_session = together.relation == "session"
    if against.relation == "wr":
        when = (
            "ran only later in the same session" if is_session else f"began only after {early} had completed"
        )
        return f"So {early} saw what {late} wrote, although {late} {when}."
    order = "of the session" if is_session else "of real time"
    return f"So the versions of {key_in_words(against.key)} are in the opposite order {order}."


def _wrong_order_message(together: Step, against: Step) -> str:
    """A transaction read from one that came later, or overwrote the version of one that came later."""
    late = (
        real_time_reason(together)
        if together.relation == "real-time"
        else f"{together.after} ran only after {together.before} in {session_name(together.session)}"
    )
    if against.relation == "wr":
        return f"{because(against)}, although {late}."
    return f"Although {late}, {because(against)}."


def _lost_update(anomaly: Anomaly) -> str:
    """Two transactions changed a version that both read, or one changed a newer version than it read."""
    missed, order, later_write = _update_parts(anomaly)
    rival = anomaly.facts_as(LostUpdateFacts).rival
    if len(anomaly.steps) == 2 and rival:
        why = f": {order_reason(order[0])}" if order else ""
        fate = _which_was_lost(order, later_write)
        return f"{_both_changed(rival, missed[0], later_write)} {fate[0].upper()}{fate[1:]}{why}."
    seen, missed_write, *_ = missed[0].witnesses
    return (
        f"{read_text(seen)} and then {_wrote_value(later_write)}, but {_write_phrase(missed_write)} came in "
        f"between: {chain([*missed, *order])}."
    )


def _update_parts(anomaly: Anomaly) -> tuple[list[Step], list[Step], Witness]:
    """The steps of missed writes, the steps that order the versions, and the write that came second."""
    missed = [step for step in anomaly.steps if step.relation == "rw"]
    order = [step for step in anomaly.steps if step.relation == "ww"]
    return missed, order, missed[1].witnesses[1] if not order else version_writes(order[-1])[1]


def _both_changed(rival: Witness, missed: Step, later_write: Witness) -> str:
    seen, missed_write, *_ = missed.witnesses
    writer, reader = missed_write.transaction, seen.transaction
    initial = ", the initial value," if missed.source == "initial" and seen.value != () else ""
    to_it = "appended to it" if later_write.kind == OperationKind.APPEND else "wrote it"
    return (
        f"{writer}{at(rival)} and {reader}{at(seen)} both read {_value(seen)}{initial} and both {to_it}: "
        f"{writer} {_wrote_value(missed_write)} and {reader} {_wrote_value(later_write)}, and neither "
        f"saw the other's {write_noun(later_write)}."
    )


def _wrote_value(write: Witness) -> str:
    return f"{wrote(write)} {shown(write.value)}{at(write)}"


def _value(seen: Witness) -> str:
    return assignment(seen, *seen.value[-1:]) if isinstance(seen.value, tuple) else assignment(seen)


def _which_was_lost(order: list[Step], later_write: Witness) -> str:
    is_append = later_write.kind == OperationKind.APPEND
    if not order:
        return "whichever came second missed the first" if is_append else "whichever came first was lost"
    return f"{later_write.transaction}'s came second" if is_append else f"{order[0].before}'s was lost"


def _overwritten_unseen(anomaly: Anomaly) -> str:
    missed, order, later_write = _update_parts(anomaly)
    seen, missed_write, *_ = missed[0].witnesses
    writer, reader, kind = missed_write.transaction, seen.transaction, write_noun(later_write)
    if len(anomaly.steps) == 2 and anomaly.facts_as(LostUpdateFacts).rival:
        both = f"{writer} and {reader} both changed {_value(seen)}"
        return f"So {both}, and neither saw the other's {kind}: {_which_was_lost(order, later_write)}."
    key = key_in_words(seen.key)
    return f"So {_write_phrase(missed_write)} came between {reader}'s read of {key} and its own {kind}."


def _write_phrase(write: Witness) -> str:
    return f"{write.transaction}'s {write_noun(write)} of {shown(write.value)}{at(write)}"


def _read_skew(anomaly: Anomaly) -> str:
    """A transaction comes after another by its reads, its session or real time, and missed a write of it."""
    *path, missed = anomaly.steps
    if missed.relation != "rw":
        return _cycle(anomaly)
    if len(path) > 1:
        return f"{missed.before} comes after {missed.after}: {chain(path)}. But {missed_reason(missed)}."
    [step] = path
    if step.relation in _CLIENT_ORDERS:
        return _stale(step, missed)
    if step.relation == "ww":
        return (
            f"{step.after} comes after {step.before}, because {because(step)}. But {missed_reason(missed)}."
        )
    return f"{step.after} {_torn(step, missed)}: {because(step)}, but {missed_reason(missed, 'it')}."


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
    what = write_noun(missed.witnesses[1])
    if len(path) == 1 and path[0].relation == "wr":
        return f"So {reader} {_torn(path[0], missed)}: it would have to come both after and before {writer}."
    if len(path) == 1 and path[0].relation == "session":
        return f"So {reader} missed the {what} of a transaction that ran before it in its session."
    if len(path) == 1 and path[0].relation == "real-time":
        return f"So the read was stale: {writer}'s {what} was complete before {reader} began."
    return f"So {reader} comes after {writer} and yet did not see its {what} to {key_in_words(missed.key)}."


def _stale(together: Step, missed: Step) -> str:
    if together.relation == "real-time":
        return f"Stale read: although {real_time_reason(together)}, {missed_reason(missed)}."
    return (
        f"Although {together.before} ran before {together.after} in {session_name(together.session)}, "
        f"{missed_reason(missed)}."
    )


def _long_fork(anomaly: Anomaly) -> str:
    """Two readers each saw one of two updates and missed the other."""
    if not _is_fork(anomaly):
        return _cycle(anomaly)
    saw, missed, saw_too, missed_too = anomaly.steps
    return (
        f"{_opposite_orders(anomaly)}: {because(saw)}, but {missed_reason(missed, 'it')}; "
        f"{because(saw_too)}, but {missed_reason(missed_too, 'it')}."
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
    """Each transaction read a version that the next then changed."""
    if not _is_blind(anomaly):
        return _cycle(anomaly)
    changed, so = _changed(anomaly)
    return f"{changed}: {'; '.join(map(missed_reason, anomaly.steps))}. So {so}."


def _unseen(anomaly: Anomaly) -> str:
    return "So {}: {}.".format(*_changed(anomaly)) if _is_blind(anomaly) else _no_order(anomaly)


def _is_blind(anomaly: Anomaly) -> bool:
    return {step.relation for step in anomaly.steps} == {"rw"}


def _changed(anomaly: Anomaly) -> tuple[str, str]:
    """The event, and its consequence."""
    each = f"{_all_of(anomaly.steps)} each read what"
    if len(anomaly.steps) == 2:
        return f"{each} the other then changed", "each would have to come before the other"
    return f"{each} the next of them then changed, in a circle", "none of them can have come first"


def _phantom(anomaly: Anomaly) -> str:
    """A range read did not show a row that another transaction wrote, and yet comes after it."""
    missed, *path = anomaly.steps
    seen, write = missed.witnesses[:2]
    asked = range_text(seen.asked) if seen.asked is not None else key_in_words(missed.key)
    what = "delete" if write.kind == OperationKind.DELETE else write.kind
    return (
        f"{seen.transaction} asked for {asked}{at(seen)} and did not see {write.transaction}'s {what} of "
        f"{key_in_words(missed.key)}{at(write)}, so it came before. But {chain(path)}."
    )


def _before_each_other(anomaly: Anomaly) -> str:
    missed = anomaly.steps[0]
    return f"So {missed.before} and {missed.after} would each have to come before the other."


def _by_real_time(contradiction: Callable[[Anomaly], str]) -> Callable[[Anomaly], str]:
    """The same sentence, and what real time has to do with a cycle that has no step of real time."""

    def told(anomaly: Anomaly) -> str:
        said = contradiction(anomaly)
        if any(step.relation == "real-time" for step in anomaly.steps):
            return said
        ordered = (step.key for step in anomaly.steps if step.source == "real-time")
        keys = list(dict.fromkeys(map(key_in_words, ordered)))
        return f"{said} Only real time orders the versions of {enumeration(keys)}." if keys else said

    return told


def _for_each_order(
    name: str, message: Callable[[Anomaly], str], contradiction: Callable[[Anomaly], str]
) -> dict[str, Wording]:
    return {
        name: Wording(message, contradiction),
        f"{name}-session": Wording(message, contradiction),
        f"{name}-real-time": Wording(message, _by_real_time(contradiction)),
    }


WORDINGS: Mapping[str, Wording] = {
    "cyclic-causal-order": Wording(_cycle, _no_order),
    "lost-update": Wording(_lost_update, _overwritten_unseen),
    "phantom": Wording(_phantom, _before_each_other),
    **_for_each_order("write-cycle", _cycle, _no_order),
    **_for_each_order("circular-information-flow", _cycle, _no_order),
    **_for_each_order("read-skew", _read_skew, _seen_and_missed),
    **_for_each_order("long-fork", _long_fork, _opposite),
    **_for_each_order("write-skew", _write_skew, _unseen),
}
