"""Why levels hold: numbers of the native core as ids of transactions and places of operations."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from isoscope.checkers import values
from isoscope.checkers.explained_values import explanations
from isoscope.checkers.recorded_order import WEAK
from isoscope.levels import Level, implied
from isoscope.verdict import (
    OperationPlace,
    Outcome,
    ShownWrites,
    VersionsOfKeys,
    WitnessForm,
    WitnessOrder,
    WritersOfReads,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope._native import OrderWitness, WitnessRead
    from isoscope.checkers.method_judgement import Judged
    from isoscope.history import History
    from isoscope.verdict import Verdict

__all__ = ["witnesses"]


def witnesses(
    history: History, verdicts: Sequence[Verdict], judged: Judged, *, covering: bool = False
) -> Iterator[WitnessOrder]:
    """Why levels hold, of those for which there is an order that shows it; if `covering`, each order once."""
    holding = [verdict.level for verdict in verdicts if verdict.outcome is Outcome.HOLDS]
    made = _Witnesses(history)
    if covering:
        yield from _of_strongest(made, holding, judged)
        covered = _covered(judged)
        holding = [level for level in holding if level not in covered]
    by_values = judged.commit_orders
    if by_values is None:
        by_values = values.commit_orders(history, holding)
    explained = {witness.level: witness for witness in judged.explained}
    left = [level for level in WEAK if level in holding and level not in {*by_values, *explained}]
    if left:
        # A stronger level proved them: its explanation of repeated values is not theirs.
        explained |= {one.level: one for one in explanations(history, left[-1])}
    took_effect = history.columns.took_effect()
    for level in holding:
        if level in by_values:
            yield made.of_commits(level, by_values[level], took_effect)
            continue
        found = [explained[level]] if level in explained else []
        if not found and judged.by_versions is not None:
            found = judged.by_versions.witnesses(level)
        # An order that its replay refutes shows nothing: the level then has no witness.
        yield from (made.of_versions(level, one) for one in found if not one.fault)


def _of_strongest(made: _Witnesses, holding: Sequence[Level], judged: Judged) -> Iterator[WitnessOrder]:
    """The orders of versions that serve further levels."""
    for level in holding if judged.by_versions is not None else ():
        found = judged.by_versions.witnesses(level) if judged.by_versions is not None else []
        if level not in WEAK:
            yield from (made.of_versions(level, one) for one in found if not one.fault)


def _covered(judged: Judged) -> set[Level]:
    """The levels that have these orders, or that a level with one of them implies."""
    found: set[Level] = set()
    for witness in judged.by_versions.found.witnesses if judged.by_versions is not None else ():
        if not witness.fault and Level(witness.level) not in WEAK:
            found |= {Level(witness.level), *implied(Level(witness.level))}
    return found


class _Witnesses:
    """Numbers of the native core as names that the history gives."""

    def __init__(self, history: History) -> None:
        self._history = history

    def of_commits(self, level: Level, order: Sequence[int], took_effect: Sequence[int]) -> WitnessOrder:
        return WitnessOrder(
            level=level,
            form=WitnessForm.ORDER,
            order=self._names(order),
            took_effect=self._names(took_effect),
        )

    def of_versions(self, level: Level, witness: OrderWitness) -> WitnessOrder:
        form = WitnessForm(witness.form)
        return WitnessOrder(
            level=level,
            form=form,
            order=self._names(witness.order),
            versions=self._all_versions(witness) if form is WitnessForm.VERSIONS else (),
            took_effect=self._names(witness.took_effect),
            reads=self._all_reads(witness.reads),
            source=witness.source,
        )

    def _all_reads(self, reads: Sequence[WitnessRead]) -> WritersOfReads:
        return WritersOfReads(len(reads), lambda: self._reads(reads), lambda: self._packed_reads(reads))

    def _reads(self, reads: Sequence[WitnessRead]) -> Iterator[ShownWrites]:
        for shown in reads:
            writes = tuple(None if write is None else self._place(write) for write in shown.writes)
            yield ShownWrites(read=self._place(shown.read), writes=writes, is_list=shown.is_list)

    def _packed_reads(self, reads: Sequence[WitnessRead]) -> str | None:
        _, names = self._operations
        if not names or any(shown.is_list for shown in reads):
            return None
        of_writes = (("null" if write is None else names[write] for write in one.writes) for one in reads)
        written = (f"[{names[one.read]}, {write}]" for one, [write] in zip(reads, of_writes, strict=True))
        return f"[{', '.join(written)}]"

    def _all_versions(self, witness: OrderWitness) -> VersionsOfKeys:
        return VersionsOfKeys(lambda: self._versions(witness), lambda: self._packed(witness))

    def _packed(self, witness: OrderWitness) -> tuple[str, bool] | None:
        owners, names = self._operations
        if not names:
            return None
        versions, is_torn, lists = witness.versions, False, []
        for start, end in pairwise(witness.version_offsets):
            if end - start > 1:
                of_key = versions[start:end]
                is_torn = is_torn or len({owners[version] for version in of_key}) < end - start
                lists.append(f"[{', '.join([names[version] for version in of_key])}]")
        return f"[{', '.join(lists)}]", is_torn

    @cached_property
    def _operations(self) -> tuple[list[int], list[str]]:
        """Of each operation its transaction, and `[id, place]`; empty if ids are no integers."""
        columns = self._history.columns
        ids = columns.ids(range(columns.transactions))
        if not {*map(type, ids)} <= {int}:
            return [], []
        starts = [*map(columns.first_operation, range(columns.transactions)), columns.operations]
        owners: list[int] = []
        names: list[str] = []
        for number, (start, end) in enumerate(pairwise(starts)):
            owners += [number] * (end - start)
            names += [f"[{ids[number]}, {place}]" for place in range(end - start)]
        return owners, names

    def _versions(self, witness: OrderWitness) -> Iterator[tuple[object, tuple[OperationPlace, ...]]]:
        versions = witness.versions  # the native core makes a new list at each access
        for key, (start, end) in zip(self._history.keys, pairwise(witness.version_offsets), strict=True):
            if end > start:
                yield key, tuple(map(self._place, versions[start:end]))

    def _names(self, numbers: Sequence[int]) -> tuple[object, ...]:
        return tuple(self._history.columns.ids(numbers))

    def _place(self, operation: int) -> OperationPlace:
        transaction, place = self._history.columns.locate(operation)
        return OperationPlace(self._history.columns.ids([transaction])[0], place)
