"""Dependency graphs in a graph database: levels as queries, and questions of your own (Qiu 2023)."""

from __future__ import annotations

from isoscope.graphdb.check import Answer, check
from isoscope.graphdb.cycle import Cycle
from isoscope.graphdb.model import DependencyGraph, export
from isoscope.graphdb.queries import DEPTH, LEVELS, QueryMethod, Question, Search, questions
from isoscope.graphdb.store import GraphStore, Table, open_store

__all__ = [
    "DEPTH",
    "LEVELS",
    "Answer",
    "Cycle",
    "DependencyGraph",
    "GraphStore",
    "QueryMethod",
    "Question",
    "Search",
    "Table",
    "check",
    "export",
    "open_store",
    "questions",
]
