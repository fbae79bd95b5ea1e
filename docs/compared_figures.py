"""Figures of ours beside published ones of other checkers: ours are read from the pages of `benchmarks/`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["figures"]

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
_FIELD = re.compile(r"([\w()/ ]+) \*\*([^*]+)\*\*")


class _Compared(NamedTuple):
    """What both measured; page, row and fields of ours; what the other project published."""

    what: str
    page: str
    row: str
    fields: tuple[str, ...]
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
        found = _fields(compared.page, compared.row)
        ours = ", ".join(f"{name} {found[name]}" for name in compared.fields)
        link = f"[{compared.page}](../../benchmarks/{compared.page}.md)"
        lines.append(f"| {compared.what} | {ours} ({link}) | {compared.theirs} |")
    return "\n".join(lines)


def _fields(page: str, row: str) -> dict[str, str]:
    """The figures of a row by their names."""
    text = (BENCHMARKS / f"{page}.md").read_text(encoding="utf-8")
    [cells] = re.findall(rf"^\| {re.escape(row)} \| (.+) \|$", text, re.MULTILINE)
    return {name.strip(" ,"): value for name, value in _FIELD.findall(cells)}
