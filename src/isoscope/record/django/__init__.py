"""Database backends of Django that record: a project names one of them in its settings.

    DATABASES = {
        "default": {
            "ENGINE": "isoscope.record.django.postgresql",
            "ISOSCOPE_FOLDER": "/var/tmp/traces",
            ...
        }
    }

Each process writes files of its own into the folder, and `isoscope record --folder` merges them. A process
that is recorded anyhow, by `isoscope record`, `isoscope stress` or `isoscope.record()`, writes where those
say. Without any of these the backend is the one of Django.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoscope.record.install import recording_of
from isoscope.record.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["recording_for"]

_LOCK = threading.Lock()
#: The recording of this process into each folder.
_RECORDINGS: dict[Path, Recording] = {}


def recording_for(settings: Mapping[str, Any]) -> Recording | None:
    """The recording that the settings ask for; None if they do not, or the process is recorded anyhow."""
    folder = settings.get("ISOSCOPE_FOLDER")
    if not folder or recording_of() is not None:
        return None
    path = Path(folder).resolve()
    with _LOCK:
        if path not in _RECORDINGS:
            path.mkdir(parents=True, exist_ok=True)
            _RECORDINGS[path] = Recording(path)
        return _RECORDINGS[path]
