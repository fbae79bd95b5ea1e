"""The table of all suites, by the name of each, in the order of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import (
    adya,
    certificates,
    certification,
    clock,
    clock_growth,
    collection,
    explainable,
    faults,
    graph_page,
    growth,
    history_log,
    instructions,
    intervals,
    journal,
    loading,
    online,
    pipeline,
    recorded_tpcc,
    recording,
    report,
    service,
    soak,
    solver,
    solver_points,
    spark,
    spark_stream,
    stability,
    startup,
    verification,
    versions,
    weak,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.suite import Suite

__all__ = ["SUITES"]

SUITES: Mapping[str, Suite] = {
    "startup": startup.SUITE,
    "loading": loading.SUITE,
    "weak": weak.WEAK,
    "large": weak.LARGE,
    "growth": growth.SUITE,
    "versions": versions.SUITE,
    "adya": adya.SUITE,
    "solver": solver.SUITE,
    "solver-points": solver_points.SUITE,
    "clock": clock.SUITE,
    "clock-growth": clock_growth.SUITE,
    "collection": collection.SUITE,
    "online": online.SUITE,
    "online-limited": soak.LIMITED,
    "soak": soak.SOAK,
    "stability": stability.SUITE,
    "service": service.SUITE,
    "journal": journal.SUITE,
    "faults": faults.FAULTS,
    "memory": faults.MEMORY,
    "intervals": intervals.SUITE,
    "pipeline": pipeline.SUITE,
    "explainable": explainable.SUITE,
    "recording": recording.SUITE,
    "recorded-tpcc": recorded_tpcc.SUITE,
    "history-log": history_log.SUITE,
    "graph": graph_page.SUITE,
    "spark": spark.SUITE,
    "spark-stream": spark_stream.SUITE,
    "report": report.SUITE,
    "certification": certification.SUITE,
    "verification": verification.SUITE,
    "certificates": certificates.CERTIFICATES,
    "kernel-mutations": certificates.MUTATIONS,
    "instructions": instructions.SUITE,
}
