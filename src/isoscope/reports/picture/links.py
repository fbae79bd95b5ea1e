"""The arrows of a picture: the steps of a proof, and the reads and writes that complete it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.reports.picture.labels import key
from isoscope.reports.relations import KEYLESS
from isoscope.verdict import ConflictFacts, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.verdict import Anomaly

__all__ = ["MISSED", "Link", "closing", "links"]

#: The step of the arrow that closes the circle of a conflict: the reader did not see the later write.
MISSED = "missed"
#: Sources of an order of versions that the history does not record.
_INFERRED = ("initial", "read-then-write", "session", "real-time", "supposed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An arrow before it has a place.

    `step` is the number of a step of the anomaly, `3.served` for the read that shows step 3, or `missed`.
    `start` and `end` are operations of `before` and of `after`; None stands for the whole transaction.
    """

    step: str
    before: str
    after: str
    relation: str
    label: str
    inferred: bool
    operations: tuple[tuple[str, int], ...] = ()
    start: int | None = None
    end: int | None = None


def links(steps: Sequence[Step], *, first: int = 0) -> tuple[Link, ...]:
    """An arrow for every step, counted from `first`, and for the reads that the steps rest on."""
    found = [_link(str(number), step) for number, step in enumerate(steps, start=first)]
    known = set(map(_identity, found))
    served = (link for number, step in enumerate(steps, start=first) for link in _served(number, step))
    return (*found, *(link for link in served if _identity(link) not in known))


def _identity(link: Link) -> tuple[str, str, str, str]:
    return link.before, link.after, link.relation, link.label


def closing(anomaly: Anomaly) -> tuple[Link, ...]:
    """Of a conflict, the arrow from the read to the write that it missed."""
    if not isinstance(anomaly.facts, ConflictFacts) or not anomaly.witnesses:
        return ()
    stale, write = anomaly.witnesses[0], anomaly.facts.write
    step = Step(
        before=stale.transaction,
        after=write.transaction,
        relation="rw",
        key=stale.key,
        witnesses=(stale, write),
        source="initial",
    )
    return (_link(MISSED, step),)


def _served(number: int, step: Step) -> Iterator[Link]:
    """The arrow from the write of `after` to the read behind a step `cm`, which shows it."""
    if step.relation == "cm" and len(step.witnesses) == 3:
        stale, write, _ = step.witnesses
        served = Step(
            before=write.transaction,
            after=stale.transaction,
            relation="wr",
            key=step.key,
            witnesses=(stale, write),
        )
        yield _link(f"{number}.served", served)


def _link(name: str, step: Step) -> Link:
    start, end = _ends(step)
    return Link(
        step=name,
        before=step.before,
        after=step.after,
        relation=step.relation,
        label=_label(step),
        inferred=step.relation == "cm" or step.source in _INFERRED or step.source.startswith("assume "),
        operations=tuple((w.transaction, w.index) for w in step.witnesses if w.index >= 0),
        start=start,
        end=end,
    )


def _label(step: Step) -> str:
    if step.relation in KEYLESS:
        return KEYLESS[step.relation]
    return f"{step.relation} {key(step.key)}"


def _ends(step: Step) -> tuple[int | None, int | None]:
    """The operations at both ends; the relation says at which end the read is."""
    return _end(step, step.before, ("rw",)), _end(step, step.after, ("wr",))


def _end(step: Step, label: str, reading: tuple[str, ...]) -> int | None:
    reads = step.relation in reading
    for witness in step.witnesses:
        is_read = witness.kind in ("read", "range-read")
        if witness.transaction == label and is_read == reads and witness.index >= 0:
            return witness.index
    return None
