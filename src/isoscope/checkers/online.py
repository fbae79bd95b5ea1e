"""The method of timestamps while transactions arrive, in any order between sessions.

Li et al. 2025 (AION). A transaction is judged when it comes, and again when a late one gives it another
version to read; what a read of others shows is provisional until a timeout, everything else is final at once.
`rust/kernel/src/clock/online` is the engine. It knows no clock: every call says what time it is, in
nanoseconds that never go back. After `flush` the verdict is the one that `timestamps` gives for the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

from isoscope._native import UNKNOWN, ClockOnline
from isoscope.checkers.clock import Found
from isoscope.checkers.contradictions import AXIOMS
from isoscope.checkers.few import Few, refused
from isoscope.history import History
from isoscope.levels import Level
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope._native import Columns
    from isoscope.checkers.clock import Judged
    from isoscope.history import Scalar, Unknown
    from isoscope.verdict import Anomaly, Verdict

__all__ = ["News", "Online", "OnlineStatus"]

_NAMES = tuple(AXIOMS)
#: So many transactions leave memory at once, for one file.
_SEGMENT = 4096


class News(NamedTuple):
    """Something that was found, by the id of the transaction that it is found in; or taken back.

    Only a transaction that comes later than the timeout allows for takes something back.
    """

    number: int
    name: str
    axiom: str
    transaction: Scalar
    other: Scalar
    key: Scalar
    is_retracted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineStatus:
    """How many of what there are.

    `live` transactions are in memory, `pending` ones of them not final; `provisional` reads are wrong so far.
    `repeated` came twice; `unverifiable` came after what they must be held against was dropped, and so did
    the writer of what `unverifiable_reads` show; `overturned` final answers were changed by a late one.
    """

    transactions: int
    aborted: int
    operations: int
    keys: int
    sessions: int
    live: int
    pending: int
    provisional: int
    counts: Mapping[str, int]
    repeated: int
    unverifiable: int
    unverifiable_reads: int
    overturned: int
    ties: int
    memory: int
    watermark: tuple[int, int] | None


class Online:
    """One level of the clock."""

    def __init__(  # noqa: PLR0913 - named
        self,
        level: Level,
        *,
        timeout: int,
        keep: int = 0,
        most: int = 10,
        initial: Scalar | Unknown = UNKNOWN,
        spill: str | None = None,
    ) -> None:
        """Transactions are final after `timeout` nanoseconds, and stay in memory for `keep` more.

        What leaves memory goes to the folder `spill`, for those who come late; without one it is dropped.
        """
        self.level = level
        is_serial = level is Level.CLOCK_SERIALIZABLE
        self._engine = ClockOnline(is_serial, most=most, timeout=timeout, keep=keep, initial=initial)
        self._spill_to(spill)

    def _spill_to(self, folder: str | None) -> None:
        if folder is not None:
            self._engine.spill_to(folder, _SEGMENT)

    def admit(self, history: History) -> None:
        """Raises ValueError as `take` would; nothing is taken."""
        try:
            self._engine.admit(history.columns)
        except ValueError as error:
            raise refused(history, error) from None

    def take(self, history: History, now: int) -> int:
        """Takes all transactions of a slice, or none; how many were new.

        Raises ValueError with a reason if one of them cannot be judged.
        """
        try:
            return self._engine.take(history.columns, now)
        except ValueError as error:
            raise refused(history, error) from None

    def advance(self, now: int) -> None:
        """It is `now`: what timed out is final, what nobody can ask for is dropped."""
        self._engine.advance(now)

    def flush(self) -> None:
        """Everything is final."""
        self._engine.flush()

    def save(self) -> bytes:
        """Everything, as bytes: a checkpoint. Where spilled segments lie is not part of it."""
        return self._engine.save()

    @classmethod
    def load(cls, level: Level, data: bytes, *, spill: str | None = None) -> Self:
        """What was saved; raises ValueError if it is damaged."""
        loaded = cls(level, timeout=0)
        loaded._engine = ClockOnline.load(data)
        loaded._spill_to(spill)
        return loaded

    @property
    def trouble(self) -> str | None:
        """What the disk said when something could not be spilled or read back; it is kept in memory then."""
        return self._engine.trouble

    def news(self) -> list[News]:
        """What became final since the last call."""
        return [News(row[0], _NAMES[row[1]], AXIOMS[_NAMES[row[1]]], *row[2:]) for row in self._engine.news()]

    def anomaly(self, number: int) -> Anomaly | None:
        """The counterexample of a piece of news; None if it is none of the last hundred."""
        shown = self._engine.recent(number)
        return None if shown is None else self._found(*shown).anomalies[0]

    def status(self) -> OnlineStatus:
        """How many of what there are."""
        counts = {name: count for name, count in zip(_NAMES, self._engine.counts(), strict=True) if count}
        return OnlineStatus(counts=counts, watermark=self._engine.watermark, **self._engine.sizes())

    def stability(self) -> tuple[list[int], list[int], list[int]]:
        """Flip-flops: reads, and transactions, by how often their answers changed; times of rectification."""
        return self._engine.stability()

    def verdict(self) -> Verdict:
        """The answer so far; after `flush` that of the whole history."""
        verdict = self._found(*self._engine.report()).verdict()
        if verdict.outcome is not Outcome.HOLDS or not (reason := self._unverified()):
            return verdict
        return replace(verdict, outcome=Outcome.UNKNOWN, reason=reason)

    def _unverified(self) -> str:
        sizes = self._engine.sizes()
        late, reads = sizes["unverifiable"], sizes["unverifiable_reads"]
        reasons = []
        if late:
            who = "1 transaction came" if late == 1 else f"{late:,} transactions came"
            reasons.append(f"{who} after what they must be held against was dropped")
        if reads:
            reasons.append(f"{reads:,} reads of lists of which a late append was missed")
        return "; ".join(reasons)

    def _found(self, columns: Columns, places: list[tuple[int, int]], judged: Judged) -> Found:
        return Found(Few(History(columns), places), self.level, judged)
