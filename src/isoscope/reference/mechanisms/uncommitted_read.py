"""Reads of uncommitted data: they may show any write that is not certainly overwritten or undone.

Such a read takes no snapshot. A write is there from an instant of its own span. Only a transaction that
committed certainly overwrites: the write of another one may have been rolled back, which brings back the
version before it. Of a list the last element is judged, and an element is missing only if it was committed
before the read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.mechanisms.misreads import ABORTED, FUTURE, MISSING_ROW, NAME, STALE, THIN_AIR

if TYPE_CHECKING:
    from isoscope.reference.mechanisms.observations import Observation
    from isoscope.reference.mechanisms.versions import Place, Store, Write
    from isoscope.reference.mechanisms.worlds import Span

__all__ = ["judged"]


def judged(store: Store, seen: Observation) -> tuple[Finding | None, bool]:
    """What is wrong with the read, and whether it might be."""
    look = _Look(store, seen)
    showing = [write for write in look.writes if write.value == look.shown]
    there = [write for write in look.writes if look.is_there(write)]
    is_initial = seen.is_absent or look.shows_initial
    may_be_initial = not look.overwriting(None)
    is_right = (is_initial and may_be_initial) or any(write in there for write in showing)
    is_certain = all(write in showing for write in there) and (is_initial or not may_be_initial)
    finding = None if is_right else look.named(showing, is_initial=is_initial)
    return finding, is_right and not is_certain


@dataclass(frozen=True)
class _Look:
    store: Store
    seen: Observation

    @property
    def shown(self) -> object:
        """The value that a write must have left: of a list, its last element."""
        value = self.seen.value
        return value[-1] if self.is_list and isinstance(value, tuple) and value else value

    @property
    def is_list(self) -> bool:
        return self.store.shape(self.seen.key) == "list"

    @property
    def shows_initial(self) -> bool:
        key, value = self.seen.key, self.seen.value
        if self.is_list:
            return value == ()
        return self.store.is_initial(key, value)

    @property
    def writes(self) -> list[Write]:
        """What others wrote to the key, every one of them."""
        others = (t.number for t in self.store.transactions if t.number != self.seen.place.transaction)
        return [write for number in others for write in self.store.writes(self.seen.key, number)]

    def is_there(self, write: Write) -> bool:
        return not (self.is_future(write) or self.overwriting(write) or self.is_undone(write))

    def is_future(self, write: Write) -> bool:
        return self.snapshot.precedes(self.span(write.place))

    def overwriting(self, write: Write | None) -> list[Write]:
        """Writes that certainly came later, before the read, and were not undone."""
        return [
            other
            for other in self.writes
            if self.store.times[other.place.transaction].is_certain
            and self.span(other.place).precedes(self.snapshot)
            and (write is None or self.is_later(other, write))
            and (not self.is_list or self.is_committed_after(other, write))
        ]

    def is_committed_after(self, write: Write, than: Write | None) -> bool:
        """Whether it was committed before the read, and after the commit of another write."""
        appears = self.store.times[write.place.transaction].appears
        other = self.store.times[than.place.transaction].appears if than else None
        is_after = other is None or appears is None or other.precedes(appears)
        return is_after and appears is not None and appears.precedes(self.snapshot)

    def is_later(self, write: Write, than: Write) -> bool:
        if write.place.transaction == than.place.transaction:
            return write.place > than.place
        return self.span(than.place).precedes(self.span(write.place))

    def is_undone(self, write: Write) -> bool:
        return self.store.times[write.place.transaction].undone < self.snapshot.invoke

    @property
    def snapshot(self) -> Span:
        return self.span(self.seen.place)

    def span(self, place: Place) -> Span:
        return self.store.times[place.transaction].operation(place.operation)

    def named(self, showing: list[Write], *, is_initial: bool) -> Finding:
        """The first case that fits."""
        if self.seen.is_absent:
            due = next(write for write in self.writes if self.is_there(write))
            return Finding(NAME, MISSING_ROW, (self.seen.place, due.place))
        hidden = [(w.place,) for w in self.overwriting(None)] if is_initial else []
        old = [(w.place, later[-1].place) for w in showing if (later := self.overwriting(w))]
        cases: dict[str, list[tuple[Place, ...]]] = {
            STALE: [*hidden, *old],
            FUTURE: [(w.place,) for w in showing if self.is_future(w)],
            ABORTED: [(w.place,) for w in showing if self.is_undone(w)],
            THIN_AIR: [()],
        }
        case = next(case for case, found in cases.items() if found)
        return Finding(NAME, case, (self.seen.place, *cases[case][-1]))
