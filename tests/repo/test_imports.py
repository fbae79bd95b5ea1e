"""The rooms of the package and the rooms that each may import, compared with the code."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from docs.rooms import ABOVE, LATER, ROOMS, layers

from tests.repo.test_files import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = ROOT / "src" / "isoscope"
MODULES = sorted(PACKAGE.rglob("*.py"))

TABLE = {name: room.imports for name, room in ROOMS.items()}
#: Nothing imports these, and they may import anything.
TOP = {"__init__", "__main__", *ABOVE}
#: Rooms whose files never import each other, but for what all of them share.
APART = {
    "formats": {"arrow", "format", "source"},
    "levels": {"definition", "lattice", "names"},
    "databases": {
        "database",
        "downloads",
        "guarded",
        "jdbc",
        "links",
        "network",
        "nodes",
        "process",
        "process_family",
        "programs",
        "relays",
        "simulated",
        "slow_links",
        "sql",
    },
    # What findings of the kernel are made of.
    "checkers": {
        "reads",
        "steps",
        "conflicts",
        "cycles",
        "unjudged",
        "recorded_order",
        "explained_values",
        "witness_orders",
        "method_judgement",
        "anomaly_search",
        "itemised",
        "version_judgement",
        "witnesses",
        "participants",
        "clock_anomalies",
        "clock",
        "slice_excerpt",
        "assumptions",
        "stream_excerpt",
        "intervals",
        "mechanism_anomalies",
    },
}


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Dotted names of ours that a module imports, wherever in the module: `history`, `formats.plume`."""
    return imported(ast.parse(path.read_text()), path)


def imports_of_functions(path: Path) -> set[str]:
    """Those that only functions import, when they are called."""
    tree = ast.parse(path.read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {name for function in calls for name in imported(function, path)}
    for function in calls:
        function.body = []
    return inside - imported(tree, path)


def imported(tree: ast.AST, path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports say where they come from"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("isoscope.") for name in found if name.split(".")[0] == "isoscope"}


def test_the_table_has_every_room() -> None:
    assert {room_of(path) for path in MODULES} <= TABLE.keys() | TOP


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_the_table_allows(path: Path) -> None:
    room = room_of(path)
    later = {name for name in imports_of_functions(path) if name.split(".")[0] in LATER.get(room, ())}
    rooms = {name.split(".")[0] for name in imports(path) - later} - {room}
    if room not in TOP:
        assert not rooms & TOP, "nothing imports the command line"
        assert rooms <= TABLE[room]


@pytest.mark.parametrize("room", APART)
def test_two_of_a_kind_never_import_each_other(room: str) -> None:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        name = path.relative_to(PACKAGE / room).parts[0].removesuffix(".py")
        if name == "__init__" or name in APART[room]:
            continue
        siblings = {name.split(".")[1] for name in imports(path) if name.startswith(f"{room}.")}
        assert siblings <= APART[room] | {name}, path


def test_the_walk_sees_imports_inside_functions_and_for_types(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "import os\nimport isoscope.levels\n"
        "if TYPE_CHECKING:\n    from isoscope.history import History\n"
        "def f():\n    from isoscope import formats\n"
    )
    assert imports(path) == {"levels", "history.History", "formats"}


def test_a_method_may_import_later_what_its_module_may_not(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("from isoscope import levels\ndef f():\n    from isoscope import levels, reports\n")
    assert imports_of_functions(path) == {"reports"}


def test_the_rules_point_one_way() -> None:
    """Following the table never leads back to the same room, and the picture shows every room once."""
    assert sorted(room for layer in layers() for room in layer) == sorted(ROOMS)
    reached = dict(TABLE)
    for _ in TABLE:
        reached = {
            room: below.union(*(reached.get(b, frozenset()) for b in below))
            for room, below in reached.items()
        }
    assert [room for room, below in reached.items() if room in below] == []


def exported(path: Path) -> list[str] | None:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return None


def in_order(names: list[str]) -> list[str]:
    """As isort and ruff (RUF022) sort: CONSTANTS, then Classes, then the rest."""

    def place(name: str) -> tuple[int, str]:
        if name.isupper() and len(name) > 1:
            return 0, name
        return (1 if name[0].isupper() else 2), name

    return sorted(names, key=place)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_says_what_is_public_in_order(path: Path) -> None:
    names = exported(path)
    if names is None:
        assert not [
            node
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        ]
        return
    assert names == in_order(names)
    assert len(names) == len(set(names))


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert (PACKAGE / "_native.pyi").is_file()
