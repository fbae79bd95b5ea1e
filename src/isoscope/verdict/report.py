"""All answers about one history, with the assumptions that they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from isoscope import levels
from isoscope.verdict import findings
from isoscope.verdict.answer import Answer, answer_of
from isoscope.verdict.answers import Outcome
from isoscope.verdict.presentation import Presentation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.levels import Level
    from isoscope.verdict.answer import Origin
    from isoscope.verdict.answers import MechanismVerdict, Sighting, Verdict
    from isoscope.verdict.findings import Finding
    from isoscope.verdict.witness_order import WitnessOrder

__all__ = ["Dependencies", "Mechanisms", "Ordered", "Report", "Search"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """Keys whose versions `source` orders and no stronger source does; `whole`: up to the last version.

    `source` is that of a `Step`, or empty for keys without any order; keys with one version are whole.
    """

    source: str
    keys: int
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """How many dependencies of one kind (wr, ww, rw) there are.

    Intervals of `overlapping` ones overlap, so that they alone decide nothing; of these the mechanisms leave
    `uncertain` ones open.
    """

    kind: str
    total: int
    overlapping: int
    uncertain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """The mechanisms of a profile, and how many dependencies the intervals show.

    `title` is the profile in words; `clock_error` is by how many nanoseconds each interval was widened.
    """

    profile: str
    title: str
    verdicts: tuple[MechanismVerdict, ...]
    dependencies: tuple[Dependencies, ...]
    clock_error: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(Presentation):
    """The verdicts on one history, with its sizes and the assumptions that were made.

    `report["snapshot-isolation"]` is the verdict on one level, `report.holds(level)` whether it is proven;
    `print(report)` shows the text of the command line, a notebook the answer and a picture.

    `version_order` says how many keys each source orders, the strongest first; it is empty if no source
    orders a key, or no verdict asks for it. `mechanisms` is there if a profile was asked for. `promises` are
    the strongest levels that the database or the profile promises, as far as that is known; `origin` says
    which database that is. `asked` are the levels that the user named. `fail_on` are the levels that decide
    the exit status, if the user named them. `witnesses` say why levels hold, if that was asked for.
    """

    history: Mapping[str, object]
    verdicts: tuple[Verdict, ...]
    assumptions: tuple[str, ...] = ()
    version_order: tuple[Ordered, ...] = ()
    mechanisms: Mechanisms | None = None
    promises: tuple[Level, ...] = ()
    origin: Origin | None = None
    asked: tuple[Level, ...] = ()
    fail_on: frozenset[Level] | None = None
    seconds: Mapping[str, float] | None = None
    witnesses: tuple[WitnessOrder, ...] = ()

    @property
    def answer(self) -> Answer:
        """Whether the database kept its promise, or the history satisfies the levels that were named."""
        return answer_of(self)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The anomalies, each name once: first those of mechanisms, then those of levels."""
        mechanisms = self.mechanisms.verdicts if self.mechanisms else ()
        return (
            *findings.of_mechanisms(mechanisms, counts=self.mechanisms_decide),
            *findings.of_verdicts(self.verdicts, _with_implied(self.deciding)),
        )

    def levels(self, outcome: Outcome) -> tuple[Level, ...]:
        """The levels with this outcome, in the order of the lattice."""
        return tuple(verdict.level for verdict in self.verdicts if verdict.outcome is outcome)

    def __getitem__(self, level: Level | str) -> Verdict:
        """The verdict on a level, by any of its names. Raises KeyError if it was not asked for."""
        wanted = levels.parse(str(level))
        for verdict in self.verdicts:
            if verdict.level is wanted:
                return verdict
        raise KeyError(f"{wanted} was not asked for: check(history, {str(wanted)!r}) does")

    def __contains__(self, level: object) -> bool:
        wanted = levels.parse(str(level))
        return any(verdict.level is wanted for verdict in self.verdicts)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __bool__(self) -> NoReturn:
        raise TypeError("a report has three outcomes for each level: ask `report.holds(level)`, not truth")

    def holds(self, level: Level | str) -> bool:
        """Whether the history is proven to satisfy `level`, by its own verdict or that of a stronger level.

        False if the level is violated, and if it is unknown: `report[level].outcome` tells which. Raises
        KeyError if no verdict says anything about the level.
        """
        wanted = levels.parse(str(level))
        if any(wanted in levels.implied(holding) for holding in self.levels(Outcome.HOLDS)):
            return True
        if levels.implied(wanted).isdisjoint(self.levels(Outcome.VIOLATED)):
            self[wanted]  # unknown, or never asked for
        return False

    @property
    def strongest_holding(self) -> tuple[Level, ...]:
        """The levels that hold and that no other holding level implies."""
        return levels.strongest(self.levels(Outcome.HOLDS))

    @property
    def strongest_possible(self) -> tuple[Level, ...]:
        """The levels that are not violated and that no other such level implies: they hold or may hold."""
        return levels.strongest((*self.levels(Outcome.HOLDS), *self.levels(Outcome.UNKNOWN)))

    @property
    def demanded(self) -> frozenset[Level]:
        """The levels in question: those that were named and those that are promised, with all they imply."""
        return _with_implied({*self.asked, *self.promises})

    @property
    def deciding(self) -> frozenset[Level]:
        """The levels whose violation decides the exit status."""
        if self.fail_on is not None:
            return self.fail_on
        return frozenset((*self.asked, *self.promises) or levels.MINIMUM)

    @property
    def deciding_unknown(self) -> frozenset[Level]:
        """The levels that decide the exit status if they are unknown: those in question themselves."""
        if self.fail_on is not None:
            return self.fail_on if len(self.fail_on) == 1 else frozenset()
        return frozenset(self.asked or self.promises)

    @property
    def mechanisms_decide(self) -> bool:
        """Whether a mechanism that did not work decides the exit status."""
        return self.fail_on is None or self.fail_on == frozenset(levels.Level)

    @property
    def weakest_violated(self) -> tuple[Level, ...]:
        """The levels that are violated and that imply no other violated level."""
        return levels.weakest(self.levels(Outcome.VIOLATED))


def _with_implied(chosen: Iterable[Level]) -> frozenset[Level]:
    return frozenset().union(*map(levels.implied, chosen))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Search(Presentation):
    """Which of the anomalies that were looked for one history shows; it says nothing about levels."""

    history: Mapping[str, object]
    sightings: tuple[Sighting, ...]
    assumptions: tuple[str, ...] = ()
    seconds: Mapping[str, float] | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The anomalies that were found."""
        return tuple(findings.of_sightings(self.sightings))
