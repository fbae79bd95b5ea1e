"""The same as the worlds say, in terms of intervals: what a checker computes.

Li et al. 2023, Theorems 2, 3 and 4. `order` is closed: with all that follows from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Collection

    from isoscope.reference.mechanisms.first_updater_wins import Changed
    from isoscope.reference.mechanisms.mutual_exclusion import Held
    from isoscope.reference.mechanisms.versions import Version
    from isoscope.reference.mechanisms.worlds import Span

__all__ = ["candidates", "kind_of", "may_be_released_before", "may_commit_before"]


def kind_of(
    version: Version, versions: Collection[Version], snapshot: Span, order: Collection[tuple[int, int]] = ()
) -> str:
    """`future`, `garbage`, or `candidate`: an overlap, the pivot, or one that overlaps the pivot."""
    if any(_comes_after(version, other, order) and snapshot.precedes(other.span) for other in versions):
        return "future"
    if any(
        other.is_certain
        and _comes_after(other, version, order, strictly=True)
        and other.span.precedes(snapshot)
        for other in versions
    ):
        return "garbage"
    return "candidate"


def candidates(
    versions: Collection[Version], snapshot: Span, order: Collection[tuple[int, int]] = ()
) -> frozenset[int]:
    """All that are neither future nor garbage."""
    return frozenset(v.transaction for v in versions if kind_of(v, versions, snapshot, order) == "candidate")


def _comes_after(
    version: Version, other: Version, order: Collection[tuple[int, int]], *, strictly: bool = False
) -> bool:
    """Whether a version is another one, or certainly came after it."""
    if version.transaction == other.transaction:
        return not strictly
    is_deduced = (other.transaction, version.transaction) in order
    return is_deduced or other.transaction == INITIAL or other.span.precedes(version.span)


def may_be_released_before(one: Held, other: Held) -> bool:
    """Whether `one` can have been released before `other` was taken."""
    return one.released.invoke <= other.taken.complete


def may_commit_before(one: Changed, other: Changed) -> bool:
    """Whether `one` can have committed before the snapshot of `other`, or before it inserted the row."""
    return one.commit.invoke <= (other.commit if other.is_new else other.snapshot).complete
