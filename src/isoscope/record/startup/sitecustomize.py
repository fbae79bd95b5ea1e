"""Python imports this module when it starts, in a program that `isoscope record` runs."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_HERE = str(Path(__file__).parent)


def _run_other() -> None:
    """The `sitecustomize` that Python would have imported without this one."""
    others = [path for path in sys.path if path != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


def _record() -> None:
    try:
        from isoscope.record.started import start  # noqa: PLC0415 - this Python may not have it

        start()
    except Exception as error:
        # The program must run whatever happens to the recording.
        sys.stderr.write(f"isoscope: this program is not recorded: {str(error).splitlines()[0]}\n")


if "ISOSCOPE_RECORD" in os.environ:
    _record()
_run_other()
