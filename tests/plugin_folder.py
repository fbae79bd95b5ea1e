"""A folder of tests that are run with the pytest plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope import pytest_plugin

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

__all__ = ["Folder"]

#: The start of every module of tests; `dirty` records an aborted read, which only PL-1 allows.
HEAD = """
import asyncio
import unittest
import pytest

def dirty(recorder):
    with recorder.transaction() as writer:
        writer.write("x", 1)
        writer.abort()
    with recorder.transaction() as reader:
        reader.read("x", 1)

def clean(recorder, key="x"):
    with recorder.transaction() as writer:
        writer.write(key, 1)
"""


class Folder:
    """A folder of tests that are run with the plugin."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester

    def run(self, text: str, *arguments: str) -> pytest.RunResult:
        self.pytester.makepyfile(HEAD + text)
        return self.pytester.runpytest_inprocess(*arguments, plugins=[pytest_plugin])

    def run_apart(self, text: str, *arguments: str) -> pytest.RunResult:
        """In separate processes, as xdist needs."""
        self.pytester.makepyfile(HEAD + text)
        plugins = ("-p", "isoscope.pytest_plugin", "-p", "xdist.plugin")
        return self.pytester.runpytest_subprocess(*plugins, *arguments)

    def settings(self, text: str) -> None:
        self.pytester.makeini(f"[pytest]\n{text}\n")

    @property
    def kept(self) -> list[Path]:
        return sorted((self.pytester.path / "kept").iterdir())
