"""Records the connections of drivers, at once if they are imported, else when they are."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from isoscope.record.recording import Recording

__all__ = ["DRIVERS", "driver_module", "install", "recording_of", "uninstall"]

#: The module of each driver, and ours that records it.
DRIVERS = {
    "duckdb": "isoscope.record.duckdb",
    "psycopg": "isoscope.record.postgresql",
    "psycopg2": "isoscope.record.postgresql_psycopg2",
    "pymysql": "isoscope.record.mariadb",
    "sqlite3": "isoscope.record.sqlite",
}


def driver_module(name: str) -> Any:
    """Our module that records a driver."""
    return import_module(DRIVERS[name])


def recording_of() -> Recording | None:
    """The recording of this process, if there is one."""
    finder = next((one for one in sys.meta_path if isinstance(one, _Finder)), None)
    return None if finder is None else finder.recording


def install(recording: Recording) -> None:
    """Records every connection that this process makes from now on."""
    uninstall(None)
    sys.meta_path.insert(0, _Finder(recording))
    for name in DRIVERS:
        if name in sys.modules:
            driver_module(name).install(recording)


def uninstall(before: Recording | None) -> None:
    """Goes back to an earlier recording, or to none."""
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _Finder)]
    for name in DRIVERS:
        if name in sys.modules:
            driver_module(name).uninstall()
    if before is not None:
        install(before)


class _Finder(MetaPathFinder):
    """Finds the modules of drivers, and installs the recording when they have been imported."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._is_asking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module as other finders find it, with a loader that also installs."""
        del path, target
        if fullname not in DRIVERS or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = find_spec(fullname)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, DRIVERS[fullname], self.recording)
        return spec


class _Loader(Loader):
    def __init__(self, inner: Any, ours: str, recording: Recording) -> None:
        self._inner = inner
        self._ours = ours
        self._recording = recording

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module as the driver's own loader makes it."""
        module: ModuleType | None = self._inner.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module, then records its connections."""
        self._inner.exec_module(module)
        import_module(self._ours).install(self._recording)
