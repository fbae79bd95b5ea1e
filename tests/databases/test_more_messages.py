"""Databases in this process: a mistake of the user, or a missing library, is one clear message."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from isoscope import profiles
from isoscope.databases import connect, driver
from isoscope.databases.redis import Redis
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

LIBRARIES = {
    "h2": ("jpype", "jdbc"),
    "hsqldb": ("jpype", "jdbc"),
    "seekdb": ("pylibseekdb", "seekdb"),
    "redis": ("redis", "redis"),
    "turso": ("turso", "turso"),
    "firebird": ("firebird.driver", "firebird"),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module, extra = LIBRARIES[name]
    monkeypatch.setitem(sys.modules, module, None)
    # Nothing is fetched for a database that cannot be run.
    monkeypatch.setenv("ISOSCOPE_CACHE", str(tmp_path / "cache"))
    with closing(connect(name)) as database, pytest.raises(DatabaseError) as refused:
        database.open("register")
    assert str(refused.value).endswith(f"hint: pip install 'isoscope[{extra}]'")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("name", ["h2", "hsqldb", "seekdb", "turso", "firebird"])
def test_a_database_of_this_process_has_no_url(name: str) -> None:
    with pytest.raises(UsageError, match=f"it has no URL\n\nhint: isoscope run {name}"):
        connect(f"{name}://somewhere")


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("h2", "lock_timeout"),
        ("seekdb", "lock_timeout"),
        ("firebird", "lock_timeout"),
        ("turso", "busy_timeout"),
    ],
)
def test_a_time_that_is_no_number_is_refused(name: str, setting: str) -> None:
    with pytest.raises(UsageError, match=f"`{setting}` is a number of (milli)?seconds, not `soon`"):
        connect(name, settings={setting: "soon"})


def test_an_unknown_concurrency_model_is_refused_with_a_guess() -> None:
    with pytest.raises(UsageError, match="unknown transaction_control of hsqldb `mvc`; did you mean `mvcc`"):
        connect("hsqldb", settings={"transaction_control": "mvc"})


@pytest.mark.parametrize("isolation", driver("hsqldb").ISOLATIONS)
@pytest.mark.parametrize("model", ["locks", "mvlocks", "MVCC"])
def test_hsqldb_promises_what_its_concurrency_model_does(isolation: str, model: str) -> None:
    settings = {"transaction_control": model}
    name = profiles.of("hsqldb", isolation, settings)
    assert name is not None
    assert ("mvcc" in name) == (model == "MVCC")
    assert connect("hsqldb", isolation=isolation, settings=settings).promises == profiles.load(name).promises


def test_the_url_of_redis_is_not_shown_where_it_makes_no_sense() -> None:
    pytest.importorskip("redis", reason="no module redis")
    with pytest.raises(UsageError, match="the URL of Redis is not understood") as refused:
        Redis("watch", url="redis://:s3cret@host:port/0", settings={}).open("register")
    assert "s3cret" not in str(refused.value)
