"""A decided level has a certificate that the verifier accepts, or a reason why it has none."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isoscope.cli.check import command
from isoscope.reports.certificate_cases import Leaf, Literal, tree
from isoscope.reports.certificate_names import UncertifiedError
from isoscope.verify import verify
from tests.certified import Tally, in_a_readable_format
from tests.reference.choice_histories import random_choice_history
from tests.seeds import seeds
from tests.strategies import histories
from tests.test_cases import CASES
from tests.test_witness import registers

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope import History


#: The verifier refuses a step that the checkers give here; `--certificate` then searches a proof of its own.
REFUSED = "violated-never-written.json"


def of_cases(cases: list[Path], folder: Path) -> Tally:
    tally = Tally(folder)
    for path in (path for path in cases if path.name != REFUSED):
        tally.add(in_a_readable_format(path, folder))
    return tally


def test_levels_of_some_cases_are_certified(tmp_path: Path) -> None:
    tally = of_cases(CASES[::12], tmp_path)
    assert tally.share > 0.88
    assert min(tally.verified["holds"], tally.verified["violated"]) > 100


@pytest.mark.slow
def test_nearly_all_levels_of_all_cases_are_certified(tmp_path: Path) -> None:
    tally = of_cases(CASES, tmp_path)
    assert tally.share > 0.884
    assert tally.left_out.keys() == {
        "a transaction appended to a list more than once",
        "a session reads what is no version",
        "no order was found that shows why the level holds",
        "values repeat, or ends of transactions are unknown",
        "the end of the reader is unknown",
        "elements of lists repeat",
        "the order of commits does not follow timestamps, a log or a declared order",
        "a clock level is violated by values, not by timestamps",
        "sources of the version order contradict each other, or may",
        "the search tried more orders than the counterexample shows",
        "the steps of the counterexample are not those that the format asks for",
    }


def of_seeds(count: int, folder: Path) -> Tally:
    """Registers whose values do not repeat, and runs in which they do and ends are unknown."""
    tally = Tally(folder)
    for seed in range(count):
        tally.add_history(registers(seed))
        tally.add_history(random_choice_history(random.Random(seed), evidence=False))
    return tally


def test_levels_of_random_histories_are_certified(tmp_path: Path) -> None:
    tally = of_seeds(12, tmp_path)
    assert tally.share > 0.8
    assert min(tally.verified["holds"], tally.verified["violated"]) > 100


@pytest.mark.slow
def test_levels_of_many_random_histories_are_certified(tmp_path: Path) -> None:
    assert of_seeds(seeds(150, deep=5_000), tmp_path).share > 0.8


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.booleans().flatmap(lambda has_clock: histories(timestamps=has_clock)))
def test_no_certificate_of_any_history_is_rejected(history: History, tmp_path: Path) -> None:
    Tally(tmp_path).add_history(history)


ONE, TWO, THREE = [1, 0], [2, 0], [3, 0]


def test_the_ends_of_cases_become_a_tree() -> None:
    first = Literal(ONE, TWO, is_order=True)
    shows_two, shows_three = Literal(ONE, TWO), Literal(ONE, THREE)
    leaves = [
        Leaf((first, shows_two), {"cycle": ["a"]}),
        Leaf((first, shows_three), {"cycle": ["b"]}),
        Leaf((first.opposite(),), {"cycle": ["c"]}),
    ]
    assert tree(leaves) == {
        "split": {"order": [ONE, TWO]},
        "then": {"split": {"writer": ONE}, "cases": [[TWO, {"cycle": ["a"]}], [THREE, {"cycle": ["b"]}]]},
        "else": {"cycle": ["c"]},
    }


def test_a_tree_without_one_of_its_ends_is_no_proof() -> None:
    with pytest.raises(UncertifiedError, match="does not show every case"):
        tree([Leaf((Literal(ONE, TWO, is_order=True),), {"cycle": []})])


@pytest.mark.slow
def test_the_command_certifies_nothing_that_the_verifier_refuses(tmp_path: Path) -> None:
    certified = 0
    for number, case in enumerate(CASES):
        path, certificate = in_a_readable_format(case, tmp_path), tmp_path / f"{number}.certificate"
        CliRunner().invoke(command, [str(path), "--certificate", str(certificate)])
        findings = verify(path, certificate)
        lines = map(json.loads, certificate.read_text().splitlines())
        left_out = {line["level"] for line in lines if "uncertified" in line}
        assert {finding.level for finding in findings if not finding.verified} <= left_out, case
        certified += sum(finding.verified for finding in findings)
    assert certified > 10 * len(CASES)
