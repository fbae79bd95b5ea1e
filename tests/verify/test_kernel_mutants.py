"""The wrong lines of the kernel stay next to the right ones."""

from __future__ import annotations

import pytest

from tests.verify.kernel_mutants import MUTANTS
from tests.verify.kernel_mutations import ROOT, switched


@pytest.mark.parametrize("number", range(1, len(MUTANTS) + 1))
def test_the_right_line_of_each_mutant_is_in_the_kernel(number: int) -> None:
    mutant = MUTANTS[number - 1]
    text = (ROOT / "rust" / "kernel" / "src" / mutant.file).read_text(encoding="utf-8")
    assert f"is_on({number})" in switched(text, number, mutant)
