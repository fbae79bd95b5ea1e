"""Which figures of which publication each suite repeats, and which are left out, with the reason."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PUBLISHED", "Published"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Figures of one publication; `note` says what is different here, or why no suite repeats them."""

    source: str
    figures: str
    what: str
    suites: tuple[str, ...] = ()
    note: str = ""


_PEERS = "The other checkers are not part of this repository: `--peer` runs one on the same file."
_NO_COLLECTION = "A check in memory drops nothing on the way, so there are no strategies to compare."

PUBLISHED = (
    Published(
        source="CHRONOS (Li et al. 2025)",
        figures="4, 5",
        what="time beside other checkers, by transactions",
        suites=("clock-growth", "clock"),
        note=_PEERS,
    ),
    Published(
        source="CHRONOS",
        figures="6, 22",
        what="time by parameters of the workload",
        suites=("clock-growth",),
        note=_NO_COLLECTION,
    ),
    Published(source="CHRONOS", figures="7", what="memory by parameters", suites=("clock-growth",)),
    Published(source="CHRONOS", figures="8", what="time of each stage", suites=("clock-growth", "clock")),
    Published(
        source="CHRONOS",
        figures="9, 10",
        what="stages and memory over time with collection",
        suites=("collection",),
        note="Collection is by `--streaming`, which has no frequency.",
    ),
    Published(source="CHRONOS", figures="24", what="throughput by workload", suites=("clock-growth",)),
    Published(
        source="AION (Li et al. 2025)",
        figures="11",
        what="a history that two definitions judge differently",
        note="Not a measurement: a test has this history.",
    ),
    Published(source="AION", figures="12, 23", what="throughput over time", suites=("online",)),
    Published(source="AION", figures="13, 14", what="flips, and how long they last", suites=("stability",)),
    Published(
        source="AION",
        figures="15",
        what="throughput of the database with and without recording",
        suites=("recording",),
        note="On PostgreSQL; the paper has Dgraph.",
    ),
    Published(
        source="AION", figures="16", what="memory under a limit", suites=("online", "online-limited", "soak")
    ),
    Published(source="AION", figures="17 to 21", what="flips by delay", suites=("stability",)),
    Published(source="AION", figures="25", what="throughput on violated histories", suites=("online",)),
    Published(
        source="Plume (Liu et al. 2024)",
        figures="8, 9",
        what="time and memory beside other checkers, by parameters",
        suites=("growth", "weak"),
        note=_PEERS,
    ),
    Published(
        source="Plume",
        figures="10",
        what="time beside Elle",
        suites=("growth",),
        note=f"{_PEERS} Our figures of 50 operations per transaction are between those of 40 and 80.",
    ),
    Published(
        source="Plume",
        figures="11",
        what="time of each stage",
        suites=("weak",),
        note="Load and check; the construction of the graph and the search are one pass.",
    ),
    Published(source="Plume", figures="12", what="without vectors, without tree clocks", suites=("weak",)),
    Published(source="Plume", figures="13", what="a million transactions", suites=("growth", "large")),
    Published(source="BC-graphs", figures="1, 2", what="time beside Adya's definition", suites=("adya",)),
    Published(
        source="GRAIL (Qiu 2023)",
        figures="5.1 to 5.8",
        what="time of queries by collection time, rate, sessions, writes, depth and with a nemesis",
        suites=("graph",),
        note="On LadybugDB and Neo4j; the thesis has ArangoDB and Neo4j.",
    ),
    Published(
        source="Leopard (Li et al. 2023)",
        figures="3",
        what="share of overlapping dependencies",
        suites=("intervals",),
    ),
    Published(source="Leopard", figures="9", what="time and memory of the pipeline", suites=("pipeline",)),
    Published(source="Leopard", figures="10", what="time beside a search for cycles", suites=("intervals",)),
    Published(
        source="Leopard",
        figures="11, 12",
        what="throughput beside that of the database, and dependencies that are decided",
        suites=("intervals",),
    ),
    Published(
        source="Leopard",
        figures="13",
        what="time beside Cobra on BlindW-RW",
        suites=("intervals", "solver"),
        note=f"Cobra's workloads are in the second suite. {_PEERS}",
    ),
    Published(
        source="VeriStrong",
        figures="10 to 13",
        what="time by parameters, on workloads of 10,000 transactions",
        suites=("solver", "solver-points"),
        note=_PEERS,
    ),
    Published(
        source="PolySI, Cobra, Viper",
        figures="parameter points",
        what="verdict and time of each point",
        suites=("solver-points",),
    ),
)
