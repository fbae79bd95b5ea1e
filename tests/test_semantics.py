"""Every paragraph of docs/explanation/semantics.md is quoted by a test that shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.semantics import (
    clocks,
    explanations,
    histories,
    range_reads,
    rows,
    single_reads,
    version_orders,
    weak_levels,
)
from tests.semantics.rules import RULES

if TYPE_CHECKING:
    from tests.semantics.rules import Test

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "semantics.md"
#: The modules register their rules when they are imported.
CHAPTERS = (histories, single_reads, weak_levels, range_reads, rows, version_orders, explanations, clocks)


def paragraphs() -> dict[str, str]:
    """The text under each heading, on one line."""
    parts = re.split(r"(?m)^## (.+)$", PAGE.read_text(encoding="utf-8"))[1:]
    return {head: " ".join(text.split()) for head, text in zip(parts[::2], parts[1::2], strict=True)}


@pytest.mark.parametrize(("heading", "quote", "test"), RULES, ids=[test.__name__ for *_, test in RULES])
def test_a_rule_does_what_its_paragraph_says(heading: str, quote: str, test: Test) -> None:
    assert quote in paragraphs()[heading]
    test()


def test_every_paragraph_has_a_test() -> None:
    assert {heading for heading, *_ in RULES} == set(paragraphs())
