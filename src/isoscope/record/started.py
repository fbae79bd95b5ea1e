"""Starts the recording of a process that `isoscope record` or `isoscope stress` runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.record.delays import RandomDelays
from isoscope.record.install import install
from isoscope.record.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FOLDER", "SEED", "environment", "start"]

FOLDER, SEED = "ISOSCOPE_RECORD", "ISOSCOPE_SEED"


def start() -> None:
    """Records this process as its environment says."""
    seed = os.environ.get(SEED)
    hook = None if seed is None else RandomDelays(seed)
    install(Recording(Path(os.environ[FOLDER]), hook=hook))


def environment(folder: Path, *, seed: str | None = None) -> Mapping[str, str]:
    """The environment of a process that is recorded into `folder`."""
    startup = str(Path(__file__).parent / "startup")
    paths = [startup, *filter(None, [os.environ.get("PYTHONPATH")])]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), FOLDER: str(folder)}
    return found if seed is None else {**found, SEED: seed}
