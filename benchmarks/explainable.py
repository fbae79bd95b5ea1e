"""`python -m benchmarks explainable`: how often the method of intervals is wrong on small histories.

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
from benchmarks.loading import Row
from isoscope.checkers import check
from isoscope.profiles import PROFILES
from isoscope.reference.instants import RULES, is_explained
from isoscope.reference.mechanisms import judge
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.history import History
    from isoscope.profiles import Profile

__all__ = ["CHECKERS", "Rates", "by_kernel", "by_specification", "measured", "rows"]

RUNS = 300


@dataclass
class Rates:
    """What a checker said of the histories of one profile; `seeds` are those it was wrong about."""

    explained: int = 0
    unexplained: int = 0
    false_alarms: int = 0
    misses: Counter[str] = field(default_factory=Counter)
    seeds: list[tuple[str, int]] = field(default_factory=list)

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


def measured(profile: Profile, runs: int, accuses: Callable[[History, Profile], bool]) -> Rates:
    """Half of the runs are correct, and half were changed."""
    rates = Rates()
    for number in range(runs):
        history = drawn(profile, number)
        is_accused = accuses(history, profile)
        if is_explained(history, profile):
            rates.explained += 1
            rates.false_alarms += is_accused
        else:
            rates.unexplained += 1
            if not is_accused:
                rates.misses[broken(history, profile)] += 1
        if is_accused == is_explained(history, profile):
            rates.seeds.append(("false alarm" if is_accused else "miss", number))
    return rates


def drawn(profile: Profile, number: int) -> History:
    """The history of a number, the same every time."""
    random = Random(f"{profile.name} {number}")
    return (changed if number % 2 else correct)(random, profile)


def broken(history: History, profile: Profile) -> str:
    """The rules without any one of which the history has an explanation."""
    found = [rule for rule in RULES if is_explained(history, profile, without=[rule])]
    return " or ".join(found) or "several"


def rows() -> Iterator[Row]:
    """Each profile, by kernel and specification."""
    for name, accuses in CHECKERS.items():
        total = Rates()
        for profile in PROFILES.values():
            rates = measured(profile, RUNS, accuses)
            yield Row(f"{name}: {profile.name}", _figures(rates))
            total.explained += rates.explained
            total.unexplained += rates.unexplained
            total.false_alarms += rates.false_alarms
            total.misses += rates.misses
        yield Row(f"{name}: all", _figures(total))


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
