"""The specification of the method of intervals finds the bugs of the paper, and nothing in their twins."""

from __future__ import annotations

import pytest

from isoscope.reference.mechanisms import judge

from .leopard_bugs import BUGS, Bug

each = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.title)


@each
def test_a_bug_is_found_and_named(bug: Bug) -> None:
    found = judge(bug.wrong, bug.profile)
    assert found.cases() == {(bug.name, bug.case)}


@each
def test_a_database_that_behaves_is_not_accused(bug: Bug) -> None:
    assert judge(bug.right, bug.profile).findings == frozenset()


@each
def test_a_bug_is_not_found_if_clocks_may_be_wrong_enough(bug: Bug) -> None:
    instants_apart = 30
    found = judge(bug.wrong, bug.profile, clock_error=instants_apart).cases()
    assert found <= {
        ("inconsistent-read", "aborted"),
        ("inconsistent-read", "own"),
        ("certifier-violation", "ssi"),
    }
