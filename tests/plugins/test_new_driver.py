"""`isoscope new driver`: a skeleton that conforms once its three methods are filled in."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import run_apart as run

if TYPE_CHECKING:
    from pathlib import Path

CONNECT = """
        import sqlite3
        return sqlite3.connect("my.db", isolation_level=None, check_same_thread=False, timeout=10)
"""
BEGIN = """
        cursor.execute("BEGIN IMMEDIATE")
"""
FAILURE = """
        import sqlite3
        if isinstance(error, sqlite3.IntegrityError) or "locked" in str(error):
            return Aborted(type(error).__name__)
        return DatabaseError(str(error))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill_in(path: Path, **bodies: str) -> None:
    text = path.read_text()
    for method, body in bodies.items():
        todo = f'        raise NotImplementedError("FILL IN: {method}")\n'
        assert text.count(todo) == 1
        text = text.replace(todo, body)
    path.write_text(text)


@pytest.mark.slow
def test_the_skeleton_passes_the_suite_once_three_methods_are_filled_in(folder: Path) -> None:
    written = run("new", "driver", "mydb")
    assert written.status == 0, written.err
    assert "isoscope run --driver mydb:Mydb" in written.out
    fill_in(folder / "mydb.py", connect=CONNECT, begin=BEGIN, failure=FAILURE)
    suite = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mydb.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert suite.returncode == 0, suite.stdout
    assert "12 passed" in suite.stdout
    ran = run("run", "--driver", "mydb:Mydb", "--transactions", "100")
    assert ran.status == 0, ran.err
    assert "serializable" in ran.out


def test_the_skeleton_alone_says_what_is_missing(folder: Path) -> None:
    run("new", "driver", "mydb")
    ran = run("run", "--driver", "mydb:Mydb")
    assert ran.status == 2
    expected = "error: the driver mydb failed in `open`: NotImplementedError: FILL IN: connect (mydb.py:"
    assert ran.err.startswith(expected)
    assert "Traceback" not in ran.err


def test_a_file_is_never_replaced(folder: Path) -> None:
    (folder / "mydb.py").write_text("mine")
    ran = run("new", "driver", "MyDB")
    assert ran.status == 2
    assert "mydb.py is there already" in ran.err
    assert (folder / "mydb.py").read_text() == "mine"
    assert not (folder / "test_mydb.py").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("1st", "cannot be the name"),
        ("", "cannot be the name"),
        ("class", "cannot be the name"),
        ("SQLite", "has a driver"),
    ],
)
def test_a_name_that_is_no_module_is_refused(folder: Path, name: str, message: str) -> None:
    ran = run("new", "driver", name)
    assert ran.status == 2
    assert message in ran.err
    assert not [*folder.iterdir()]


def test_a_name_becomes_a_module_and_a_class(folder: Path) -> None:
    assert run("new", "driver", "My Great-DB").status == 0
    assert "class MyGreatDb(SQLDatabase):" in (folder / "my_great_db.py").read_text()
    assert "from my_great_db import MyGreatDb" in (folder / "test_my_great_db.py").read_text()
