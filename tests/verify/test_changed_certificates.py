"""Whatever is changed in a certificate that the package writes, it proves no level that does not hold.

Hypothesis draws a history and one change: two positions of a witness are swapped, one is left out or
repeated, or one part of a proof is another number, kind or nothing. What the verifier accepts must still be
so: a witness of a level that holds, or a proof against one that is violated. One change that always makes a
difference, the outcome, is always rejected.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoscope import checkers, formats
from isoscope.cli.certificate_file import proofs, prover_of
from isoscope.verify.certificate import Certificate
from isoscope.verify.files import read_history
from isoscope.verify.history import BadInputError
from isoscope.verify.verification import Verification
from tests.verify.certified_histories import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject

HEADER = {"isoscope_certificate": 1}
KINDS = ("wr", "ww", "rw", "session", "real-time", "initial", "axiom")


def lines_of(family: str, seed: int, folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    path = folder / "history.parquet"
    formats.save(FAMILIES[family](seed), path)
    history = formats.load(path)
    made = proofs(history, checkers.check(history, witness=True), None, prover_of(history, None, path))
    return path, [json.loads(line) for line in made.lines][1:]


def changed(draw: Callable[..., Any], part: Any) -> Any:  # noqa: PLR0911 - one for each kind of change
    """The same JSON with one thing changed, at a place that is drawn."""
    if isinstance(part, dict) and part:
        name = draw(st.sampled_from(sorted(part)))
        return part | {name: changed(draw, part[name])}
    if isinstance(part, list) and part:
        at = draw(st.integers(0, len(part) - 1))
        how = draw(st.sampled_from(["inside", "inside", "swap", "drop", "repeat"]))
        other = draw(st.integers(0, len(part) - 1))
        if how == "swap":
            moved = [*part]
            moved[at], moved[other] = part[other], part[at]
            return moved
        if how == "drop":
            return part[:at] + part[at + 1 :]
        if how == "repeat":
            return [*part, part[at]]
        return [*part[:at], changed(draw, part[at]), *part[at + 1 :]]
    if part in KINDS:
        return draw(st.sampled_from(KINDS))
    return draw(st.one_of(st.none(), st.integers(0, 6)))


def accepted(path: Path, lines: list[dict[str, Any]]) -> dict[tuple[str, str], bool]:
    found: dict[tuple[str, str], bool] = {}
    try:
        certificate = Certificate([HEADER, *lines])
    except BadInputError:
        return found
    verification = Verification(read_history(path), certificate)
    for line in certificate.levels:
        try:
            found[line["level"], line["outcome"]] = verification.find(line).verified
        except BadInputError:
            found[line["level"], line["outcome"]] = False
    return found


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=4)
@given(data=st.data())
def test_a_changed_certificate_proves_nothing_that_is_not_so(family: str, data: DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        path, lines = lines_of(family, data.draw(st.integers(0, 10**6)), Path(name))
        if not lines:
            return
        outcomes = {line["level"]: line["outcome"] for line in lines if "level" in line}
        at = data.draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        fields = [name for name in line if name not in ("witness", "level", "outcome")]
        if fields:
            field = data.draw(st.sampled_from(fields))
            line = line | {field: changed(data.draw, line[field])}
        found = accepted(path, [*lines[:at], line, *lines[at + 1 :]])
    for (level, outcome), verified in found.items():
        assert not verified or outcomes[level] == outcome


@pytest.mark.parametrize("family", FAMILIES)
def test_the_opposite_outcome_is_rejected(family: str, tmp_path: Path) -> None:
    opposite = {"holds": "violated", "violated": "holds"}
    seen = 0
    for seed in range(2):
        path, lines = lines_of(family, seed, tmp_path)
        turned = [
            line | {"outcome": opposite[line["outcome"]]} if "level" in line else line for line in lines
        ]
        found = accepted(path, turned)
        seen += len(found)
        assert not any(found.values())
    assert seen > 0


@pytest.mark.parametrize("family", ["registers"])
def test_a_step_that_leads_elsewhere_is_rejected(family: str, tmp_path: Path) -> None:
    """The ends of a step are those that its operations show: every other transaction is rejected."""
    tried = 0
    for seed in range(5):
        path, lines = lines_of(family, seed, tmp_path)
        ids = [t.id for t in read_history(path).transactions]
        for line in lines:
            steps = line.get("proof", {}).get("cycle", [])
            for at, step in enumerate(steps[:2]):
                for other in ids:
                    if other == step["to"]:
                        continue
                    cycle = [*steps[:at], step | {"to": other}, *steps[at + 1 :]]
                    assert not any(accepted(path, [line | {"proof": {"cycle": cycle}}]).values())
                    tried += 1
    assert tried > 0


@pytest.mark.parametrize("form", ["order", "events"])
def test_a_witness_without_one_of_its_transactions_is_rejected(form: str, tmp_path: Path) -> None:
    path, lines = lines_of("serial runs", random.Random(1).randrange(100), tmp_path)
    witnesses = [line for line in lines if line.get(form)]
    assert witnesses
    for witness in witnesses:
        short = witness | {form: witness[form][1:]}
        levels = [line for line in lines if line.get("witness") == witness["witness"] and "level" in line]
        assert not any(accepted(path, [short, *levels]).values())
