"""Sentences about mechanisms that did not work, with the times of operations by the clients' clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.client_times import client_times_of
from isoscope.explain.operation_text import action, at, read_text, sentence
from isoscope.explain.value_text import key_in_words, same, shown
from isoscope.explain.wording import Wording
from isoscope.history import OperationKind
from isoscope.verdict import MechanismFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.verdict import Anomaly, Witness

__all__ = ["WORDINGS"]


def _when(anomaly: Anomaly, one: Witness, side: int) -> str:
    """When an operation was sent (0) or answered (1)."""
    time = (one.interval or (None, None))[side]
    return "an unknown time" if time is None else client_times_of(anomaly).said(time)


def _end(anomaly: Anomaly, one: Witness) -> Witness:
    """The operation inside which the transaction of another ended."""
    ends = anomaly.facts_as(MechanismFacts).ends
    return next(end for end in ends if end.transaction == one.transaction)


def _committed_by(anomaly: Anomaly, one: Witness) -> str:
    return f"committed at {_when(anomaly, _end(anomaly, one), 1)} at the latest"


def _not_committed_before(anomaly: Anomaly, one: Witness) -> str:
    return f"did not commit before {_when(anomaly, _end(anomaly, one), 0)}"


def _snapshot(anomaly: Anomaly, place: int, side: int) -> str:
    """The earliest (0) or latest (1) time of the snapshot of a witness."""
    snapshots = anomaly.facts_as(MechanismFacts).snapshots
    one = anomaly.witnesses[place]
    bound = ("earliest", "latest")[side]
    return f"{one.transaction}'s snapshot is of {_when(anomaly, snapshots[place], side)} at the {bound}"


def _origin(write: Witness) -> str:
    return f"which {write.transaction} wrote{at(write)}"


def _replaced(newer: Witness) -> str:
    """The write that hides a version."""
    if newer.kind == OperationKind.DELETE:
        return f"{newer.transaction} had deleted {key_in_words(newer.key)}{at(newer)}"
    return f"{newer.transaction} had written {key_in_words(newer.key)} = {shown(newer.value)}{at(newer)}"


def _stale(anomaly: Anomaly) -> str:
    seen, *served, newer = anomaly.witnesses
    from_ = f", {_origin(served[0])}" if served else ", the initial state"
    return (
        f"{read_text(seen)}{from_}; but {_replaced(newer)} after that and {_committed_by(anomaly, newer)}, "
        f"and {_snapshot(anomaly, 0, 0)}."
    )


def _future(anomaly: Anomaly) -> str:
    seen, write = anomaly.witnesses
    return (
        f"{read_text(seen)}, {_origin(write)}; but {write.transaction} "
        f"{_not_committed_before(anomaly, write)}, and {_snapshot(anomaly, 0, 1)}."
    )


def _aborted(anomaly: Anomaly) -> str:
    seen, write = anomaly.witnesses
    return f"{read_text(seen)}, {_origin(write)} and then rolled back."


def _intermediate(anomaly: Anomaly) -> str:
    seen, write = anomaly.witnesses
    return f"{read_text(seen)}, {_origin(write)} and replaced itself before it committed."


def _thin_air(anomaly: Anomaly) -> str:
    [seen] = anomaly.witnesses
    key = key_in_words(seen.key)
    if anomaly.facts_as(MechanismFacts).is_stream:
        # Settled transactions leave memory: the writer may have been among them.
        writer = "its writer, if it has one, is no longer in memory"
        return f"{read_text(seen)}, which {key} cannot have held then; {writer}."
    return f"{read_text(seen)}, but no transaction wrote that to {key}, and {key} cannot have held it then."


def _own(anomaly: Anomaly) -> str:
    seen, write = anomaly.witnesses
    return f"{read_text(seen)} although it had itself {_done(write)} before{at(write)}."


def _done(write: Witness) -> str:
    if write.kind == OperationKind.DELETE:
        return f"deleted {key_in_words(write.key)}"
    return f"written {key_in_words(write.key)} = {shown(write.value)}"


def _missing_row(anomaly: Anomaly) -> str:
    seen, *writes = anomaly.witnesses
    if not writes:
        return f"{read_text(seen)}, without a row that was there."
    [write] = writes
    start = f"{read_text(seen)}, without the row {key_in_words(write.key)}"
    if write.transaction == seen.transaction:
        return f"{start}, which it had itself {_done(write)} before{at(write)}."
    return (
        f"{start}; but {sentence(write)} and {_committed_by(anomaly, write)}, and {_snapshot(anomaly, 0, 0)}."
    )


def _torn(anomaly: Anomaly) -> str:
    earlier, newer, later, write = anomaly.witnesses
    also = f"it also {action(later)}{at(later)}, {_origin(write)}"
    if newer.transaction == write.transaction:
        return f"{read_text(earlier)}, and {also}: no one snapshot shows both."
    return (
        f"{read_text(earlier)}, and nothing of {newer.transaction}, which {action(newer)}{at(newer)} and "
        f"{_committed_by(anomaly, newer)}; {also}, and "
        f"{write.transaction} {_not_committed_before(anomaly, write)}: no one snapshot shows both."
    )


def _held(anomaly: Anomaly, one: Witness) -> str:
    """How long a lock was certainly held."""
    released = _when(anomaly, _end(anomaly, one), 0)
    return f"{one.transaction} had it by {_when(anomaly, one, 1)} and kept it to {released} or longer"


def _row_locked(anomaly: Anomaly) -> str:
    one, other = anomaly.witnesses
    on = (
        f"the lock on {key_in_words(one.key)}"
        if same(one.key, other.key)
        else "locks that exclude each other"
    )
    return (
        f"{sentence(one)} and {sentence(other)}, and both held {on} at the same time: {_held(anomaly, one)}, "
        f"{_held(anomaly, other)}."
    )


def _predicate_locked(anomaly: Anomaly) -> str:
    seen, write = anomaly.witnesses
    return (
        f"{sentence(seen)} and locked all rows that its predicate speaks of, also those that are not there; "
        f"but {sentence(write)} while it did: {_held(anomaly, seen)}, {_held(anomaly, write)}."
    )


def _locked_while_committing(anomaly: Anomaly) -> str:
    holder, writer = anomaly.witnesses
    return (
        f"{sentence(writer)} and committed while {holder.transaction} held a lock that forbids it: "
        f"{sentence(holder)}, {_held(anomaly, holder)}, and {writer.transaction} "
        f"{_not_committed_before(anomaly, writer)} and {_committed_by(anomaly, writer)}."
    )


def _both_updated(anomaly: Anomaly) -> str:
    one, other = anomaly.witnesses
    spans = [
        f"{_snapshot(anomaly, place, 1)} and it {_not_committed_before(anomaly, write)}"
        for place, write in enumerate(anomaly.witnesses)
    ]
    return (
        f"{sentence(one)} and {sentence(other)}, and both committed, although neither had committed when "
        f"the other took its snapshot: {', '.join(spans)}."
    )


def _dangerous(anomaly: Anomaly) -> str:
    first, missed, second, last = anomaly.witnesses
    pairs = ((first, missed), (second, last))
    start = "; ".join(f"{sentence(one)} and did not see that {sentence(other)}" for one, other in pairs)
    if first.transaction == last.transaction:
        return f"{start}. Both ran at the same time and both committed: one of them had to be refused."
    return (
        f"{start}. They ran at the same time, and {last.transaction} {_committed_by(anomaly, last)}, before "
        f"the others: one of them had to be refused."
    )


def _against_timestamps(anomaly: Anomaly) -> str:
    earlier, later = anomaly.witnesses
    ended = _when(anomaly, _end(anomaly, later), 1)
    return (
        f"{sentence(later)}, which depends on {earlier.transaction}: {sentence(earlier)}. But "
        f"{earlier.transaction} began only after {later.transaction} had ended, at {ended} at the "
        "latest: it had the newer timestamp."
    )


def _overwritten(anomaly: Anomaly) -> str:
    seen, write = anomaly.witnesses
    return (
        f"{sentence(seen)}; {sentence(write)} over that and {_committed_by(anomaly, write)}. "
        f"{seen.transaction}, which wrote something, committed all the same, and "
        f"{_not_committed_before(anomaly, seen)}."
    )


_BY = {
    "intervals": "the times of their commits",
    "locks": "the locks that they held",
    "snapshots": "their snapshots, since the first updater wins",
}


def _contradictory(anomaly: Anomaly) -> str:
    first, second, *reads = anomaly.witnesses
    sources = anomaly.facts.case.split("-")
    one, other = (_BY.get(source) or _sight(reads.pop(0)) for source in sources)
    key = key_in_words(first.key)
    return (
        f"{sentence(first)} and {sentence(second)}. By {one}, {first.transaction}'s version of {key} is the "
        f"older one; by {other}, it is the newer one. One of these mechanisms did not work."
    )


def _sight(seen: Witness) -> str:
    return f"{seen.transaction}'s read of {shown(seen.value)}{at(seen)}"


_CASES: Mapping[str, Callable[[Anomaly], str]] = {
    "stale": _stale,
    "future": _future,
    "aborted": _aborted,
    "intermediate": _intermediate,
    "thin-air": _thin_air,
    "own": _own,
    "missing-row": _missing_row,
    "torn": _torn,
    "row": _row_locked,
    "predicate": _predicate_locked,
    "commit": _locked_while_committing,
    "overlap": _both_updated,
    "ssi": _dangerous,
    "timestamp-order": _against_timestamps,
    "optimistic-reads": _overwritten,
    "optimistic-writes": _both_updated,
}


def _by_case(anomaly: Anomaly) -> str:
    return _CASES[anomaly.facts.case](anomaly)


WORDINGS: Mapping[str, Wording] = {
    "inconsistent-read": Wording(_by_case),
    "lock-violation": Wording(_by_case),
    "first-updater-violation": Wording(_by_case),
    "certifier-violation": Wording(_by_case),
    "contradictory-dependencies": Wording(_contradictory),
}
