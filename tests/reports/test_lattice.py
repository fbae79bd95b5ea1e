"""The lattice as a picture: every level has its place, and its outcome in words."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from isoscope.levels import DEFINITIONS, Family, Level, implied
from isoscope.reports.lattice import render_lattice
from isoscope.verdict import Outcome

ALL = tuple(Level)
DECIDED = tuple(level for level in Level if DEFINITIONS[level].decided)
WITHOUT_CLOCKS = tuple(
    level for level in DECIDED if DEFINITIONS[level].family in (Family.SESSION, Family.SESSIONLESS)
)
CHOICES = {
    "all": ALL,
    "decided": DECIDED,
    "usual": WITHOUT_CLOCKS,
    "one": (Level.PL_2,),
    "sessions": (Level.CAUSAL, Level.READ_ATOMIC),
}


def boxes(svg: str) -> dict[Level, tuple[float, float, float, float]]:
    """Left, top, right and bottom of every level."""
    found = re.findall(
        r'<g class="\w+" transform="translate\(([\d.]+) ([\d.]+)\)"><title>([\w-]+): .*?'
        r'<rect class="box" x="(-[\d.]+)" width="(\d+)" height="(\d+)"',
        svg,
    )
    return {
        Level(name): (float(x) + float(left), float(y), float(x) + float(left) + int(w), float(y) + int(h))
        for x, y, name, left, w, h in found
    }


def drawn(levels: tuple[Level, ...]) -> str:
    outcomes = list(Outcome)
    return render_lattice({level: outcomes[n % 3] for n, level in enumerate(levels)})


@pytest.mark.parametrize("levels", CHOICES.values(), ids=CHOICES)
def test_every_level_has_a_place_of_its_own_inside_the_picture(levels: tuple[Level, ...]) -> None:
    svg = drawn(levels)
    placed = boxes(svg)
    root = ElementTree.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert placed.keys() == set(levels)
    for left, top, right, bottom in placed.values():
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    for one, other in combinations(placed.values(), 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@pytest.mark.parametrize("levels", CHOICES.values(), ids=CHOICES)
def test_a_level_stands_above_those_that_it_implies(levels: tuple[Level, ...]) -> None:
    placed = boxes(drawn(levels))
    for level in levels:
        for weaker in implied(level) & {*levels} - {level}:
            assert placed[level][3] < placed[weaker][1]


def test_levels_with_sessions_stand_left_of_those_without() -> None:
    placed = boxes(drawn(DECIDED))
    assert max(placed[level][2] for level in (Level.STRICT_SERIALIZABLE, Level.CAUSAL, Level.PREFIX)) < min(
        placed[level][0] for level in (Level.SERIALIZABLE, Level.PL_2, Level.CLOCK_SERIALIZABLE)
    )


@pytest.mark.parametrize("levels", CHOICES.values(), ids=CHOICES)
def test_no_line_runs_behind_a_level(levels: tuple[Level, ...]) -> None:
    """A vertical line is beside the boxes, a curve is between the rows."""
    svg = drawn(levels)
    for path in re.findall(r'<path class="implies[^"]*" d="([^"]+)"', svg):
        for x, top, bottom in re.findall(r"C\S+ \S+ \S+ \S+ ([\d.]+) ([\d.]+)V([\d.]+)", path):
            for left, over, right, under in boxes(svg).values():
                assert not (left < float(x) < right and over < float(bottom) and float(top) < under)


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_is_a_word_and_a_sign(outcome: Outcome) -> None:
    svg = render_lattice({Level.CAUSAL: outcome})
    assert f'<text class="outcome" x="8" y="42">{outcome}</text>' in svg
    others = [render_lattice({Level.CAUSAL: other}) for other in Outcome if other is not outcome]
    sign = re.search(r'<(circle|path) class="sign"[^>]+>', svg)
    assert sign is not None
    assert all(sign[0] not in other for other in others)


def test_a_level_without_an_outcome_has_its_name_and_no_sign() -> None:
    text = render_lattice({Level.CAUSAL: None})
    root = ElementTree.fromstring(text)
    assert "".join(root.itertext()).count("causal") == 2
    assert "sign" not in text
    assert not any(outcome in text for outcome in Outcome)


def test_a_level_with_a_link_leads_there() -> None:
    svg = render_lattice({Level.CAUSAL: Outcome.VIOLATED}, links={Level.CAUSAL: "#x-1"})
    assert '<a href="#x-1"><g class="violated"' in svg
