"""The kernel finds the bugs of the paper, and nothing in their twins."""

from __future__ import annotations

import pytest

from tests.reference.leopard_bugs import BUGS, Bug

from .mirrored import mirrored

each = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.title)
#: Further findings of a bug: it is not known which of two orders is wrong, and one is taken.
ALSO = {"two reads show two versions in opposite orders": {("certifier-violation", "timestamp-order")}}


@each
def test_a_bug_is_found_and_named(bug: Bug) -> None:
    found = mirrored(bug.wrong, bug.profile)
    assert found.cases() == {(bug.name, bug.case)} | ALSO.get(bug.title, set())


@each
def test_a_correct_database_has_no_findings(bug: Bug) -> None:
    assert mirrored(bug.right, bug.profile).counts == {}
