"""Small histories of registers whose values repeat, for the second definition of explanations."""

from __future__ import annotations

import random

from isoscope.history import Status
from tests.semantics.second_definition.explanations import Case, Op, Txn


def random_case(seed: int, kind: str) -> Case:
    """A small history; `kind` says whether initial values are known, and `-mixed` adds odd ones."""
    rng = random.Random(f"{kind}/{seed}")
    mixed = kind.endswith("mixed")
    sessions = rng.choice((1, 2, 2, 3, 4, 6))
    statuses = [Status.COMMITTED] * rng.choice((2, 3, 4, 4)) + [Status.INDETERMINATE] * rng.choice(
        (0, 0, 1, 1, 2)
    )
    if mixed and rng.random() < 0.5:
        statuses[0] = Status.ABORTED
    rng.shuffle(statuses)
    faithful = rng.choice((1.0, 1.0, 0.9, 0.4))
    start = rng.randint(0, 2) if kind.startswith("unknown") else 0
    plans = [plan(rng, mixed) for _ in statuses]
    states = {key: [start] for key in "xy"}
    for status, ops in zip(statuses, plans, strict=True):
        for op in ops:
            if op.write and (status is not Status.ABORTED):
                states[op.key].append(op.value or 0)
    txns = []
    for status, ops in zip(statuses, plans, strict=True):
        view = {key: rng.choice(values) for key, values in states.items()}
        done: list[Op] = []
        for op in ops:
            if op.write:
                view[op.key] = op.value or 0
                done.append(op)
                continue
            value: int | None = view[op.key] if rng.random() < faithful else rng.randint(0, 3 if mixed else 2)
            if status is Status.INDETERMINATE and rng.random() < 0.3:
                value = None
            done.append(Op(False, op.key, value))
        txns.append(Txn(rng.randrange(sessions), status, tuple(done)))
    return Case(tuple(txns), None if kind.startswith("unknown") else 0)


SHAPES = (
    ("wx1", "wy1", "rx1 ry0", "rx0 ry1"),  # long fork
    ("rx0 ry0 wx1", "rx0 ry0 wy1"),  # write skew
    ("rx0 wx1", "rx0 wx2"),  # lost update
    ("rx0 wx1", "rx0 wx1", "rx1"),  # lost update with a repeated value
    ("wx1", "rx1 wy1", "ry1 rx0"),  # causal chain
    ("wx1 wy1", "rx1 ry0"),  # read skew
    ("rx0 ry0 wx1", "rx0 ry0 wy1", "rx1 ry0", "wx1"),
    ("wx1 wy2", "wx2 wy1", "rx1 ry1"),
    ("rx0 wx1", "ry0 wy1", "rx1 ry0", "rx0 ry1"),  # long fork of updates
    ("rx1 wy1", "ry1 wx1", "wx1"),  # circular unless the value is of another
    ("rx0 wx1 wy1", "rx0 wx2", "ry1 rx2"),
)


def shaped_case(seed: int, kind: str) -> Case:
    """A known anomaly, a little disturbed, with other writers of its values."""
    rng = random.Random(f"{kind}/{seed}")
    bodies = [parse(text) for text in rng.choice(SHAPES)]
    statuses = [Status.INDETERMINATE if rng.random() < 0.1 else Status.COMMITTED for _ in bodies]
    while len(bodies) < 4 and rng.random() < 0.5:
        bodies.append(tuple(plan(rng, False)))
        statuses.append(Status.COMMITTED)
    while statuses.count(Status.INDETERMINATE) < 2 and len(bodies) < 6 and rng.random() < 0.5:
        bodies.append(tuple(plan(rng, False)))
        statuses.append(Status.INDETERMINATE)
    if kind.endswith("mixed") and rng.random() < 0.4:
        bodies.append(parse(rng.choice(("wx1", "wy1", "rx1 wy1", "wx1 wx2"))))
        statuses.append(Status.ABORTED)
    txns = []
    sessions = rng.choice((1, 2, 3, 6, 6, 6))
    for body, status in zip(bodies, statuses, strict=True):
        ops = [Op(op.write, op.key, disturbed(rng, op)) for op in body]
        txns.append(Txn(rng.randrange(sessions), status, tuple(ops)))
    if rng.random() < 0.5:
        rng.shuffle(txns)
    return Case(tuple(txns), None if kind.startswith("unknown") else 0)


def doubtful_case(seed: int, kind: str) -> Case:
    """Indeterminate transactions with odd reads and writes, which others may have read."""
    rng = random.Random(f"{kind}/{seed}")
    bodies = [(Status.COMMITTED, parse(rng.choice(("wx1", "wx1 wx2", "wx2 rx2", "wy1 wx1"))))]
    for _ in range(rng.choice((1, 1, 2))):
        text = rng.choice(
            ("rx0 rx1 wy1", "rx0 wy1", "rx1 rx0 wy1 wx2", "wy1 wy2", "rx1 wy1 rx2", "rx2 wy1 wx1")
        )
        bodies.append((Status.INDETERMINATE, parse(text)))
    for _ in range(rng.choice((1, 2, 2, 3))):
        text = rng.choice(
            ("ry1", "ry1 wy1", "ry1 wy2", "ry1 rx0", "ry1 rx1", "ry0", "wy1", "rx2 ry1", "ry2 rx1")
        )
        bodies.append((Status.COMMITTED, parse(text)))
    if kind.endswith("mixed") and rng.random() < 0.4:
        bodies.append((Status.ABORTED, parse(rng.choice(("wy1", "wx2 wx1", "ry2 wy2")))))
    sessions = rng.choice((1, 2, 3, 6))
    txns = [
        Txn(rng.randrange(sessions), status, tuple(Op(op.write, op.key, disturbed(rng, op)) for op in body))
        for status, body in bodies
    ]
    if rng.random() < 0.5:
        rng.shuffle(txns)
    return Case(tuple(txns), None if kind.startswith("unknown") else 0)


def make(seed: int, kind: str) -> Case:
    """The history of a seed."""
    if "doubtful" in kind:
        return doubtful_case(seed, kind)
    return (shaped_case if "shaped" in kind else random_case)(seed, kind)


def disturbed(rng: random.Random, op: Op) -> int:
    """The value of an operation, sometimes another one."""
    if rng.random() < 0.92:
        return op.value or 0
    return rng.randint(1 if op.write else 0, 2)


def parse(text: str) -> tuple[Op, ...]:
    """Operations such as `rx0 wy1`."""
    return tuple(Op(word[0] == "w", word[1], int(word[2:])) for word in text.split())


def plan(rng: random.Random, mixed: bool) -> list[Op]:
    """The operations of a transaction, before its reads have results."""
    ops = []
    for _ in range(rng.choice((1, 2, 2, 3, 3))):
        value = 0 if mixed and rng.random() < 0.1 else rng.randint(1, 2)
        ops.append(Op(rng.random() < 0.4, rng.choice("xy"), value))
    return ops
