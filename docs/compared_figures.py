"""Figures of ours beside published ones of other checkers: ours are those of `benchmarks/results`."""

from __future__ import annotations

from typing import NamedTuple

from docs.benchmarks_page import anchor, result

__all__ = ["figures"]


class _Compared(NamedTuple):
    """What both measured; suite, measurement and figures of ours; what the other project published."""

    what: str
    suite: str
    measurement: str
    figures: tuple[str, ...]
    theirs: str


_COMPARED = (
    _Compared(
        "clock snapshot isolation, a million transactions of 15 operations, JSON",
        "clock",
        "clock-snapshot-isolation, 1M JSON",
        ("load and check (median)", "peak"),
        "CHRONOS: about 17 s and 13 GB, 16 cores (paper)",
    ),
    _Compared(
        "the same level while transactions of 8 operations arrive, with collection of what is final",
        "online",
        "clock-snapshot-isolation, threshold",
        ("transactions/s", "memory (most)"),
        "AION: 12,000 transactions/s, 16 cores (paper, section VI-B)",
    ),
    _Compared(
        "all levels of lists, a million transactions of 4 operations",
        "versions",
        "all levels, serializable",
        ("load and check (median)", "memory"),
        "Elle: 22 million transactions in about two minutes with a heap of about 60 GB (its README)",
    ),
    _Compared(
        "causal, 50 million operations",
        "large",
        "causal, million.parquet",
        ("load and check (median)", "memory"),
        "AWDIT: 143 s of CPU for 50.6 million (its artifact, figure 8)",
    ),
    _Compared(
        "read committed, 50 million operations",
        "large",
        "read-committed, million.parquet",
        ("load and check (median)", "memory"),
        "AWDIT: 43 s of CPU for 50.6 million (its artifact, figure 8)",
    ),
    _Compared(
        "snapshot isolation from values, 2,000 transactions of 15 operations",
        "solver",
        "snapshot-isolation, PolySI general, serializable store",
        ("load and check", "memory"),
        "PolySI: seconds (paper)",
    ),
)


def figures() -> str:
    """The table."""
    lines = ["| what | here, 2 cores | published by the other project |", "| --- | --- | --- |"]
    for compared in _COMPARED:
        found = result(compared.suite).figures(compared.measurement)
        ours = ", ".join(f"{name} {found[name]}" for name in compared.figures)
        link = f"[{compared.suite}](../reference/benchmarks.md#{anchor(compared.suite)})"
        lines.append(f"| {compared.what} | {ours} ({link}) | {compared.theirs} |")
    return "\n".join(lines)
