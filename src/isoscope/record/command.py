"""Runs a command whose processes are recorded, although the program is not changed."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.record.in_process import Recorded
from isoscope.record.started import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["recorded_command"]


@contextmanager
def recorded_command(
    command: Sequence[str], *, copies: int = 1, seed: str | None = None
) -> Iterator[tuple[int, Recorded]]:
    """Runs copies of a command at the same time; its worst status and what was recorded.

    With a seed, statements that follow a read are delayed. Raises `UsageError` if nothing was recorded.
    """
    with TemporaryDirectory(prefix="isoscope-") as folder:
        running: list[subprocess.Popen[bytes]] = []
        try:
            for copy in range(copies):
                chosen = None if seed is None else f"{seed}-{copy}"
                running.append(_started(command, environment(Path(folder), seed=chosen)))
            status = max(abs(one.wait()) for one in running)
        finally:
            for one in running:
                if one.poll() is None:
                    one.kill()
                    one.wait()
        recorded = Recorded(Path(folder))
        if not recorded.count:
            raise UsageError(
                f"the command ended with status {status}, and no transaction was recorded\n\n"
                "hint: Python programs with psycopg 3, psycopg2, PyMySQL, sqlite3 or DuckDB are recorded, "
                "if isoscope[record] is installed for them"
            )
        yield status, recorded


def _started(command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, env=env)
    except OSError as error:
        raise UsageError(
            f"cannot run {command[0]}: {error.strerror}\n\nhint: the command comes after `--`"
        ) from None
