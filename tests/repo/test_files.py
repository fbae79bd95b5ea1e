"""What holds for files as such: size, nothing left over, nothing of one machine, one version."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import isoscope

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder, pattern in (("src", "*.py"), ("rust", "*.rs"), ("tests", "*.py"))
    for path in sorted((ROOT / folder).rglob(pattern))
    if "target" not in path.parts
]
LONGEST = 400


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tracked() -> list[Path]:
    """Files in version control, or all of them where there is none."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        return SOURCES
    return [path for path in map(ROOT.joinpath, listed.stdout.splitlines()) if path.is_file()]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_a_source_file_is_short_enough_to_be_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST


#: Put together here, so that this file does not show what it looks for.
LEFT_OVER = re.compile(r"TO" + r"DO|FIX" + r"ME|\bXX" + r"X\b|<<<<" + r"<<<|break" + r"point\(")
MACHINE = re.compile(r"(?<![\w.}])/(ho" + r"me/\w|ro" + "ot/|tm" + "p/|wo" + "rk/|Us" + r"ers/\w)")


@pytest.mark.parametrize(("what", "pattern"), [("left over", LEFT_OVER), ("of one machine", MACHINE)])
def test_nothing_is_left_over_and_nothing_belongs_to_one_machine(what: str, pattern: re.Pattern[str]) -> None:
    texts = {".py", ".pyi", ".rs", ".toml", ".md", ".yml", ""}
    found = [
        f"{relative(path)}:{number}: {line.strip()}"
        for path in tracked()
        if path.suffix in texts and "seeds" not in path.parts  # of fuzzing: some are bytes of a binary format
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, what


def test_the_patterns_find_what_they_look_for() -> None:
    assert LEFT_OVER.search("# TO" + "DO: later")
    assert MACHINE.search("open('/ho" + "me/me/x')")
    assert not MACHINE.search("benchmarks/wo" + "rk/x and tmp_path / 'x'")


def test_the_kernel_forbids_unsafe_code() -> None:
    manifests = [
        tomllib.loads((ROOT / "rust" / name).read_text()) for name in ("Cargo.toml", "kernel/Cargo.toml")
    ]
    workspace, kernel = manifests
    library = (ROOT / "rust/kernel/src/lib.rs").read_text()
    inherited = kernel.get("lints", {}).get("workspace") is True
    lints = workspace["workspace"].get("lints", {}) if inherited else kernel.get("lints", {})
    assert lints.get("rust", {}).get("unsafe_code") == "forbid" or "#![forbid(unsafe_code)]" in library
    for path in (ROOT / "rust/kernel/src").rglob("*.rs"):
        assert not re.search(r"\bunsafe\s*(\{|fn|impl)", path.read_text()), path


def cargo_version() -> str:
    workspace = tomllib.loads((ROOT / "rust/Cargo.toml").read_text())["workspace"]
    version: str = workspace["package"]["version"]
    return version


def test_there_is_one_version() -> None:
    """Python's comes from Cargo's, and both crates inherit the workspace's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project.get("version", cargo_version()) == cargo_version()
    assert "version" in project.get("dynamic", []) or "version" in project
    assert isoscope.__version__ == cargo_version()
    for crate in ("kernel", "binding"):
        package = tomllib.loads((ROOT / "rust" / crate / "Cargo.toml").read_text())["package"]
        assert package["version"] in ({"workspace": True}, cargo_version())


def test_the_changelog_knows_the_version() -> None:
    changelog = ROOT / "CHANGELOG.md"
    if not changelog.is_file():
        pytest.skip("there is no CHANGELOG.md yet")
    assert re.search(rf"^## .*{re.escape(isoscope.__version__)}", changelog.read_text(), re.MULTILINE)
