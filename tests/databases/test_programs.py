"""Programs of packages: where they are looked for, and what a user reads if they cannot be fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.databases import programs
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISOSCOPE_CACHE", str(tmp_path))
    return tmp_path / "packages"


def client(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    """Puts a program of this name before all others."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(path.parent), prepend=":")


def test_a_missing_program_is_named_with_its_package(cache: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        programs.find_program("isoscope-nothing", package="some-server", download=False)
    assert str(caught.value) == (
        "isoscope-nothing is not found on this machine\n\n"
        "hint: install it (Debian: apt install some-server); "
        f"--set download=on unpacks that package into {cache}"
    )


def test_a_package_is_unpacked_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "apt-get", "touch some.deb")
    client(tmp_path, monkeypatch, "dpkg-deb", "mkdir -p root/usr/bin; touch root/usr/bin/isoscope-nothing")
    for _ in range(2):
        found = programs.find_program("isoscope-nothing", package="some-server", download=True)
        assert found == str(cache / "some-server/usr/bin/isoscope-nothing")
        client(tmp_path, monkeypatch, "apt-get", "exit 1")


def test_a_registry_that_cannot_be_reached_is_named_with_the_reason(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "apt-get", "echo 'E: Could not connect to proxy: refused' >&2; exit 100")
    with pytest.raises(DatabaseError) as caught:
        programs.find_program("isoscope-nothing", package="some-server", download=True)
    assert str(caught.value) == (
        "apt-get cannot get some-server from Debian:\n  E: Could not connect to proxy: refused\n\n"
        "hint: without a network, install the package by hand, or put its programs into the PATH"
    )
    assert [*cache.iterdir()] == []
