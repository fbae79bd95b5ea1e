"""The dependency graphs of GRAIL's histories have the numbers of the thesis (Qiu 2023, Tables F.1 to F.5)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import isoscope
from isoscope.checkers.graph import characteristics

ROOT = Path(__file__).parents[2]
ORACLE = Path(os.environ.get("ISOSCOPE_ORACLE") or ROOT.parent / "shared" / "oracle")
pytestmark = pytest.mark.skipif(not ORACLE.is_dir(), reason=f"no oracle at {ORACLE}")

#: rw, ww, wr, vertices, contributing traversals.
EXPECTED = {
    "collection-time__30": (1580, 1248, 1264, 1293, 174),
    "collection-time-nemesis__10": (245, 179, 202, 208, 41),
    "collection-time-nemesis__40": (872, 699, 710, 703, 1871),
    "histories-30s__160": (569, 388, 433, 466, 114),
    "rate__40": (3754, 3662, 3311, 3009, 148),
    "rate-nemesis__70": (1821, 1528, 1495, 1474, 4063),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_graph_has_the_numbers_of_the_thesis(name: str) -> None:
    found = characteristics(isoscope.load(ORACLE / "grail" / "list" / f"{name}.edn.gz"))
    assert (found.rw, found.ww, found.wr, found.vertices, found.traversals) == EXPECTED[name]
    assert not found.traversals_are_partial
    assert found.density == pytest.approx(sum(EXPECTED[name][:3]) / EXPECTED[name][3])
