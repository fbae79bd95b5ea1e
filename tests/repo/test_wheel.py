"""The wheel has every file that the package reads at run time, and is all that running needs."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "isoscope"
#: Templates, styles and scripts of pages, and profiles of databases.
READ = (".j2", ".css", ".js", ".toml")


def test_the_wheel_takes_the_whole_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    assert settings["python-source"] == "src"
    assert not {"include", "exclude"} & settings.keys()


def test_git_ignores_no_file_that_the_package_reads() -> None:
    # Maturin leaves out what git ignores.
    files = [str(path) for path in PACKAGE.rglob("*") if path.suffix in READ]
    assert {Path(path).suffix for path in files} == {*READ}
    command = ["git", "check-ignore", "--no-index", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")


def pins(name: str) -> dict[str, str]:
    """The versions that a file of requirements pins."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, flags=re.MULTILINE))


def test_building_needs_less_than_testing_and_the_same_versions() -> None:
    build, dev = pins("build.txt"), pins("dev.txt")
    assert build.items() < dev.items()
    assert not {"pytest", "mypy", "ruff", "playwright"} & build.keys()


@pytest.mark.server
@pytest.mark.timeout(1500)
def test_the_wheel_runs_where_there_is_no_rust(tmp_path: Path) -> None:
    run(["make", "wheel"], ROOT)
    [wheel] = (ROOT / "dist").glob("isoscope-*.whl")
    assert "-abi3-manylinux" in wheel.name
    run([sys.executable, "-m", "venv", "empty"], tmp_path)
    bin_ = tmp_path / "empty" / "bin"
    run([str(bin_ / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel)], tmp_path)
    environment = {"PATH": str(bin_), "HOME": str(tmp_path)}
    example = run(["isoscope", "explain", "write-skew", "--example"], tmp_path, environment)
    (tmp_path / "example.edn").write_text(example, encoding="utf-8")
    told = run(["isoscope", "check", "example.edn", "--report", "report.html"], tmp_path, environment)
    assert "write-skew: 1 found" in told
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert "Yes. SQLite " in run(["isoscope", "run", "sqlite", "--seconds", "1"], tmp_path, environment)


@pytest.mark.server
@pytest.mark.timeout(300)
def test_the_source_distribution_has_what_a_build_needs(tmp_path: Path) -> None:
    run([str(Path(sys.executable).parent / "maturin"), "sdist", "--out", str(tmp_path)], ROOT)
    [path] = tmp_path.glob("isoscope-*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = ["pyproject.toml", "README.md", "LICENSE", "rust/Cargo.lock", "rust/kernel/src/lib.rs"]
    assert {*needed, "rust/binding/src/lib.rs", "src/isoscope/profiles/sqlite.toml"} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout
