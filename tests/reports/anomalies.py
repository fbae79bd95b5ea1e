"""Anomalies to draw: one of every case of the catalogue, circles of any size, hostile keys."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import isoscope
from isoscope.checkers import search
from isoscope.reports import examples
from isoscope.verdict import Anomaly, Participant, Step, Witness
from tests.test_cases import CLAIMED, VIOLATED

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.verdict import Report

CASES = VIOLATED
HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><svg onload=x>",
    "]]>",
    "\x00\x1b[31m\x7f",
    "\u202eevil\u2066",
    "\ud800",
    "שלום",
    "漢字",
    "&amp;",
)
#: A term of EDN holds all of these but half a character.
HOSTILE_TERMS = tuple(text for text in HOSTILE if text != "\ud800")


@cache
def anomaly_of(path: Path) -> Anomaly:
    """The first anomaly of a case with the name of its folder."""
    name, history = path.parent.name, isoscope.load(path)
    sightings = search(history, [name], assume=CLAIMED.get(name, ())).sightings
    return next(anomaly for sighting in sightings for anomaly in sighting.anomalies)


def shown(report: Report) -> list[Anomaly]:
    return list(examples(report))


def circle(size: int, *, key: object = "x", clock: str = "", sessions: int = 0) -> Anomaly:
    """A circle of `size` transactions, each of which read from the one before it."""
    labels = [f"T{number}" for number in range(size)]
    lanes = sessions or size
    return Anomaly(
        name="cyclic-causal-order",
        transactions=tuple(labels),
        keys=(key,),
        steps=tuple(_step(labels[number - 1], labels[number], key) for number in range(size)),
        participants=tuple(
            Participant(
                transaction=label,
                lane=number % lanes,
                session=number % lanes,
                position=number // lanes,
                status="committed",
                operations=(_write(label, key), _read(label, key)),
                matters=frozenset({0, 1}),
                clock=clock,
                times=(number * 10, number * 10 + 25) if clock else (None, None),
            )
            for number, label in enumerate(labels)
        ),
    )


def _step(before: str, after: str, key: object) -> Step:
    witnesses = (_read(after, key), _write(before, key))
    return Step(before=before, after=after, relation="wr", key=key, witnesses=witnesses)


def _write(label: str, key: object) -> Witness:
    return Witness(transaction=label, kind="write", key=key, value=1, index=0)


def _read(label: str, key: object) -> Witness:
    return Witness(transaction=label, kind="read", key=key, value=1, index=1)
