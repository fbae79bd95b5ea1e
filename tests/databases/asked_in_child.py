"""`python -m tests.databases.asked_in_child NAME`: asks a driver all questions, in a process of its own.

A JVM and an embedded engine stay in their process once they are loaded. What was wrong is printed as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from isoscope.checkers import check
from isoscope.conformance import QUESTIONS, Opened
from isoscope.databases import connect, driver
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from tests.databases.conformance import SOON, Mix, close_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.databases.database import Database

__all__ = ["ask_in_child"]

ROOT = Path(__file__).parents[2]


def ask_in_child(
    name: str,
    folder: Path,
    *,
    isolations: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    url: str = "",
    nodes: int = 0,
) -> list[str]:
    """What was wrong; `folder` is where temporary files go, and must be empty afterwards."""
    given = [f"--set={key}={value}" for key, value in (settings or {}).items()]
    given += [f"--isolation={one}" for one in isolations] + ([f"--url={url}"] if url else [])
    given += [f"--nodes={nodes}"] if nodes else []
    done = subprocess.run(
        [sys.executable, "-m", "tests.databases.asked_in_child", name, *given],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), **_coverage()},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    wrong: list[str] = json.loads(done.stdout)
    return [*wrong, *(f"left behind: {path.name}" for path in folder.iterdir())]


def _coverage() -> dict[str, str]:
    """The variable with which a process measures coverage, if this one does."""
    coverage = sys.modules.get("coverage")
    is_measured = coverage is not None and coverage.Coverage.current() is not None
    return {"COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml")} if is_measured else {}


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--isolation", action="append", default=[])
    parser.add_argument("--url", default="")
    parser.add_argument("--nodes", type=int)
    given = parser.parse_args()
    settings = dict(one.split("=", 1) for one in given.set)
    wrong = []
    for isolation in given.isolation or driver(given.name).ISOLATIONS:
        for content in ("register", "list"):
            asked: Any = {"isolation": isolation, "settings": settings, "nodes": given.nodes}
            database = connect(given.url or given.name, **asked)
            wrong += [f"{isolation}: {problem}" for problem in problems(database, content)]
    sys.stdout.write(json.dumps(wrong))


def problems(database: Database, content: Literal["register", "list"]) -> Iterator[str]:
    """What is wrong at one isolation: with single questions, with the log, and with a small run."""
    database.open(content)
    try:
        opened = Opened(database=database)
        for question in QUESTIONS[content]:
            try:
                question(opened)
            except Exception as error:
                yield f"{question.__name__}: {type(error).__name__}: {error}"
            close_all(opened)
    finally:
        database.close()
    workload = Mix(content=content, rolled_back=0.05)
    done = run(database, workload, Limits(transactions=150, seconds=SOON))
    if done.problem is not None or done.progress.indeterminate or done.progress.committed <= 20:
        yield f"a run: {done.problem}, {done.progress}"
    assert done.history is not None
    for verdict in check(done.history, database.promises).verdicts:
        if verdict.outcome is Outcome.VIOLATED:
            yield f"the promised {verdict.level} is violated: {dict(verdict.anomaly_counts)}"


if __name__ == "__main__":
    main()
