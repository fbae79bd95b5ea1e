"""Programs of databases: on this machine, or from a package of Debian in a folder of the user.

Nothing is installed: a package in the folder serves this user only, and can be deleted at any time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from isoscope.errors import DatabaseError

__all__ = ["cache_folder", "find_file", "find_program"]

#: Seconds that the download of a package may take.
_PATIENCE = 300


def cache_folder() -> Path:
    """The folder of unpacked packages."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "isoscope" / "packages"


def find_program(name: str, *, package: str, download: bool) -> str:
    """The path of a program: of this machine, or of the package, which `download` fetches."""
    found = shutil.which(name)
    return found or str(find_file(f"usr/bin/{name}", package=package, download=download))


def find_file(path: str, *, package: str, download: bool) -> Path:
    """The path of a file of a package of Debian, installed or unpacked. Raises `DatabaseError` if missing."""
    installed, unpacked = Path("/") / path, cache_folder() / package / path
    if installed.exists():
        return installed
    if not unpacked.exists() and download:
        _download(package)
    if not unpacked.exists():
        raise DatabaseError(
            f"{Path(path).name} is not found on this machine\n\n"
            f"hint: install it (Debian: apt install {package}); --set download=on unpacks that package "
            f"into {cache_folder()}"
        )
    return unpacked


def _download(package: str) -> None:
    """Unpacks a package beside the others; a download that is interrupted leaves nothing."""
    target = cache_folder() / package
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="isoscope-package-") as folder:
        _run(["apt-get", "download", package], folder)
        [file] = Path(folder).glob("*.deb")
        _run(["dpkg-deb", "--extract", str(file), "root"], folder)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(Path(folder) / "root", target)


def _run(command: list[str], folder: str) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DatabaseError(f"{command[0]} cannot be run: {error}") from None
    if done.returncode:
        why = done.stderr.strip().rpartition("\n")[2]
        hint = "without a network, install the package by hand, or put its programs into the PATH"
        raise DatabaseError(f"{' '.join(command[:2])} failed: {why}\n\nhint: {hint}")
