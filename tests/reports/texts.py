"""The exact text of every case: `python -m tests.reports.texts` writes it, for review."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import isoscope
from isoscope.checkers import search
from isoscope.reports import render_text
from isoscope.verdict import Claim

if TYPE_CHECKING:
    from isoscope.verdict import Search, Sighting

TESTS = Path(__file__).parents[1]
CASES = sorted((TESTS / "histories").glob("*/violated-*"))
#: The claims about versions in the cases of an anomaly.
CLAIMED = {"cyclic-versions": (Claim.SEQUENTIAL_KEYS,)}


def name(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def kept(case: Path) -> Path:
    """The path of the text of a case."""
    return TESTS / "texts" / f"{name(case)}.text"


def text(case: Path, *, width: int = 100) -> str:
    """The part of the report on the anomaly of the case, without the heading."""
    return render_text(_found(case), width=width).split("\n\n", 2)[2]


def sighting(case: Path) -> Sighting:
    [only] = _found(case).sightings
    return only


@cache
def _found(case: Path) -> Search:
    return search(isoscope.load(case), [case.parent.name], assume=CLAIMED.get(case.parent.name, ()))


def write() -> None:
    for case in CASES:
        kept(case).parent.mkdir(parents=True, exist_ok=True)
        kept(case).write_text(text(case), encoding="utf-8")


if __name__ == "__main__":
    write()
