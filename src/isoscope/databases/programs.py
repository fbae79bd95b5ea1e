"""Programs of databases: on this machine, or from a package of Debian in a folder of the user.

Nothing is installed: a package in the folder serves this user only, and can be deleted at any time.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.databases import downloads
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["cache_folder", "fetch", "find_file", "find_program"]

#: Seconds that the download of a package may take.
_PATIENCE = 300


def cache_folder() -> Path:
    """The folder of unpacked packages."""
    return downloads.cache_folder() / "packages"


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
        hint = "without a network, install the package by hand, or put its programs into the PATH"
        fetch(f"{package} from Debian", ["apt-get", "download", package], folder, hint=hint)
        [file] = Path(folder).glob("*.deb")
        fetch(f"the files of {package}", ["dpkg-deb", "--extract", str(file), "root"], folder, hint=hint)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(Path(folder) / "root", target)


def fetch(what: str, command: Sequence[str], folder: str, *, hint: str, seconds: float = _PATIENCE) -> None:
    """Runs the client of a registry in a folder. Raises `DatabaseError` with its reason if it fails."""
    try:
        with downloads.progress(f"fetching {what}"):
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DatabaseError(f"{command[0]} cannot be run: {error}\n\nhint: {hint}") from None
    if done.returncode:
        lines = downloads.telling(done.stdout + done.stderr)
        why = "".join(f"\n  {line}" for line in lines) or " no reason given"
        raise DatabaseError(f"{command[0]} cannot get {what}:{why}\n\nhint: {hint}")
