"""The wheel has every file that the package reads at run time."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

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
