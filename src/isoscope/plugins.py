"""Drivers, formats and workloads that other packages bring: entry points, and `module:NAME`.

A package names them in the groups `isoscope.databases`, `isoscope.formats` and `isoscope.workloads`. They
are looked up when a name is asked for that Isoscope itself does not have. A plug-in that cannot be loaded, or
that fails, is one `UsageError`, never a traceback.
"""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager
from functools import lru_cache, wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoscope.errors import IsoscopeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from importlib.metadata import EntryPoint

__all__ = ["GROUPS", "guard", "guarded", "is_path", "load", "names", "refuse_incomplete"]

#: The group of entry points for each kind of plug-in.
GROUPS = {
    "driver": "isoscope.databases",
    "format": "isoscope.formats",
    "workload": "isoscope.workloads",
}


def names(kind: str) -> list[str]:
    """The names that installed packages bring, sorted."""
    return sorted(_entry_points(GROUPS[kind]))


@lru_cache(maxsize=len(GROUPS))
def _entry_points(group: str) -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - it takes a while, and few need it

    return {entry.name: entry for entry in entry_points(group=group)}


def is_path(name: str) -> bool:
    """Whether a name says where the plug-in is: `module:NAME`."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def load(kind: str, name: str) -> Any:
    """The plug-in with this name, or at `module:NAME`; modules in the current folder are found as well.

    Raises UsageError, in one line, if it cannot be loaded.
    """
    place = name if is_path(name) else _entry_points(GROUPS[kind])[name].value
    module, _, attribute = place.partition(":")
    with guarded(f"the {kind} {place} cannot be loaded"), _current_folder():
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        return found


@contextmanager
def _current_folder() -> Iterator[None]:
    folder = str(Path.cwd())
    is_new = folder not in sys.path and "" not in sys.path
    if is_new:
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        if is_new:
            sys.path.remove(folder)


def refuse_incomplete(kind: str, place: str, found: object, attributes: tuple[str, ...]) -> None:
    """Raises UsageError if a plug-in lacks an attribute that its kind has."""
    for attribute in attributes:
        if not hasattr(found, attribute):
            raise UsageError(f"{place} is no {kind}: it has no `{attribute}`")


@contextmanager
def guarded(
    what: str, *passed: type[BaseException], raises: type[IsoscopeError] = UsageError
) -> Iterator[None]:
    """Turns an exception of a plug-in into one line; errors of Isoscope, and those `passed`, stay."""
    expected: tuple[type[BaseException], ...] = (IsoscopeError, *passed)
    try:
        yield
    except expected:
        raise
    except (Exception, SystemExit) as error:
        raise raises(f"{what}: {_described(error)}") from None


def guard(what: str, function: Callable[..., Any], *passed: type[BaseException]) -> Callable[..., Any]:
    """The function, whose exceptions are turned into one line."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        with guarded(what, *passed):
            return function(*arguments, **named)

    return call


def _described(error: BaseException) -> str:
    """Kind, message and place of an error: the file and line of the plug-in in which it happened."""
    text = " ".join(str(error).split())
    ours = str(Path(__file__).parent)
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if _is_foreign(frame.filename, ours)
    ]
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text}{where}" if text else f"{type(error).__name__}{where}"


def _is_foreign(path: str, ours: str) -> bool:
    return not path.startswith((ours, "<frozen")) and Path(path).name != "__init__.py"
