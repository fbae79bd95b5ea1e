"""Reads that no order of transactions can excuse: TAP-a to TAP-f break PL-2, TAP-j cut isolation.

Liu et al. 2024 (Plume), Table 1; DESIGN's rules for lists, repeated values and unknown initial values.
`reference/reads.py` is the specification, `rust/kernel/src/reads.rs` the engine. Cost: near linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import History, Operation, OperationKind, Transaction
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Method, Outcome, Step, Verdict, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import Scalar

__all__ = ["LEVELS", "METHOD", "NAMES", "check"]

METHOD = Method.VALUES
LEVELS = (Level.PL_2, Level.CUT_ISOLATION)

#: The anomalies, by the numbers that the native core gives them.
NAMES = (
    "thin-air-read",
    "aborted-read",
    "future-read",
    "not-my-own-write",
    "not-my-last-write",
    "intermediate-read",
    "non-repeatable-read",
)
_LONGEST_KEY = 40
_LEVEL_OF = dict.fromkeys(NAMES, Level.PL_2) | {"non-repeatable-read": Level.CUT_ISOLATION}


def check(history: History, *, most: int = 10) -> Iterator[Verdict]:
    """What the reads alone say: PL-2 violated or unknown, cut isolation decided."""
    counts, findings, aside = history.columns.judge_reads(most)
    anomalies = [_Finding(history, *finding).anomaly() for finding in findings]
    # No read is at fault for these two reasons; what could not be judged may still hide one.
    unordered = "no single read breaks it; no method of this version orders the transactions"
    reasons = {Level.PL_2: unordered, Level.CUT_ISOLATION: ""}
    for level in LEVELS:
        found = {name: count for name, count in zip(NAMES, counts, strict=True) if _LEVEL_OF[name] is level}
        shown = tuple(anomaly for anomaly in anomalies if anomaly.name in found)
        reason = _unjudged(level, aside) or reasons[level]
        yield _verdict(level, {name: count for name, count in found.items() if count}, shown, reason)


def _verdict(level: Level, counts: dict[str, int], shown: tuple[Anomaly, ...], reason: str) -> Verdict:
    if counts:
        outcome, reason = Outcome.VIOLATED, ""
    else:
        outcome = Outcome.UNKNOWN if reason else Outcome.HOLDS
    return Verdict(
        level=level,
        outcome=outcome,
        method=METHOD,
        reason=reason,
        anomaly_counts=counts,
        anomalies=shown,
    )


def _unjudged(level: Level, aside: tuple[int, list[Scalar], list[Scalar], list[Scalar], int]) -> str:
    """Why a level without an anomaly is still not known to hold."""
    repeated_reads, repeated_keys, deleted_keys, mixed_keys, range_reads = aside
    reasons = []
    # Whoever wrote them, two equal values do not differ: cut isolation needs no unique writers.
    if repeated_reads and level is not Level.CUT_ISOLATION:
        reads = "1 read" if repeated_reads == 1 else f"{repeated_reads} reads"
        reasons.append(f"{reads} saw values that several transactions wrote ({_keys(repeated_keys)})")
    if deleted_keys:
        reasons.append(f"operation kind `delete` is not judged ({_keys(deleted_keys)})")
    if mixed_keys:
        reasons.append(f"keys are both written and appended to ({_keys(mixed_keys)})")
    if range_reads:
        reasons.append(f"operation kind `range-read` is not judged ({range_reads} of them)")
    return "; ".join(reasons)


def _keys(keys: list[Scalar]) -> str:
    shown = ", ".join(map(_harmless, keys[:3]))
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return f"key{'s' if len(keys) > 1 else ''} {shown}{more}"


def _harmless(key: Scalar) -> str:
    """The key on one line, short, without anything that a terminal would obey."""
    text = str(key) if str(key).isprintable() else ascii(key)
    return text if len(text) <= _LONGEST_KEY else f"{text[:_LONGEST_KEY]}..."


class _Finding:
    """One finding of the native core, with the transactions that it is about."""

    def __init__(self, history: History, name: int, read: int, other: int | None, value: Scalar) -> None:
        self.history = history
        self.name = NAMES[name]
        self.value = value
        self.reader, self.read = self._locate(read)
        self.writer: Transaction | None = None
        self.other: Operation | None = None
        if other is not None:
            self.writer, self.other = self._locate(other)

    def _locate(self, operation: int) -> tuple[Transaction, Operation]:
        number, place = self.history.columns.locate(operation)
        transaction = self.history.transaction(number)
        return transaction, transaction.operations[place]

    def anomaly(self) -> Anomaly:
        witnesses = [self._witness(self.reader, self.read)]
        if self.writer is not None and self.other is not None:
            witnesses.append(self._witness(self.writer, self.other))
        if replacement := self._replacement():
            witnesses.append(replacement)
        names = dict.fromkeys(witness.transaction for witness in witnesses)
        return Anomaly(
            name=self.name,
            transactions=tuple(names),
            keys=(self.read.key,),
            witnesses=tuple(witnesses),
            steps=self._steps(tuple(witnesses)),
            facts={"value": self.value, "initial": self._initial()},
        )

    def _witness(self, transaction: Transaction, operation: Operation) -> Witness:
        return Witness(
            transaction=transaction.label,
            kind=str(operation.kind),
            key=operation.key,
            value=operation.value,
            place=self.history.source.place(operation.line) if operation.line else "",
        )

    def _replacement(self) -> Witness | None:
        """The last write of the key by the transaction whose intermediate write was read."""
        if self.name != "intermediate-read" or self.writer is None:
            return None
        installs = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.APPEND)
        # 1, 1.0 and True are three keys, though Python calls them equal.
        key = (type(self.read.key), str(self.read.key))
        writes = [
            o for o in self.writer.operations if o.kind in installs and (type(o.key), str(o.key)) == key
        ]
        return self._witness(self.writer, writes[-1])

    def _steps(self, witnesses: tuple[Witness, ...]) -> tuple[Step, ...]:
        if self.name not in ("aborted-read", "intermediate-read") or self.writer is None:
            return ()
        step = Step(
            before=self.writer.label,
            after=self.reader.label,
            relation="wr",
            key=self.read.key,
            witnesses=witnesses[:2],
        )
        return (step,)

    def _initial(self) -> object:
        initial = self.history.initial
        return initial.of_key.get(self.read.key, initial.value)
