"""Drivers, formats and workloads of other packages, found by entry points or by `module:NAME`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from isoscope import databases, formats, plugins
from isoscope.conformance import checks
from isoscope.databases.database import Aborted
from isoscope.errors import DatabaseError, UsageError
from tests.cli.running import run_apart as run
from tests.toy_database import ToyDatabase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PLUGIN = """
from dataclasses import dataclass

from isoscope.databases.database import Isolation
from isoscope.formats import Format
from isoscope.history import Initial, Operation, OperationKind, Transaction
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.workloads import Clients
from tests.toy_database import ToyDatabase


class Toy(ToyDatabase):
    NAME = "shop"
    ISOLATIONS = {"serial": ToyDatabase.ISOLATIONS["serial"], "unfinished": ToyDatabase.ISOLATIONS["chaos"]}

    def session(self):
        if self.isolation == "unfinished":
            return object()
        return super().session()


def read(source, *, initial=None):
    words = source.files[0].read().decode().split()
    if words[1] == "crash":
        return 1 / 0
    write = Operation(kind=OperationKind.WRITE, key=words[1], value=words[2])
    return build([Transaction(number=0, id=1, session=0, session_id=1, operations=(write,))])


def write(history, sink, *, path):
    sink.write(b"SHOP x 1")


SHOP = Format(
    name="shop",
    title="A shop",
    suffixes=(".shop",),
    sniff=lambda head: head.startswith(b"SHOP"),
    read=read,
    write=write,
    holds=frozenset({"registers", "keys that are no integers", "values that are no integers"}),
)


@dataclass(frozen=True)
class Orders:
    sessions: int = 2
    keys: int = 3
    crash: bool = False
    seed: int = 0

    @property
    def content(self):
        return "register"

    def rows(self):
        return [(key, 0) for key in range(self.keys)]

    def clients(self, insert):
        return [self._client(session) for session in range(self.sessions)]

    def _client(self, session):
        value = session + 1
        while True:
            yield lambda operations, value=value: self._order(operations, value)
            value += self.sessions

    def _order(self, operations, value):
        if self.keys == 7:
            raise KeyError("no such article")
        operations.read(value % self.keys)
        operations.write(value % self.keys, value)


ORDERS = Clients(meaning="orders of a shop", defaults=Orders(), parameters=("sessions", "keys", "seed"))
NUMBER = 7
"""
ENTRY_POINTS = """[isoscope.databases]
shop = shop:Toy
broken = shop_that_is_missing:Toy

[isoscope.formats]
shop = shop:SHOP
broken = shop_that_is_missing:SHOP

