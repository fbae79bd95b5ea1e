"""The histories of the benchmark keep the levels that their generators promise; a changed read is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from benchmarks.verification import CASES, write_case

from isoscope.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 2000


@pytest.mark.parametrize("level", CASES)
def test_a_generated_history_is_verified_and_a_changed_one_is_not(level: str, tmp_path: Path) -> None:
    history, certificate = write_case(level, SIZE, tmp_path)
    assert [finding.verified for finding in verify(history, certificate)] == [True]
    lines = history.read_text().splitlines()
    last = max(at for at, line in enumerate(lines) if line.startswith("r") and ",0," not in line)
    key, _, session, transaction = lines[last][2:-1].split(",")
    lines[last] = f"r({key},7777777,{session},{transaction})"
    history.write_text("\n".join(lines))
    assert [finding.verified for finding in verify(history, certificate)] == [False]
