"""The wheel has every file that the package reads at run time, and is all that running needs."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

import pytest

import isoscope

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "isoscope"
#: Templates, styles and scripts of pages, and profiles of databases.
READ = (".j2", ".css", ".js", ".toml")
#: What a source distribution is made of: nothing compiled, no history, no archive.
SOURCES = {*READ, ".cypher", ".aql", ".lock", ".md", ".py", ".pyi", ".rs", ".txt", ".typed", ""}
#: Bytes of the compressed sources: well above what they are, and far below one history of a benchmark.
LARGEST = 4_000_000


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
    assert_uploadable(*(ROOT / "dist").glob("isoscope-*"))
    run([sys.executable, "-m", "venv", "empty"], tmp_path)
    bin_ = tmp_path / "empty" / "bin"
    run([str(bin_ / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel)], tmp_path)
    environment = {"PATH": str(bin_), "HOME": str(tmp_path)}
    assert run(["isoscope", "--version"], tmp_path, environment).split()[-1] == isoscope.__version__
    example = run(["isoscope", "explain", "write-skew", "--example"], tmp_path, environment)
    (tmp_path / "example.edn").write_text(example, encoding="utf-8")
    told = run(["isoscope", "check", "example.edn", "--report", "report.html"], tmp_path, environment)
    assert "write-skew: 1 found" in told
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert "Yes. SQLite " in run(["isoscope", "run", "sqlite", "--seconds", "1"], tmp_path, environment)


@pytest.fixture(scope="module")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution; nothing is compiled for it."""
    folder = tmp_path_factory.mktemp("dist")
    run([str(Path(sys.executable).parent / "maturin"), "sdist", "--out", str(folder)], ROOT)
    [path] = folder.glob("isoscope-*.tar.gz")
    return path


@pytest.mark.slow
def test_the_source_distribution_has_what_a_build_needs_and_nothing_else(distribution: Path) -> None:
    with tarfile.open(distribution) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = ["pyproject.toml", "README.md", "LICENSE", "rust/Cargo.lock", "rust/kernel/src/lib.rs"]
    assert {*needed, "rust/binding/src/lib.rs", "src/isoscope/profiles/sqlite.toml"} <= names
    top = {name.partition("/")[0] for name in names}
    assert top == {"PKG-INFO", "LICENSE", "README.md", "pyproject.toml", "rust", "src"}
    assert {PurePosixPath(name).suffix for name in names} <= SOURCES
    assert distribution.stat().st_size < LARGEST


@pytest.mark.slow
def test_the_source_distribution_describes_itself(distribution: Path) -> None:
    with tarfile.open(distribution) as archive:
        member = archive.extractfile(f"isoscope-{isoscope.__version__}/PKG-INFO")
        assert member is not None
        told = member.read().decode()
    head, _, description = told.partition("\n\n")
    assert f"Version: {isoscope.__version__}" in head.splitlines()
    assert "License-Expression: Apache-2.0" in head.splitlines()
    assert description.strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()


@pytest.mark.slow
def test_an_index_would_take_the_source_distribution(distribution: Path) -> None:
    assert_uploadable(distribution)


def assert_uploadable(*paths: Path) -> None:
    if find_spec("twine") is None:
        pytest.skip("twine is not installed")
    told = run([sys.executable, "-m", "twine", "--no-color", "check", "--strict", *map(str, paths)], ROOT)
    assert told.count("PASSED") == len(paths), told


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout
