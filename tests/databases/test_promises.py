"""A database that kept its promise: status 0 and a green JUnit file, checked afterwards or while it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from isoscope import profiles
from tests.cli.running import run
from tests.databases.conformance import Case, cases

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("live", [False, True], ids=["afterwards", "live"])
@pytest.mark.parametrize("case", cases())
def test_a_promise_that_was_kept_is_green(
    case: Case, live: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if live and profiles.of(case.name, case.isolation, case.settings) is None:
        pytest.skip(f"no profile describes {case}")
    settings = [word for name, value in case.settings.items() for word in ("--set", f"{name}={value}")]
    asked = ("--isolation", case.isolation, *settings, "--transactions", 200, "--sessions", 4, "--seed", 5)
    done = run("run", case.name, *asked, "--junit", "junit.xml", *(["--live"] if live else []))
    assert done.status == 0, done.out + done.err
    suites = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suites.get("failures"), suites.get("errors")) == ("0", "0")
