"""Compare the second definition of explanations with `isoscope.check`.

`python -m tests.semantics.second_definition.comparison FIRST COUNT KIND` prints every class of difference
with its smallest example. A kind is made of words joined by `-`: `unknown` (initial values, otherwise 0);
`shaped` or `doubtful`, otherwise random; `mixed` at the end (aborted transactions and odd values, too).
"""

from __future__ import annotations

import sys
from collections import Counter

import isoscope
from isoscope.history import UNKNOWN, Initial, Operation, OperationKind, Transaction
from tests.semantics.second_definition.decision import DEFINED_PREFIX, TooManyError, decide, replay
from tests.semantics.second_definition.explanations import LEVELS, Case
from tests.semantics.second_definition.histories import make


def transactions(case: Case) -> list[Transaction]:
    """The history in the form that `isoscope.check` takes."""
    sessions = list(dict.fromkeys(txn.session for txn in case.txns))
    return [
        Transaction(
            number=number,
            id=number,
            session=sessions.index(txn.session),
            session_id=txn.session,
            status=txn.status,
            operations=tuple(
                Operation(
                    kind=OperationKind.WRITE if op.write else OperationKind.READ,
                    key=op.key,
                    value=UNKNOWN if op.value is None else op.value,
                )
                for op in txn.ops
            ),
        )
        for number, txn in enumerate(case.txns)
    ]


def tool(case: Case) -> dict[str, str]:
    """What `isoscope.check` answers."""
    initial = Initial(value=UNKNOWN if case.initial is None else case.initial)
    report = isoscope.check(transactions(case), levels=list(LEVELS), initial=initial)
    return {str(verdict.level): str(verdict.outcome.value) for verdict in report.verdicts}


def differences(case: Case) -> list[str]:
    """Every level whose answers differ, with both of them."""
    expected = case.answer = decide(case)
    found = []
    if expected["prefix"] != expected[DEFINED_PREFIX]:
        found.append("prefix: the two definitions differ")
    for level, sessions in (("serializable", False), ("strong-session-serializable", True)):
        if expected[level] != replay(case, sessions):
            found.append(f"{level}: the replay differs")
    given = tool(case)
    for level in LEVELS:
        mine = "holds" if expected[level] else "violated"
        if given[level] != mine:
            found.append(f"{level}: tool {given[level]}, words {mine}")
    return found


def describe(case: Case) -> str:
    """The history in short, one transaction a line."""
    lines = [f"  initial {'unknown' if case.initial is None else case.initial}"]
    for number, txn in enumerate(case.txns):
        ops = " ".join(
            f"{'w' if op.write else 'r'}({op.key},{'?' if op.value is None else op.value})" for op in txn.ops
        )
        lines.append(f"  T{number} session {txn.session} {txn.status.value}: {ops}")
    return "\n".join(lines)


def main(first: int, count: int, kind: str) -> None:
    """Compare, and print every class of difference with its smallest example."""
    classes: Counter[str] = Counter()
    smallest: dict[str, Case] = {}
    answers: Counter[str] = Counter()
    skipped = 0
    for seed in range(first, first + count):
        case = make(seed, kind)
        try:
            found = differences(case)
        except TooManyError:
            skipped += 1
            continue
        answers["compared"] += 1
        for level in (
            "pl-2",
            "parallel-snapshot-isolation",
            "snapshot-isolation",
            "prefix",
            "causal",
            "serializable",
        ):
            answers[level] += case.answer[level]
        for name in found:
            classes[name] += 1
            if name not in smallest or size(case) < size(smallest[name]):
                smallest[name] = case
    held = ", ".join(f"{level} {times}" for level, times in answers.items())
    sys.stdout.write(f"{kind}: {skipped} skipped; {held}\n")
    for name, times in sorted(classes.items()):
        sys.stdout.write(f"{times:6}  {name}\n{describe(smallest[name])}\n")


def size(case: Case) -> tuple[int, int]:
    """How large a history is."""
    return sum(len(txn.ops) for txn in case.txns), len(case.txns)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
