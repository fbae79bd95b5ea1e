"""Sentences about versions that can be put in no order: what was tried, and for which level."""

from __future__ import annotations

import pytest

from isoscope.explain import contradiction, message
from isoscope.verdict import AlternativesFacts, Anomaly, Step

#: What a proof supposes of the order of two versions, and of the writer of a read.
ORDER = Step(before="T1", after="T2", relation="ww", key="x", source="supposed")
WRITER = Step(before="T1", after="T2", relation="wr", key="x", source="supposed")


@pytest.mark.parametrize(
    ("level", "alternatives", "sentence"),
    [
        (
            "serializable",
            ((WRITER,),),
            "No choice of writers and orders satisfies serializable: each closes a circle.",
        ),
        (
            "causal",
            (),
            "No choice of the writers of reads satisfies causal: each leaves no order of commits.",
        ),
        (
            "serializable",
            (),
            "No order of the versions satisfies serializable: each that they can have closes a circle.",
        ),
        (
            "",
            (),
            "Every order that the versions can have was tried, and each of them closes a circle.",
        ),
        (
            "serializable",
            ((ORDER,),),
            "No order of the versions satisfies serializable: each closes a circle.",
        ),
        ("", ((ORDER,),), "Whatever the order of the versions, there is a circle."),
    ],
)
def test_what_was_tried_in_vain_is_told_like_this(
    level: str, alternatives: tuple[tuple[Step, ...], ...], sentence: str
) -> None:
    facts = AlternativesFacts(alternatives=alternatives, level=level)
    steps = tuple(step for alternative in alternatives for step in alternative)
    anomaly = Anomaly(name="no-commit-order", transactions=(), keys=("x",), facts=facts, steps=steps)
    # Without alternatives there are no steps, and the sentence is all there is to say.
    said = contradiction(anomaly) if alternatives else message(anomaly)
    assert said == (f"So {sentence[0].lower()}{sentence[1:]}" if alternatives else sentence)
