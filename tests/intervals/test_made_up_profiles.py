"""Kernel, specification and oracle agree on traces on which two of them once differed."""

from __future__ import annotations

import pytest

from isoscope.reference.instants import is_explained
from isoscope.reference.mechanisms import judge

from .made_up_profiles import CASES, Case
from .mirrored import mirrored

each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
#: The case of a misread is the one that fits first, and a matter of words.
MISREADS = ("stale", "future")


def named(cases: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(name, "misread" if case in MISREADS else case) for name, case in cases}


@each
def test_the_kernel_finds_what_is_wrong_and_no_more(case: Case) -> None:
    assert named(mirrored(case.history, case.profile).cases()) == named({*case.found})


@each
def test_the_specification_finds_what_is_wrong_and_no_more(case: Case) -> None:
    assert named(judge(case.history, case.profile).cases()) == named({*case.found})


@each
def test_the_oracle_explains_a_trace_without_findings(case: Case) -> None:
    assert is_explained(case.history, case.profile) == (not case.found)
