"""The method of intervals, as the figures of Li et al. 2023 (Leopard) show it: a table for each of them."""

from __future__ import annotations

from benchmarks.intervals_cycles import CYCLES
from benchmarks.intervals_overlap import BETA, DECIDED
from benchmarks.intervals_parts import CROSSING, PARTITIONS
from benchmarks.intervals_runs import REAL
from benchmarks.intervals_speed import GROWTH, MEMORY, THROUGHPUT
from benchmarks.suite import combined

__all__ = ["PARTS", "SUITE"]

PARTS = (THROUGHPUT, GROWTH, MEMORY, CYCLES, BETA, DECIDED, REAL, PARTITIONS, CROSSING)

SUITE = combined(
    "The method of intervals",
    "The yardstick is the time in which Python iterates over the lines of the same history as Leopard's "
    "trace, a line for each operation; the ratio is time by yardstick. A begin and a commit are "
    "operations, too. Every history is of a correct database, and one violation would end the run. Figure "
    "9, the pipeline alone, is [a suite of its own](#traces-in-order).",
    PARTS,
)