[isoscope.workloads]
orders = shop:ORDERS
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package with plug-ins, in a folder of its own."""
    (tmp_path / "shop.py").write_text(PLUGIN)
    about = tmp_path / "shop-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ":".join([str(tmp_path), *sys.path]))
    monkeypatch.chdir(tmp_path)
    plugins._entry_points.cache_clear()
    yield tmp_path
    plugins._entry_points.cache_clear()
    formats._plugged_in.cache_clear()
    sys.modules.pop("shop", None)


def test_a_driver_is_found_by_its_entry_point(package: Path) -> None:
    ran = run("run", "shop", "--transactions", "50", "--sessions", "2", "--workload", "orders")
    assert ran.status == 0, ran.err
    assert " kept strict serializability " in ran.out
    assert databases.connect("shop").NAME == "shop"


def test_a_driver_a_workload_and_a_format_are_found_by_their_place(package: Path) -> None:
    ran = run("run", "--driver", "shop:Toy", "--transactions", "50", "--workload", "shop:ORDERS")
    assert ran.status == 0, ran.err
    (package / "one.txt").write_text("SHOP x 1")
    assert run("check", "one.txt", "--format", "shop:SHOP").status == 0


def test_a_format_is_recognised_converted_and_written(package: Path) -> None:
    (package / "one.txt").write_text("SHOP x 1")
    assert formats.load("one.txt").counts["operations"] == 1
    converted = run("convert", "one.txt", "two.shop")
    assert converted.status == 0, converted.err
    assert (package / "two.shop").read_bytes() == b"SHOP x 1"
    assert run("check", "two.shop", "--format", "shop").status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["run", "broken"],
            "the driver shop_that_is_missing:Toy cannot be loaded: ModuleNotFoundError: No module",
        ),
        (
            ["run", "--driver", "nowhere:Class"],
            "the driver nowhere:Class cannot be loaded: ModuleNotFoundError",
        ),
        (["run", "--driver", "shop:Absent"], "the driver shop:Absent cannot be loaded: AttributeError"),
        (["run", "--driver", "shop:NUMBER"], "shop:NUMBER is no driver: it has no `NAME`"),
        (["run", "--driver", "nonsense"], "`nonsense` names no driver: expected module:Class"),
        (["run"], "no database is named"),
        (["run", "shop", "--isolation", "unfinished"], "shop: object is no session: it has no `begin`"),
        (["run", "sqlite", "--workload", "shop:NUMBER"], "shop:NUMBER is no workload: expected a `Clients`"),
        (
            ["run", "sqlite", "--workload", "shop:ORDERS", "--active-keys", "3"],
            "knows nothing of --active-keys",
        ),
        (
            ["check", "crash.txt"],
            "the format shop failed in `read`: ZeroDivisionError: division by zero (shop.py:",
        ),
        (
            ["check", "crash.txt", "--format", "broken"],
            "the format shop_that_is_missing:SHOP cannot be loaded",
        ),
        (["check", "crash.txt", "--format", "shop:NUMBER"], "shop:NUMBER is no format: expected a `Format`"),
        (["check", "other.txt"], "the format shop_that_is_missing:SHOP cannot be loaded"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_broken_plug_in_is_one_line(package: Path, arguments: list[str], message: str) -> None:
    (package / "crash.txt").write_text("SHOP crash")
    (package / "other.txt").write_text("?")
    ran = run(*arguments)
    assert ran.status == 2, ran.err
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert "isoscope itself failed" not in ran.err


def test_a_workload_that_fails_ends_the_run_with_one_line(package: Path) -> None:
    ran = run("run", "sqlite", "--workload", "shop:ORDERS", "--keys", "7")
    assert ran.status == 2
    assert "error: the workload shop:ORDERS failed: KeyError: 'no such article' (shop.py:" in ran.err
    assert "itself failed" not in ran.err


def test_what_a_guarded_driver_says_of_a_statement_goes_through() -> None:
    database = databases.connect("", driver_path="tests.toy_database:ToyDatabase", isolation="unwritable")
    database.open("register")
    database.insert([(1, 0)])
    session = database.session()
    session.begin()
    with pytest.raises(Aborted):
        session.write(1, 2)
    session.rollback()
    with pytest.raises(DatabaseError, match="the driver toy failed in `open`: AssertionError"):
        database.open("list")
    assert database.promises == ()
    with pytest.raises(UsageError, match="leaves nothing behind"):
        database.clean()
    database.close()


class Forgetful(ToyDatabase):
    """Says that it inserted rows, and does not."""

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        del rows


def test_the_suite_says_what_a_driver_does_wrong() -> None:
    check = checks(Forgetful)[0]
    assert str(check) == "serial-a_row_has_its_initial_value"
    with pytest.raises(AssertionError, match="a row that was inserted with 7: expected 7, found None"):
        check()


def test_plug_ins_do_not_slow_the_import() -> None:
    """Entry points are read when a name is asked for that Isoscope does not have."""
    code = "import isoscope, sys; isoscope.check; print('importlib.metadata' in sys.modules)"
    before = "import sys, pyarrow; print('importlib.metadata' in sys.modules)"
    shown = [
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
        for text in (code, before)
    ]
    assert shown[0] == "False\n" or shown[1] == "True\n"
