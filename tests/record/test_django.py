"""The backends of Django that record, named in the settings of a project."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import isoscope
from tests.databases.mariadb_servers import ask, on_a_server, started
from tests.databases.postgresql_servers import Running, server

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROGRAM = """
import sys
import django
import pymysql
pymysql.install_as_MySQLdb()
from django.conf import settings
from django.db import connections, connection, models, transaction

settings.configure(
    DATABASES={"default": DEFAULT, "other": OTHER}, DEFAULT_AUTO_FIELD="django.db.models.AutoField"
)
django.setup()

class Counter(models.Model):
    value = models.IntegerField()
    class Meta:
        app_label = "counting"
        db_table = "counters"

with connection.schema_editor() as editor:
    editor.create_model(Counter)
with transaction.atomic():
    Counter.objects.create(value=1)
with transaction.atomic():
    counter = Counter.objects.get(value=1)
    counter.value += 1
    counter.save()
print(Counter.objects.get(id=counter.id).value)
with connections["other"].cursor() as cursor:
    cursor.execute("SELECT 1")
"""


def run(folder: Path, default: Mapping[str, object], *, command: tuple[str, ...] = ()) -> str:
    other = {"ENGINE": "django.db.backends.sqlite3", "NAME": "other.db"}
    text = PROGRAM.replace("DEFAULT,", f"{dict(default)!r},").replace("OTHER}", f"{other!r}}}")
    (folder / "project.py").write_text(text)
    done = subprocess.run(
        [sys.executable, *command, "project.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def merged(folder: Path, outcome: str) -> list[list[tuple[str, str]]]:
    """Kind and key of each operation, by transaction."""
    done = subprocess.run(
        [sys.executable, "-m", "isoscope", "record", "--folder", "traces", "-o", "project.program"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found = isoscope.load(folder / "project.program")
    assert str(isoscope.check(found, "serializable").verdicts[0].outcome) == outcome
    return [
        [(str(one.kind), str(one.key)) for one in t.operations] for t in found if t.session_id is not None
    ]


COUNTED = [("read", "counters/1"), ("write", "counters/1")]


@pytest.mark.slow
def test_a_project_on_sqlite_names_the_backend_in_its_settings(tmp_path: Path) -> None:
    backend = {"ENGINE": "isoscope.record.django.sqlite3", "NAME": "a.db", "ISOSCOPE_FOLDER": "traces"}
    assert run(tmp_path, backend) == "2\n"
    assert merged(tmp_path, "holds")[-2:] == [COUNTED, [("read", "counters/1")]]


@pytest.mark.slow
def test_without_a_folder_the_backend_records_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, {"ENGINE": "isoscope.record.django.sqlite3", "NAME": "a.db"}) == "2\n"
    assert {one.name for one in tmp_path.iterdir()} == {"a.db", "other.db", "project.py"}


@pytest.mark.slow
def test_a_command_that_is_recorded_anyhow_is_recorded_once(tmp_path: Path) -> None:
    backend = {"ENGINE": "isoscope.record.django.sqlite3", "NAME": "a.db", "ISOSCOPE_FOLDER": "traces"}
    command = ("-m", "isoscope", "record", "--", sys.executable)
    assert run(tmp_path, backend, command=command).startswith("2\nrecorded ")
    assert not (tmp_path / "traces").exists()
    assert isoscope.load(tmp_path / "recorded.program").counts["transactions"] >= 3


@server
def test_a_project_on_postgresql_names_the_backend_in_its_settings(running: Running, tmp_path: Path) -> None:
    running.ask("DROP TABLE IF EXISTS counters")
    where = running.where
    backend = {
        "ENGINE": "isoscope.record.django.postgresql",
        "NAME": where["dbname"],
        "USER": where["user"],
        "PASSWORD": where["password"],
        "HOST": where["host"],
        "PORT": where["port"],
        "ISOSCOPE_FOLDER": "traces",
    }
    assert run(tmp_path, backend) == "2\n"
    assert merged(tmp_path, "holds")[-2:] == [COUNTED, [("read", "counters/1")]]


@on_a_server
def test_a_project_on_mariadb_names_the_backend_in_its_settings(tmp_path: Path) -> None:
    with started() as place:
        ask(place, "CREATE DATABASE counting")
        backend = {
            "ENGINE": "isoscope.record.django.mysql",
            "NAME": "counting",
            "USER": place.user,
            "PASSWORD": place.password,
            "HOST": place.host,
            "PORT": place.port,
            "ISOSCOPE_FOLDER": "traces",
        }
        assert run(tmp_path, backend) == "2\n"
        assert merged(tmp_path, "holds")[-2:] == [COUNTED, [("read", "counters/1")]]
