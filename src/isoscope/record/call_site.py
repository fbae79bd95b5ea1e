"""The line of the program that issued a statement: the first frame outside of libraries."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType, FrameType

__all__ = ["SITES", "call_site", "site_of"]

_LIBRARIES = tuple(
    {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(__file__).parents[1]), "<"}
)
_getframe = sys._getframe  # noqa: SLF001 - the documented way to the calling frames
#: More frames than this are not searched.
_DEPTH = 200
#: Whether each file that was met belongs to a library.
_MET: dict[str, bool] = {}
#: Places of the program by instruction; the code is kept so that its identity is not used again.
SITES: dict[tuple[int, int], tuple[CodeType, tuple[str, int]]] = {}


def _is_library(path: str) -> bool:
    found = path.startswith(_LIBRARIES) or "site-packages" in path or "dist-packages" in path
    _MET[path] = found
    return found


def call_site() -> tuple[str, int]:
    """The path and the line; an empty path if all frames belong to libraries."""
    # The frame of the caller is ours, and the next one is mostly that of the program.
    frame = _getframe(2)
    # To find the line of an instruction takes longer than everything else here.
    found = SITES.get((id(frame.f_code), frame.f_lasti))
    return site_of(frame) if found is None else found[1]


def site_of(frame: FrameType) -> tuple[str, int]:
    """The same for the innermost frame outside of this package; from now on `SITES` has it."""
    place = _place(frame)
    if not _MET.get(frame.f_code.co_filename, True):
        SITES[id(frame.f_code), frame.f_lasti] = frame.f_code, place
    return place


def _place(frame: FrameType | None) -> tuple[str, int]:
    for _ in range(_DEPTH):
        if frame is None:
            break
        path = frame.f_code.co_filename
        if not (_MET[path] if path in _MET else _is_library(path)):
            return path, frame.f_lineno
        frame = frame.f_back
    return "", 0
