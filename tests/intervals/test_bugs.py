"""The kernel finds the bugs of the paper, and nothing in their twins."""

from __future__ import annotations

import pytest

from tests.reference.leopard_bugs import BUGS, Bug

from .mirrored import mirrored

each = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.title)
#: What a bug shows beside what it is listed for: which order is wrong nobody knows, and one is believed.
ALSO = {"two reads show two versions in opposite orders": {("certifier-violation", 1)}}


@each
def test_a_bug_is_found_and_named(bug: Bug) -> None:
    found = mirrored(bug.wrong, bug.profile)
    assert found.cases() == {(bug.name, bug.case)} | ALSO.get(bug.title, set())


@each
def test_a_database_that_behaves_is_not_accused(bug: Bug) -> None:
    assert mirrored(bug.right, bug.profile).counts == {}
