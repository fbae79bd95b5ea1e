"""How often the method of intervals is wrong on small histories.

The oracle of `isoscope.reference.instants` says of each whether a database of the profile can have given it.
A *false alarm* accuses a history that has an explanation; a *miss* does not accuse one that has none. A miss
is classed by the rules of which one alone has to be dropped for an explanation: `session-order` (where times
touch), `own` writes, `consistent-read`, `mutual-exclusion`, `first-updater-wins`, `certifier`, or `several`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from benchmarks.explainable_runs import changed, correct
from benchmarks.suite import Measurement, Suite
from isoscope.checkers import check
from isoscope.profiles import PROFILES
from isoscope.reference.instants import RULES, is_explained
from isoscope.reference.mechanisms import judge
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.history import History
    from isoscope.profiles import Profile

__all__ = ["CHECKERS", "SUITE", "Rates", "by_kernel", "by_specification", "drawn", "measured", "measurements"]

#: For each profile; all of them take about ten minutes of one core.
RUNS = 120
HOW = (
    "Of each profile, small histories that a correct database can give, and as many that were changed. A "
    "false alarm accuses a history that has an explanation; a miss does not accuse one that has none, and is "
    "classed by the rules of which one alone has to be dropped for an explanation."
)


@dataclass
class Rates:
    """What a checker said of the histories of one profile; `seeds` are those it was wrong about."""

    explained: int = 0
    unexplained: int = 0
    false_alarms: int = 0
    misses: Counter[str] = field(default_factory=Counter)
    seeds: list[tuple[str, int]] = field(default_factory=list)

    def add(self, number: int, rule: str, *, is_explained: bool, is_accused: bool) -> None:
        """Counts one history; `rule` is the one that it breaks."""
        self.explained += is_explained
        self.unexplained += not is_explained
        if is_explained and is_accused:
            self.false_alarms += 1
            self.seeds.append(("false alarm", number))
        if not is_explained and not is_accused:
            self.misses[rule] += 1
            self.seeds.append(("miss", number))

    @property
    def missed(self) -> int:
        """How many histories without an explanation were not accused."""
        return sum(self.misses.values())


def by_kernel(history: History, profile: Profile) -> bool:
    """Whether a check by the profile finds a mechanism or a promised level violated."""
    report = check(history, profile=profile)
    mechanisms = report.mechanisms.verdicts if report.mechanisms else ()
    outcomes = [*(one.outcome for one in report.verdicts), *(one.outcome for one in mechanisms)]
    return Outcome.VIOLATED in outcomes


def by_specification(history: History, profile: Profile) -> bool:
    """Whether the specification finds a mechanism violated."""
    return bool(judge(history, profile).findings)


CHECKERS: dict[str, Callable[[History, Profile], bool]] = {
    "kernel": by_kernel,
    "specification": by_specification,
}


def measured(profile: Profile, runs: int) -> dict[str, Rates]:
    """The rates of each checker. Half of the runs are correct, and half were changed."""
    rates = {name: Rates() for name in CHECKERS}
    for number in range(runs):
        history = drawn(profile, number)
        is_legal = is_explained(history, profile)
        accusing = {name for name, accuses in CHECKERS.items() if accuses(history, profile)}
        rule = "" if is_legal or len(accusing) == len(CHECKERS) else broken(history, profile)
        for name, rate in rates.items():
            rate.add(number, rule, is_explained=is_legal, is_accused=name in accusing)
    return rates


def drawn(profile: Profile, number: int) -> History:
    """The history of a number, the same every time."""
    random = Random(f"{profile.name} {number}")
    return (changed if number % 2 else correct)(random, profile)


def broken(history: History, profile: Profile) -> str:
    """The rules without any one of which the history has an explanation."""
    found = [rule for rule in RULES if is_explained(history, profile, without=[rule])]
    return " or ".join(found) or "several"


def measurements(runs: int = RUNS) -> Iterator[Measurement]:
    """Each profile, by kernel and specification."""
    totals = {name: Rates() for name in CHECKERS}
    for profile in PROFILES.values():
        for name, rates in measured(profile, runs).items():
            yield Measurement(f"{name}: {profile.name}", _figures(rates))
            totals[name].explained += rates.explained
            totals[name].unexplained += rates.unexplained
            totals[name].false_alarms += rates.false_alarms
            totals[name].misses += rates.misses
    for name, total in totals.items():
        yield Measurement(f"{name}: all", _figures(total))


def _figures(rates: Rates) -> dict[str, str]:
    share = rates.missed / rates.unexplained if rates.unexplained else 0
    classes = {f"missed by {rule}": str(count) for rule, count in rates.misses.most_common()}
    return {
        "explained": str(rates.explained),
        "false alarms": str(rates.false_alarms),
        "unexplained": str(rates.unexplained),
        "misses": f"{rates.missed} ({share:.1%})",
        **classes,
    }


SUITE = Suite(
    title="Intervals against an exact oracle",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(runs=2),
)
