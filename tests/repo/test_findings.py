"""What the page of findings claims of real databases is found again."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from docs.database_findings import FINDINGS
from docs.findings import FOLDER, page, problems, reproduce

from isoscope.databases import driver
from isoscope.errors import DatabaseError
from isoscope.levels import Level

if TYPE_CHECKING:
    from pathlib import Path

    from docs.database_findings import Finding

pytestmark = pytest.mark.slow

EMBEDDED = ("sqlite", "duckdb")
#: Bytes of a report: it opens without a wait.
LARGEST = 300_000
#: What the shrunk history of a finding breaks, by the level of which it is a counterexample.
SHRUNK = {
    Level.SERIALIZABLE: "serializability: 1 write skew",
    Level.SNAPSHOT_ISOLATION: "snapshot isolation: 1 read skew",
}


def each() -> list[object]:
    marks = {True: (), False: (pytest.mark.server,)}
    return [
        pytest.param(finding, id=finding.name, marks=marks[finding.database in EMBEDDED])
        for finding in FINDINGS
    ]


@pytest.mark.parametrize("finding", each())
def test_a_finding_is_found_again(finding: Finding, tmp_path: Path) -> None:
    skip_without(finding.database)
    text = reproduce(finding, tmp_path)
    assert problems(finding, tmp_path) == []
    if finding.arguments:
        assert text.startswith("Yes. ")
    assert {path.suffix for path in tmp_path.iterdir()} == {".parquet", ".html"}


def skip_without(database: str) -> None:
    """Skips where there is no such server, or none can be fetched."""
    if database not in (*EMBEDDED, "postgresql", "mariadb"):
        # A JVM would stay in this process.
        tries = [sys.executable, "-m", "isoscope", "run", database, "--transactions", "1", "--no-record"]
        done = subprocess.run(tries, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            pytest.skip(done.stderr.partition("\n")[0])
        return
    tried = driver(database)("serializable", settings={})
    try:
        tried.open("register")
    except DatabaseError as error:
        pytest.skip(str(error))
    finally:
        tried.close()


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.name)
def test_a_finding_has_a_report_that_is_small_and_tells_nothing_of_the_machine(finding: Finding) -> None:
    report = (FOLDER / f"{finding.name}.html").read_text(encoding="utf-8")
    assert "<!doctype html>" in report
    assert len(report) < LARGEST
    assert "/tm" + "p/" not in report


def test_the_report_for_duckdb_shows_what_duckdb_answers(capsys: pytest.CaptureFixture[str]) -> None:
    report = (FOLDER / "duckdb-update-and-delete-report.md").read_text(encoding="utf-8")
    script = report.partition("```python\n")[2].partition("```")[0]
    exec(script, {})
    expected = re.findall(r"print\(.*#\ (\[.*?\])", script)
    assert capsys.readouterr().out.splitlines() == expected == ["[(0,)]", "[(0,)]", "[]"]


@pytest.mark.parametrize(
    "finding", [one for one in FINDINGS if one.shrinks], ids=lambda finding: finding.name
)
def test_a_shrunk_counterexample_is_small_and_is_linked(finding: Finding) -> None:
    text = (FOLDER / f"{finding.name}-shrunk.txt").read_text(encoding="utf-8")
    assert finding.shrinks is not None
    broken = SHRUNK[finding.shrinks]
    assert text.startswith(f"No. {finding.name}-shrunk.parquet broke {broken}.")
    assert re.search(r" [2-5] transactions,", text)
    assert f"]({finding.name}-shrunk.txt)" in finding.says


def test_the_page_shows_the_texts_that_are_there() -> None:
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == page(), "run `python -m docs.findings`"


def test_a_history_that_shows_nothing_is_found_out(tmp_path: Path) -> None:
    [skewed] = [finding for finding in FINDINGS if finding.name == "sqlite-read-uncommitted"]
    [serial] = [finding for finding in FINDINGS if finding.name == "sqlite-serializable"]
    reproduce(serial, tmp_path)
    shutil.copy(tmp_path / f"{serial.name}.parquet", tmp_path / f"{skewed.name}.parquet")
    found = problems(skewed, tmp_path)
    assert "serializable: holds" in found
    assert "intermediate-read: not found" in found
