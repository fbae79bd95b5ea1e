"""A cycle that a query found, as the counterexample that reports show and draw."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from isoscope.checkers.participants import with_participants
from isoscope.checkers.steps import cycle
from isoscope.checkers.witnesses import witness
from isoscope.graphdb.model import NEVER
from isoscope.verdict import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.graphdb.stored_history import StoredHistory
    from isoscope.verdict import Anomaly, Witness

__all__ = ["Cycle", "anomaly_name", "cycle_of"]


@dataclass(frozen=True, slots=True)
class Cycle:
    """The numbers of transactions in order, the relation from each to the next, and the counterexample."""

    transactions: tuple[int, ...]
    relations: tuple[str, ...]
    anomaly: Anomaly

    def __str__(self) -> str:
        """`T1 (ww) T2 (rw) T1`, the text of the thesis."""
        names = [step.before for step in self.anomaly.steps]
        path = "".join(f"{step.before} ({step.relation}) " for step in self.anomaly.steps)
        return f"{path}{names[0]}"


def cycle_of(history: StoredHistory, edges: Sequence[Mapping[str, Any]]) -> Cycle:
    """The cycle of these edges of a stored graph, from its smallest transaction on."""
    parts = [part for edge in edges for part in _dependencies(history, edge)]
    first = min(range(len(parts)), key=lambda place: (parts[place]["before"], place))
    turned = [*parts[first:], *parts[:first]]
    steps = tuple(_step(history, edge) for edge in turned)
    relations = tuple(step.relation for step in steps)
    numbers = tuple(edge["before"] for edge in turned)
    found = with_participants(history, cycle(anomaly_name(relations), _ending_with_rw(steps)), numbers)
    return Cycle(numbers, relations, found)


def anomaly_name(relations: Sequence[str]) -> str:
    """The name of a cycle by its relations (Adya 1999; Kingsbury and Alvaro 2020)."""
    missed = [place for place, relation in enumerate(relations) if relation == "rw"]
    if not missed:
        return "write-cycle" if set(relations) == {"ww"} else "circular-information-flow"
    if len(missed) == 1:
        return "read-skew"
    is_adjacent = any(relations[(place + 1) % len(relations)] == "rw" for place in missed)
    return "write-skew" if is_adjacent else "long-fork"


def _dependencies(history: StoredHistory, edge: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The edge itself; of a `snapshot` edge the dependencies that it is made of."""
    if edge["first_operation"] != NEVER:
        yield edge
        return
    relations = edge["type"].split()
    ends = [edge["before"], *([edge["via"]] if edge["via"] != NEVER else []), edge["after"]]
    for relation, (before, after) in zip(relations, pairwise(ends), strict=True):
        yield next(row for row in history.edges(before, after) if row["type"] == relation)


def _step(history: StoredHistory, edge: Mapping[str, Any]) -> Step:
    first, second = (witness(history, edge[end]) for end in ("first_operation", "second_operation"))
    return Step(
        before=first.transaction,
        after=second.transaction,
        relation=edge["type"],
        key=first.key,
        witnesses=_witnesses(edge["type"], first, second),
        source=edge["source"],
    )


def _witnesses(relation: str, first: Witness, second: Witness) -> tuple[Witness, ...]:
    """In the order of reports: of `wr`, the read and then the write."""
    return (second, first) if relation == "wr" else (first, second)


def _ending_with_rw(steps: Sequence[Step]) -> tuple[Step, ...]:
    for place in range(len(steps)):
        if steps[place - 1].relation == "rw" and steps[place].relation != "rw":
            return (*steps[place:], *steps[:place])
    return tuple(steps)
