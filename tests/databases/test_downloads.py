"""Downloads: fetched once by the registry's client, complete or not there; else one clear message."""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from isoscope.databases import downloads
from isoscope.errors import DatabaseError

JAR = downloads.maven("H2 0.0", "com.h2database:h2:0.0")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISOSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def python(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


def test_files_are_fetched_once(cache: Path) -> None:
    download = replace(JAR, command=python("open('h2.jar', 'x')"))
    assert [path.name for path in download.folder().iterdir()] == ["h2.jar"]
    assert replace(download, command=("false",)).folder() == cache / "h2-0.0"


def test_a_client_that_is_missing_is_named(cache: Path) -> None:
    download = replace(JAR, command=("isoscope-no-such-client",))
    with pytest.raises(DatabaseError) as caught:
        download.folder()
    assert str(caught.value) == (
        "H2 0.0 is fetched from Maven Central by `mvn`, which is not installed\n\n"
        f"hint: install mvn, or put the files into {cache / 'h2-0.0'}"
    )


LONG = "h" * 300
#: What clients say, and what a message has of it.
SAID = {
    "the reason, without advice": (
        "\x1b[31m[ERROR] Connect to 127.0.0.1:9 failed: Connection refused\x1b[0m\n[ERROR]\n[ERROR] use -X",
        ["[ERROR] Connect to 127.0.0.1:9 failed: Connection refused"],
    ),
    "several tries once": (
        "WARNING: Retrying (total=4) after 'refused'\nWARNING: Retrying (total=3) after 'refused'\n"
        "ERROR: not found",
        ["WARNING: Retrying (total=4) after 'refused'", "ERROR: not found"],
    ),
    "the last lines": ("1\n2\n\n3\nfour", ["2", "3", "four"]),
    "begin and end of a long line": (
        f"failed {LONG} by proxy",
        [f"failed {LONG[:93]} ... {LONG[:151]} by proxy"],
    ),
    "nothing": ("", []),
}


@pytest.mark.parametrize("what", SAID)
def test_a_registry_that_cannot_be_reached_is_named_with_the_reason(what: str, cache: Path) -> None:
    said, lines = SAID[what]
    download = replace(JAR, command=python(f"print({said!r}); exit(1)"))
    with pytest.raises(DatabaseError) as caught:
        download.folder()
    reason = "".join(f"\n  {line}" for line in lines) or " no reason given"
    assert str(caught.value) == (
        f"H2 0.0 cannot be fetched from Maven Central by mvn:{reason}\n\n"
        f"hint: is Maven Central reachable? The files can also be put into {cache / 'h2-0.0'}"
    )
    assert [*cache.iterdir()] == []


def test_a_registry_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "_PATIENCE", 0.2)
    with pytest.raises(DatabaseError, match=r"not done after 0\.2 seconds"):
        replace(JAR, command=python("import time; time.sleep(60)")).folder()


def test_a_folder_that_cannot_be_made_is_one_message(cache: Path) -> None:
    cache.write_text("a file")
    with pytest.raises(DatabaseError, match=r"H2 0\.0 cannot be kept in "):
        replace(JAR, command=("true",)).folder()


def test_a_wheel_is_unpacked_with_its_modes(tmp_path: Path) -> None:
    program = zipfile.ZipInfo("bin/program")
    program.external_attr = 0o755 << 16
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
        archive.writestr(program, "#!/bin/sh\n")
        archive.writestr("README", "read me")
    copy = python(f"import shutil; shutil.copy({str(tmp_path / 'x.whl')!r}, '.')")
    folder = replace(downloads.wheel("X", "x", "1"), command=copy).folder()
    assert sorted(path.name for path in folder.iterdir()) == ["README", "bin"]
    assert (folder / "bin" / "program").stat().st_mode & 0o777 == 0o755


def test_a_package_of_npm_is_unpacked(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("package/index.js")
        archive.addfile(member, io.BytesIO(b""))
    copy = python(f"import shutil; shutil.copy({str(tmp_path / 'x.tgz')!r}, '.')")
    folder = replace(downloads.npm("X", "x", "1"), command=copy).folder()
    assert [path.name for path in folder.rglob("*.js")] == ["index.js"]


def test_a_registry_that_sends_nothing_is_an_error(cache: Path) -> None:
    with pytest.raises(DatabaseError, match="no file of the expected kind"):
        replace(downloads.npm("X", "x", "1"), command=("true",)).folder()
    assert [*cache.iterdir()] == []


def test_the_cache_is_where_the_desktop_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOSCOPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/tmp/of-mine")
    assert downloads.cache_folder() == Path("/var/tmp/of-mine/isoscope")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert downloads.cache_folder() == Path.home() / ".cache" / "isoscope"


def test_a_terminal_shows_what_is_fetched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    replace(JAR, command=("true",)).folder()
    assert capsys.readouterr().err == "\r\x1b[Kfetching H2 0.0 from Maven Central ... 0 s\n"
