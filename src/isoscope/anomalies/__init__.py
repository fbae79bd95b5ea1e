"""The catalogue of anomalies: what each means, what it breaks, and a small history that shows it.

The catalogue names and explains. Verdicts come from each level's own condition, never from here.
"""

from collections.abc import Mapping
from types import MappingProxyType

from isoscope.anomalies import clock, conflicts, cycles, mechanisms, missed_writes, reads, versions
from isoscope.anomalies.entry import CatalogueEntry, Example
from isoscope.levels import Level, canonical, implying, normalise

__all__ = ["CATALOGUE", "CatalogueEntry", "Example", "broken", "family", "find"]


def find(name: str) -> CatalogueEntry:
    """The anomaly called `name`, by its own name or a paper's; case does not matter."""
    return CATALOGUE[canonical(name, _NAMES, what="anomaly")]


def family(name: str) -> tuple[str, ...]:
    """The names of the anomalies that `name` stands for: one, or several where a paper has one label."""
    return _FAMILIES.get(normalise(name), (find(name).name,))


def broken(entry: CatalogueEntry) -> frozenset[Level]:
    """Every level that a history with this anomaly breaks."""
    return frozenset().union(*(implying(level) for level in entry.breaks))


CATALOGUE: Mapping[str, CatalogueEntry] = MappingProxyType(
    {
        entry.name: entry
        for part in (reads, conflicts, cycles, missed_writes, versions, clock, mechanisms)
        for entry in part.ENTRIES
    }
)

#: Labels of papers that cover several anomalies here: Adya's G1c is every cycle of reads and overwrites.
_FAMILIES = {
    "g1c": ("circular-information-flow", "cyclic-causal-order", "write-cycle"),
    "g1c-process": ("circular-information-flow-session", "cyclic-causal-order", "write-cycle-session"),
    "g1c-realtime": ("circular-information-flow-real-time", "write-cycle-real-time"),
    "g-single": ("read-skew", "lost-update"),
    "g-single-item": ("read-skew", "lost-update"),
}
_NAMES = {
    normalise(name): entry.name for entry in CATALOGUE.values() for name in (entry.name, *entry.aliases)
}
