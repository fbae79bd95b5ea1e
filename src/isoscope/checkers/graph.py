"""The dependency graph in numbers: the dataset characteristics of Qiu 2023, section 5.2.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope import _native

if TYPE_CHECKING:
    from isoscope._native import GraphStatistics
    from isoscope.history import History

__all__ = ["characteristics"]


def characteristics(history: History) -> GraphStatistics:
    """The dependency graph of the transactions that the client knows to be committed."""
    return _native.graph_statistics(history.columns)
