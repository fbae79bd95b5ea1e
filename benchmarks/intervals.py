"""The method of intervals, as the figures of Li et al. 2023 (Leopard) show it: each part of its page."""

from __future__ import annotations

from typing import Any

from benchmarks.intervals_cycles import CYCLES
from benchmarks.intervals_overlap import BETA, DECIDED
from benchmarks.intervals_page import Part, Told
from benchmarks.intervals_parts import CROSSING, PARTITIONS
from benchmarks.intervals_runs import REAL
from benchmarks.intervals_speed import GROWTH, MEMORY, THROUGHPUT

__all__ = ["HOW", "PARTS", "TITLE", "Told"]

TITLE = "The method of intervals"
HOW = (
    "The yardstick is the time in which Python iterates over the lines of the same history as Leopard's "
    "trace, a line for each operation; the ratio is time by yardstick. A begin and a commit are "
    "operations, too. Every history is of a correct database, and one violation would end the run. Figure "
    "9, the pipeline alone, is [on a page of its own](pipeline.md)."
)
PARTS: tuple[Part[Any], ...] = (
    THROUGHPUT,
    GROWTH,
    MEMORY,
    CYCLES,
    BETA,
    DECIDED,
    REAL,
    PARTITIONS,
    CROSSING,
)
