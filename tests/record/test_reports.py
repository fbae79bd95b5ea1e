"""A counterexample of a recorded program in JSON and on the page: SQL, file, line, and what prevents it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import isoscope
from isoscope.reports import render_json
from isoscope.reports.schema import schema
from tests.record.test_interpret import history, read, transaction, updated

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.verdict import Report


def lost_update(folder: Path) -> Report:
    found = history(
        folder,
        transaction("a", (7, 8), read(50, 1, (1, 2)), updated(120, 1, "x", (5, 6))),
        transaction("b", (11, 12), read(50, 1, (3, 4)), updated(121, 1, "<y>", (9, 10))),
    )
    return isoscope.check(found, "snapshot-isolation")


def test_json_has_the_statement_and_the_advice(tmp_path: Path) -> None:
    import jsonschema  # noqa: PLC0415 - slow to import

    document = json.loads(render_json(lost_update(tmp_path)))
    jsonschema.validate(document, schema())
    [anomaly] = document["verdicts"][0]["anomalies"]
    statements = {one["place"]: one["sql"] for one in anomaly["operations"]}
    assert statements["app.py:2"] == "SELECT name FROM users WHERE id = %s  [1]"
    assert anomaly["prevention"].startswith("add FOR UPDATE to the SELECT at app.py:2")


def test_the_page_shows_the_statement_and_the_advice(tmp_path: Path) -> None:
    lost_update(tmp_path).to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert '<code class="sql">SELECT name FROM users WHERE id = %s  [1]</code>' in page
    assert "&lt;y&gt;" in page
    assert "app.py, line 2" in page
    assert "/app.py, line 2" not in page, "the program is not in the folder of its history"
    assert '<h4>To prevent it</h4>\n<p class="prevention">Add FOR UPDATE' in page


def test_a_part_of_a_history_keeps_its_statements(tmp_path: Path) -> None:
    lost_update(tmp_path)
    found = isoscope.load(tmp_path / "all.program")
    part = isoscope.shrink(found, "snapshot-isolation")
    assert part.source.sql(part.transaction(0).operations[0].line).startswith("UPDATE users")
