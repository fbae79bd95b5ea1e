"""The runner of mutants: what it changes, which tests it chooses, and when a mutant counts as killed."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.mutation.__main__ import PACKAGE
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.survivors import EQUIVALENT, Survivor
from tests.mutation.trials import Survey, in_child

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def changes(folder: Path, body: str) -> list[tuple[str, str]]:
    """Every change of a function with this body."""
    return [(mutant.right, mutant.wrong) for mutant in mutants(folder, body)]


def mutants(folder: Path, body: str) -> list[Mutant]:
    path = folder / "mutated.py"
    path.write_text(f"def function(x, y):\n    {body}\n")
    return list(mutants_of(path))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x < y", [("x < y", "x <= y"), ("x < y", "x > y")]),
        ("return x is y", [("x is y", "x is not y")]),
        ("return x and y", [("x and y", "x or y"), ("x and y", "y"), ("x and y", "x")]),
        ("return not x", [("not x", "x")]),
        ("return x | y", [("x | y", "x"), ("x | y", "y")]),
        ("return x[1]", [("1", "2")]),
        ("return x(True)", [("True", "False")]),
        ("return x.before", [("x.before", "x.after")]),
        ("return f(x, y)", [("f(x, y)", "f(y, x)")]),
        ("return f(x, x)", []),
        ("return sorted(x, key=y)", [("sorted(x, key=y)", "list(x)")]),
        ("return x if y else z", [("x if y else z", "x"), ("x if y else z", "z")]),
        ("return [a for a in x if y]", [("y", "True")]),
        ("return [x, y]", [("[x, y]", "[y]"), ("[x, y]", "[x]")]),
        ("if x: return y", [("x", "True"), ("x", "False")]),
        ("yield x", [("yield x", "pass")]),
    ],
)
def test_one_thing_is_changed(tmp_path: Path, body: str, expected: list[tuple[str, str]]) -> None:
    assert changes(tmp_path, body) == expected


@pytest.mark.parametrize(
    "body", ["'documentation'", "assert x == 1", "x: 'int'", "return zip(x, strict=True)", "f'{x:>y}'"]
)
def test_what_has_no_meaning_of_its_own_is_left_alone(tmp_path: Path, body: str) -> None:
    assert ("1", "2") not in changes(tmp_path, body)
    assert [wrong for _, wrong in changes(tmp_path, body) if wrong != "pass"] == []


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutated", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_mutant_that_is_on_changes_the_loaded_function_of_the_child_alone(tmp_path: Path) -> None:
    [mutant, _] = mutants(tmp_path, "return x < y")
    function = loaded(mutant.path).function

    def answer() -> Any:
        mutant.turn_on()
        return function(1, 1)

    assert in_child(answer, cpu=5) is True
    assert function(1, 1) is False


def test_inner_functions_and_methods_are_changed_too(tmp_path: Path) -> None:
    path = tmp_path / "mutated.py"
    path.write_text("class C:\n    @property\n    def p(self):\n        return (lambda: 1)()\n")
    [mutant] = mutants_of(path)
    value = loaded(path).C()

    def answer() -> Any:
        mutant.turn_on()
        return value.p

    assert (mutant.function, in_child(answer, cpu=5)) == ("C.p", 2)


def test_a_function_that_another_one_returned_before_is_changed_too(tmp_path: Path) -> None:
    """A table that is made at import holds such functions."""
    path = tmp_path / "mutated.py"
    path.write_text(
        "def of(x):\n    def inner():\n        return x + 1\n    return inner\n\nTABLE = [of(5)]\n"
    )
    [mutant] = [one for one in mutants_of(path) if one.wrong == "2"]
    [function] = loaded(path).TABLE

    def answer() -> Any:
        mutant.turn_on()
        return function()

    assert (function(), in_child(answer, cpu=5)) == (6, 7)


def test_a_child_that_stops_or_does_not_end_has_no_answer() -> None:
    def endless() -> None:
        while True:
            pass

    assert in_child(lambda: os._exit(3), cpu=5) is None
    assert in_child(lambda: 1 // 0, cpu=5) is None
    assert in_child(endless, cpu=0.1) is None


def test_the_tests_of_a_line_run_fastest_first_within_the_limit(tmp_path: Path) -> None:
    mutant = mutants(tmp_path, "return x < y")[0]
    lines = {"1": ["other"], "2": ["slow", "fast", "slowest"]}
    survey = Survey({"slow": 2.0, "fast": 0.5, "slowest": 3.0, "other": 0.1}, {str(mutant.path): lines})
    assert survey.of(mutant, 4.0) == ["fast", "slow"]
    assert survey.of(mutant, 0.1) == ["fast"]


@pytest.mark.parametrize("survivor", EQUIVALENT, ids=lambda survivor: f"{survivor.file}: {survivor.function}")
def test_a_mutant_that_is_called_equivalent_is_one_of_the_code(survivor: Survivor) -> None:
    found = [(one.function, one.right, one.wrong) for one in mutants_of(PACKAGE / survivor.file)]
    assert (survivor.function, survivor.right, survivor.wrong) in found
