"""How many dependencies intervals leave open, and how many of those the mechanisms decide.

As Figures 3 and 12 of Li et al. 2023: the share of dependencies whose operations overlap, over skew and
clients, and what is still uncertain after all mechanisms. Both are of correct runs of the simulated database.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.intervals_loads import BLINDW_RW, BLINDW_W, DELAYS, SMALLBANK, YCSB_A, Simulated
from benchmarks.plot import Panel
from benchmarks.suite import Measurement, Plot, Suite, summarised

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.databases.profiled import Load

__all__ = [
    "BETA",
    "DECIDED",
    "Overlap",
    "decided",
    "decided_figures",
    "decided_measurement",
    "over_skew_and_clients",
    "overlap_measurement",
    "plots",
]

THETAS = (0.0, 0.5, 0.9, 0.99, 1.2)
CLIENTS = (2, 4, 8, 16, 24, 32, 64)
#: Skew of the runs over clients.
THETA = 0.9
PROFILE = "postgresql/read-committed"
DECIDED_PROFILES = (
    "postgresql/serializable",
    "postgresql/read-committed",
    "mariadb/serializable",
    "cockroachdb/serializable",
)
LOADS = {
    "BlindW-W": BLINDW_W,
    "BlindW-RW": BLINDW_RW,
    "SmallBank": SMALLBANK,
    "SmallBank, values repeat": replace(SMALLBANK, repeated_values=4),
}
TRANSACTIONS = 40_000
_KINDS = ("wr", "ww", "rw")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Total, overlapping and uncertain dependencies of each kind."""

    name: str
    group: str
    label: str
    operations: int
    kinds: tuple[tuple[int, int, int], ...]

    @property
    def total(self) -> tuple[int, int, int]:
        """Those of all kinds together."""
        totals, overlapping, uncertain = zip(*self.kinds, strict=True)
        return sum(totals), sum(overlapping), sum(uncertain)


def over_skew_and_clients(transactions: int = TRANSACTIONS) -> Iterator[Overlap]:
    """Runs over theta with 24 clients, and over clients with one theta."""
    load = replace(YCSB_A, transactions=transactions)
    for theta in THETAS:
        yield _overlap(
            PROFILE, f"theta {theta:g}, 24 clients", "skew", f"{theta:g}", replace(load, theta=theta)
        )
    for clients in CLIENTS:
        name = f"theta {THETA:g}, {clients} clients"
        skewed = replace(load, theta=THETA, clients=clients)
        yield _overlap(PROFILE, name, "clients", str(clients), skewed)


def decided(transactions: int = TRANSACTIONS) -> Iterator[Overlap]:
    """Each load on databases with different mechanisms."""
    for profile in DECIDED_PROFILES:
        for name, load in LOADS.items():
            yield _overlap(
                profile, f"{profile}, {name}", profile, name, replace(load, transactions=transactions)
            )


def _overlap(profile: str, name: str, group: str, label: str, load: Load) -> Overlap:
    simulated = Simulated(profile=profile, load=load)
    history = simulated.history()
    counts = simulated.judged(history).dependencies
    kinds = tuple((one.total, one.overlapping, one.uncertain) for one in counts)
    return Overlap(name=name, group=group, label=label, operations=history.columns.operations, kinds=kinds)


def overlap_measurement(point: Overlap) -> Measurement:
    """The shares before the mechanisms, and after."""
    total, overlapping, uncertain = point.total
    figures = {"dependencies": f"{total:,}", "beta": share(overlapping, total)}
    for kind, (of_kind, overlap, _) in zip(_KINDS, point.kinds, strict=True):
        figures[kind] = share(overlap, of_kind)
    figures["after the mechanisms"] = share(uncertain, total)
    return Measurement(point.name, figures)


def decided_measurement(point: Overlap) -> Measurement:
    """What of the overlapping pairs is decided."""
    return Measurement(point.name, decided_figures(point.kinds))


def decided_figures(kinds: Sequence[tuple[int, int, int]]) -> dict[str, str]:
    """Overlapping pairs of each kind, and the share that is decided."""
    figures = {}
    for kind, (total, overlapping, uncertain) in zip(_KINDS, kinds, strict=True):
        figures[kind] = f"{total:,}"
        figures[f"{kind} overlapping"] = f"{overlapping:,} ({share(overlapping, total)})" if total else "-"
        figures[f"{kind} decided"] = share(overlapping - uncertain, overlapping)
    return figures


def share(part: float, whole: float) -> str:
    """A percentage; nothing of nothing is none."""
    return f"{100 * part / whole:.2f} %" if whole else "-"


def plots(points: list[Overlap]) -> Iterator[Plot]:
    """Figure 3: shares in percent over skew, and over clients."""
    panels = [
        _panel([point for point in points if point.group == group], across)
        for group, across in {"skew": "theta", "clients": "clients"}.items()
    ]
    title = "Overlapping dependencies, before the mechanisms"
    yield Plot(name="intervals-beta", title=title, panels=panels)


def _panel(points: Iterable[Overlap], across: str) -> Panel:
    mine = [*points]
    series = {
        kind: [100 * point.kinds[place][1] / max(1, point.kinds[place][0]) for point in mine]
        for place, kind in enumerate(_KINDS)
    }
    series["after"] = [100 * point.total[2] / max(1, point.total[0]) for point in mine]
    labels = [point.label for point in mine]
    return Panel(title="percent", across=across, labels=labels, series=series)


_MICRO = 1000
BETA = Suite(
    title="Overlapping dependencies (Figure 3)",
    how=f"The simulated database as {PROFILE} under a load like YCSB-A: a million rows, half of the "
    "statements read and half update, eight statements a transaction. A request is on its way for "
    f"{DELAYS.network // _MICRO} µs on average, the server takes {DELAYS.service // _MICRO} µs, the answer "
    f"{DELAYS.network // _MICRO} µs, and the client thinks for {DELAYS.thinking // _MICRO} µs; one in 64 "
    "takes eight times as long. `beta` is the share of dependencies whose intervals overlap, by kind and "
    "of all; the last column is what the mechanisms leave uncertain of all. Below 6 % with 24 clients is "
    "asked for.",
    full=lambda: summarised(over_skew_and_clients(), overlap_measurement, plots),
    quick=lambda: summarised(over_skew_and_clients(500), overlap_measurement, plots),
)
DECIDED = Suite(
    title="What the mechanisms decide (Figure 12), simulated",
    how="Overlapping dependencies on 2,000 keys with 24 clients, and the share of them that the mechanisms "
    "decide. Every transaction of these loads may read and write; those of BlindW do one or the other. "
    "Where values repeat (four of each row), a read does not tell which of several versions it shows.",
    full=lambda: map(decided_measurement, decided()),
    quick=lambda: map(decided_measurement, decided(500)),
)
