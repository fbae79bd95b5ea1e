"""Histories with a verdict that is known, from other projects: our verdicts never contradict it.

They are not ours to copy: the tests read them from `../shared/oracle` or $ISOSCOPE_ORACLE.
"""

from __future__ import annotations

import csv
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import isoscope
from isoscope.anomalies import find
from isoscope.checkers.values import NAMES
from isoscope.history import Initial
from isoscope.levels import Level, implied
from isoscope.verdict import Outcome
from tests.reference.test_reads import assert_agreement
from tests.reference.test_weak_kernel import assert_agreement as assert_agreement_on_weak_levels

ROOT = Path(__file__).parents[2]
ORACLE = Path(os.environ.get("ISOSCOPE_ORACLE") or ROOT.parent / "shared" / "oracle")
pytestmark = pytest.mark.skipif(not ORACLE.is_dir(), reason=f"no oracle at {ORACLE}")

#: What the oracle calls a format, and what we do.
FORMATS = {"plume": "plume", "jepsen": "jepsen", "aion": "aion", "dbcop": "dbcop-bincode"}
#: Where the oracle's README says that a file is to be read with another initial value.
INITIAL = {"timestamps/format-kv.json.gz": Initial(value=0)}


def rows() -> list[dict[str, str]]:
    if not ORACLE.is_dir():
        return []
    with (ORACLE / "expected.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["format"] in FORMATS]


def elle() -> list[dict[str, Any]]:
    path = ORACLE / "elle" / "cases.json"
    cases: list[dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else []
    return cases


@cache
def load(path: str) -> isoscope.History:
    return isoscope.load(ORACLE / path, initial=INITIAL.get(path))


PATHS = sorted({row["path"] for row in rows()})


#: Levels that this version decides: every row of theirs must be right, not only not wrong.
DECIDED = {Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL, Level.CUT_ISOLATION}
WEAK = [path for path in PATHS if path.startswith("weak/")]


@pytest.mark.parametrize("path", PATHS)
def test_a_history_of_the_oracle_gets_the_verdict_that_is_known_or_none(path: str) -> None:
    mine = [row for row in rows() if row["path"] == path]
    assert {load(path).source.format} == {FORMATS[row["format"]] for row in mine}
    report = isoscope.check(load(path), [row["level"] for row in mine])
    for row, verdict in zip(mine, report.verdicts, strict=True):
        if verdict.level in DECIDED or verdict.outcome is not Outcome.UNKNOWN:
            assert str(verdict.outcome) == row["expected"], row


def test_the_levels_that_take_an_order_have_rows_with_both_answers() -> None:
    answers = {(row["level"], row["expected"]) for row in rows()}
    ordered = DECIDED - {Level.CUT_ISOLATION}
    assert answers >= {(str(level), expected) for level in ordered for expected in ("holds", "violated")}


@pytest.mark.parametrize("path", [path for path in WEAK if load(path).counts["operations"] < 300])
def test_the_specification_agrees_on_the_small_histories_of_the_oracle(path: str) -> None:
    assert_agreement(load(path))
    assert_agreement_on_weak_levels(load(path))


#: What the file of a pattern shows beside it.
BESIDE = {"i": {"fractured-read-cm"}}


@pytest.mark.parametrize("letter", "abcdefghijklmn")
def test_a_pattern_of_plume_is_found_by_name_and_breaks_its_levels(letter: str) -> None:
    [path] = [path for path in PATHS if path.startswith(f"weak/tap/tap-{letter}_")]
    entry = find(f"TAP-{letter}")
    report = isoscope.check(load(path), list(Level))
    found = {name for verdict in report.verdicts for name in verdict.anomaly_counts}
    assert found == {entry.name} | BESIDE.get(letter, set())
    broken = {verdict.level for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED}
    # The circle of TAP-g needs no session: it is Adya's G1c as well.
    weakest = Level.PL_2 if letter == "g" else NAMES[entry.name]
    assert broken == {level for level in Level if weakest in implied(level)}


@pytest.mark.parametrize("letter", "abcdefghijklmn")
def test_a_pattern_of_plume_can_be_looked_for_alone(letter: str) -> None:
    for path in (path for path in PATHS if path.startswith("weak/tap/")):
        [sighting] = isoscope.search(load(path), [f"tap-{letter}"]).sightings
        is_there = path.startswith(f"weak/tap/tap-{letter}_") or (letter == "l" and "/tap-i_" in path)
        assert sighting.presence == ("found" if is_there else "absent")


# Elle.

NAMELESS = "invocations without a process: nothing joins them to their completions"
#: Cases that cannot be read, by kind or by name, with the reason.
UNREADABLE = {
    "closed-predicate": "a workload of predicates over several keys, which the Jepsen reader does not know",
    "list-append unobserved write ordering": "one process runs several transactions at a time",
    "rw-register initial state gives read skew": "one process runs several transactions at a time",
    "list-append paper-example.edn, as shipped (no :process) [serializable]": NAMELESS,
    "list-append duplicate append attempts are rejected as input error": NAMELESS,
}
GROUPS = {"G1": ["G1a", "G1b", "G1c"], "G2": ["G2-item"]}
#: Elle does not ask who wrote what a register shows; here a value appears that nobody writes.
THIN_AIR = {"rw-register G2-item linearizable keys [read-committed]", "rw-register wfr off"}
CASES = [
    pytest.param(case, id=f"{number}-{case['name']}") for number, case in enumerate(elle()) if case["ops"]
]


def edn(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f":{key} {edn_field(key, item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + " ".join(map(edn, value)) + "]"
    if value is None:
        return "nil"
    return json.dumps(value)


def edn_field(key: str, value: Any) -> str:
    if value is None:
        return "nil"
    if key in {"type", "f"} or (key == "process" and isinstance(value, str)):
        return f":{value}"
    if key == "value" and isinstance(value, list):
        return "[" + " ".join(f"[:{kind} {' '.join(map(edn, rest))}]" for kind, *rest in value) + "]"
    return edn(value)


def written(case: dict[str, Any], notation: str, folder: Path) -> Path:
    path = folder / f"case.{notation}"
    write = edn if notation == "edn" else json.dumps
    path.write_text("".join(write(operation) + "\n" for operation in case["ops"]))
    return path


def is_readable(case: dict[str, Any]) -> bool:
    return not UNREADABLE.keys() & {case["kind"], case["name"]}


def found_against(case: dict[str, Any], history: isoscope.History) -> set[str]:
    """Names of anomalies that break a level, or are among the anomalies, that the case asks for."""
    options = case["options"]
    models = [f"elle:{model}" for model in options.get("consistency-models") or ["strict-serializable"]]
    verdicts = isoscope.check(history, models).verdicts
    found = {name for verdict in verdicts for name in verdict.anomaly_counts}
    if options.get("consistency-models") or not options.get("anomalies"):
        return found
    labels = {label for name in options["anomalies"] for label in GROUPS.get(name, [name])}
    return found & {find(label).name for label in labels}


both = pytest.mark.parametrize("notation", ["edn", "json"])


@both
@pytest.mark.parametrize("case", CASES)
def test_a_case_of_elle_is_read_as_the_specification_reads_it_or_refused(
    case: dict[str, Any], notation: str, tmp_path: Path
) -> None:
    path = written(case, notation, tmp_path)
    if is_readable(case):
        assert_agreement(isoscope.load(path, format="jepsen"))
    else:
        with pytest.raises(isoscope.FormatError):
            isoscope.load(path, format="jepsen")


#: Whole histories that Elle calls valid, and rightly.
VALID = [
    pytest.param(case, id=case["name"])
    for case in elle()
    if case["expected_valid"] is True
    and case["level"] == "check"
    and is_readable(case)
    and not {"known_bug", "known_gap"} & case.keys()
]


@both
@pytest.mark.parametrize("case", VALID)
def test_what_elle_calls_valid_is_not_violated(case: dict[str, Any], notation: str, tmp_path: Path) -> None:
    history = isoscope.load(written(case, notation, tmp_path), format="jepsen")
    assert found_against(case, history) == ({"thin-air-read"} if case["name"] in THIN_AIR else set())
