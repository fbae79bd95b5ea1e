"""The picture in the documentation is the one that its program and its command make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.running import run
from tests.repo.test_docs import ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = ROOT / "docs" / "how-to" / "plot-a-history.md"


def test_the_picture_of_the_page_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = next(block for _, language, block in blocks(PAGE) if language == "python")
    exec(compile(program, str(PAGE), "exec"), {"__name__": "__page__"})
    assert run("stats", "run.parquet", "--plot", "run.svg").status == 0
    assert (tmp_path / "run.svg").read_bytes() == PAGE.with_suffix(".svg").read_bytes()
