"""The method of intervals: what must be so however the instants inside clients' intervals are chosen.

Li et al. 2023 (Leopard), with the assumptions of `docs/explanation/intervals.md`. Everything is defined by
*worlds*, the orders in which events can have happened: a version can be read if in some world it is the
newest one, two locks are a violation if in no world they are held one after the other, and an order of
versions is deduced if the mechanism leaves no other. `direct` says the same in terms of intervals alone.
"""

from __future__ import annotations

from isoscope.reference.mechanisms.consistent_read import candidates
from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.mechanisms.judge import Checked, Dependency, Judged, Tally, judge, judge_pairs
from isoscope.reference.mechanisms.versions import Place, Store, Version
from isoscope.reference.mechanisms.worlds import Span

__all__ = [
    "Checked",
    "Dependency",
    "Finding",
    "Judged",
    "Place",
    "Span",
    "Store",
    "Tally",
    "Version",
    "candidates",
    "judge",
    "judge_pairs",
]
