"""`python -m tests.mutation [--all] [--seed N] [--record] [PATH...]`: does a test find each wrong line?

Draws mutants of every file of the specification, of `levels/`, `verdict/` and `explain/`, and runs the fast
tests that run the changed line, until one fails. The paths choose some of the files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.mutation.mutants import mutants_of
from tests.mutation.results import Result, Survivor, page
from tests.mutation.trials import Survey, Trials

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.mutation.mutants import Mutant

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "isoscope"
_PAGE = ROOT / "docs" / "explanation" / "mutations.md"
ROOMS = ("reference", "levels", "verdict", "explain")
TESTS = (
    "tests/intervals/test_specification.py",
    "tests/reference",
    "tests/reports/test_certificate.py",
    "tests/reports/test_counterexample.py",
    "tests/reports/test_json.py",
    "tests/reports/test_junit.py",
    "tests/reports/test_sarif.py",
    "tests/reports/test_text.py",
    "tests/reports/test_texts.py",
    "tests/test_anomalies.py",
    "tests/test_answer.py",
    "tests/test_cycle_line.py",
    "tests/test_evidence.py",
    "tests/test_explain.py",
    "tests/test_explain_clock.py",
    "tests/test_explain_cycles.py",
    "tests/test_explain_mechanisms.py",
    "tests/test_explain_proof.py",
    "tests/test_explain_steps.py",
    "tests/test_explain_values.py",
    "tests/test_explain_versions.py",
    "tests/test_levels.py",
    "tests/test_participants.py",
    "tests/test_presentation.py",
    "tests/test_semantics.py",
    "tests/test_shrink.py",
    "tests/test_verdict.py",
    "tests/test_client_times.py",
    "tests/test_intervals.py",
    "tests/test_prevention.py",
)
#: They run when the levels are imported, which is before a mutant is turned on.
IMPORTED = {"Definition.__post_init__", "_closures"}


def main() -> None:
    """Collects the tests, and lets the plugin do the rest."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--all", action="store_true", help="not only some mutants of each file")
    parser.add_argument("--number", type=int, default=15, help="mutants of each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6, help="CPU seconds of tests for each mutant")
    parser.add_argument("--survey", type=Path, help="which test runs which line: read, or written")
    parser.add_argument("--record", action="store_true", help="write the page")
    options = parser.parse_args()
    fast = ["-m", "not server and not slow and not deep", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    # Files outside this repository are no part of its tests; some are read when tests are collected.
    os.environ["ISOSCOPE_ORACLE"] = os.devnull
    trials = Trials(lambda trials: _run(trials, options))
    sys.exit(pytest.main(["-q", "-s", "-p", "no:cacheprovider", *fast, *TESTS], plugins=[trials]))


def _run(trials: Trials, options: argparse.Namespace) -> None:
    survey = _survey(trials, options.survey)
    results = []
    for path in _files(options.paths):
        drawn = _drawn(path, options)
        survived = [mutant for mutant in drawn if not _is_killed(mutant, trials, survey, options.seconds)]
        results.append(Result(str(path.relative_to(PACKAGE)), len(drawn), [_row(one) for one in survived]))
        print(results[-1].told(), flush=True)
    if options.record:
        _PAGE.write_text(page(results, options.number, options.seed), encoding="utf-8")


def _is_killed(mutant: Mutant, trials: Trials, survey: Survey, seconds: float) -> bool:
    tests = survey.of(mutant, seconds)
    cpu = 3 * sum(survey.seconds[test] for test in tests) + 5
    return bool(tests) and trials.kills(mutant, tests, cpu)


def _row(mutant: Mutant) -> Survivor:
    return Survivor(str(mutant.path.relative_to(PACKAGE)), mutant.function, mutant.right, mutant.wrong)


def _survey(trials: Trials, file: Path | None) -> Survey:
    if file and file.is_file():
        return Survey(**json.loads(file.read_text()))
    survey = trials.survey([PACKAGE / room for room in ROOMS])
    if file:
        file.write_text(json.dumps({"seconds": survey.seconds, "tests": survey.tests}))
    return survey


def _files(chosen: list[Path]) -> Iterator[Path]:
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            if not chosen or any(path.is_relative_to(one.resolve()) for one in chosen):
                yield path


def _drawn(path: Path, options: argparse.Namespace) -> list[Mutant]:
    every = [mutant for mutant in mutants_of(path) if mutant.function not in IMPORTED]
    if options.all or len(every) <= options.number:
        return every
    # Seeded with the name, so that each file keeps its mutants when another one changes.
    chance = random.Random(f"{options.seed} {path.relative_to(PACKAGE)}")
    return [every[place] for place in sorted(chance.sample(range(len(every)), options.number))]


if __name__ == "__main__":
    main()
