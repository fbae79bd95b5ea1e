"""The small history on the driver, judged: its findings name transactions of the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope._native import judge_values
from isoscope.checkers import conflicts, values, version_order
from isoscope.levels import DEFINITIONS, Family, Level
from isoscope.verdict import Method, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope._native import WeakJudgement
    from isoscope.checkers.witnesses import Recorded
    from isoscope.cluster.excerpt import Excerpt
    from isoscope.cluster.findings import DistributedReads
    from isoscope.cluster.part_history import PartHistory, RawNames
    from isoscope.history import History, Initial, Source, Transaction
    from isoscope.verdict import Verdict

__all__ = ["Located", "SmallHistory"]


class SmallHistory:
    """What the native core says of a small history, by values or by the order of versions."""

    def __init__(  # noqa: PLR0913 - the history, and the question
        self,
        history: History,
        part: PartHistory | None,
        *,
        asked: Sequence[Level],
        undecided: frozenset[Level],
        is_untimed: bool,
        method: Method,
        shown: int,
    ) -> None:
        """`part` is what the history was made of; None if it is empty.

        `is_untimed`: whether some transaction of the whole has no place in real time.
        """
        self._is_untimed = is_untimed
        self._history, self.part, self._method = history, part, method
        self._weak: WeakJudgement | None = None
        self._versions: version_order.Judgement | None = None
        if method is Method.VALUES:
            strongest = values.strongest_asked([level for level in asked if level not in undecided])
            name = None if strongest is None else strongest.value
            self._weak = judge_values(history.columns, strongest=name, max_anomalies=shown).weak
        elif version_order.concerns(asked):
            self._versions = version_order.judge(history, max_anomalies=shown, asked=asked)

    def verdicts(
        self, reads: DistributedReads, reader: Recorded, located: Recorded | None = None
    ) -> list[Verdict]:
        """The verdicts by reads of the whole, whose transactions `reader` knows, and by findings here."""
        if self._method is Method.VALUES:
            recorded = self._history if located is None else located
            return [*values.verdicts_of(reader, reads, self._weak, recorded)]
        wrong = values.verdicts_of(reader, reads, None, reader)
        found = [replace(v, method=Method.VERSION_ORDER) for v in wrong if v.outcome is Outcome.VIOLATED]
        if self._versions is not None:
            judged = self._versions if located is None else replace(self._versions, history=located)
            timed = map(self._timed, judged.verdicts())
            found += (verdict for verdict in timed if verdict is not None)
        places = {level: place for place, level in enumerate(Level)}
        return sorted(found, key=lambda verdict: places[verdict.level])

    def _timed(self, verdict: Verdict) -> Verdict | None:
        """The verdict; of a level of real time as far as that is known of all transactions."""
        is_of_cycles = DEFINITIONS[verdict.level].family is not Family.REAL_TIME
        if is_of_cycles or (self._is_untimed and verdict.outcome is Outcome.VIOLATED):
            return verdict
        if not self._is_untimed:
            return None
        return replace(verdict, outcome=Outcome.UNKNOWN, reason=version_order.UNTIMED)

    def named(self) -> set[RawNames]:
        """The transactions that its findings are about."""
        if self.part is None:
            return set()
        noting = _Noting(self._history)
        if self._weak is not None:
            for finding in self._weak.findings:
                conflicts.anomaly(noting, finding)
        if self._versions is not None:
            _ = replace(self._versions, history=noting).anomalies
        lines = (self._history.transaction(number).line for number in noting.noted)
        return {self.part.names(line) for line in lines}


class _Noting:
    """A history that notes which of its transactions are asked for."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.noted: set[int] = set()

    @property
    def source(self) -> Source:
        return self._history.source

    @property
    def initial(self) -> Initial:
        return self._history.initial

    @property
    def columns(self) -> _Noting:
        return self

    def transaction(self, number: int) -> Transaction:
        self.noted.add(number)
        return self._history.transaction(number)

    def locate(self, operation: int, /) -> tuple[int, int]:
        number, place = self._history.columns.locate(operation)
        self.noted.add(number)
        return number, place

    def place_in_session(self, transaction: int, /) -> int:
        return self._history.columns.place_in_session(transaction)


class Located:
    """The transactions of a part in full, as the whole history has them, by their numbers in the part."""

    def __init__(self, part: PartHistory, excerpt: Excerpt) -> None:
        self._part, self._excerpt = part, excerpt

    @property
    def source(self) -> Source:
        """That of the whole."""
        return self._excerpt.source

    @property
    def initial(self) -> Initial:
        """What keys hold before the first write."""
        return self._excerpt.initial

    @property
    def columns(self) -> Located:
        """Where operations and transactions stand."""
        return self

    def transaction(self, number: int) -> Transaction:
        """The transaction with this number in the part."""
        return replace(self._excerpt.transaction(self._part.of_transaction(number)), number=number)

    def locate(self, operation: int, /) -> tuple[int, int]:
        """The transaction of an operation of the part, and its place among all operations there."""
        number, _ = self._part.history.columns.locate(operation)
        return number, self._excerpt.locate(self._part.of_operation(operation))[1]

    def place_in_session(self, transaction: int, /) -> int:
        """How many transactions of its session come before one."""
        return self._excerpt.place_in_session(self._part.of_transaction(transaction))
