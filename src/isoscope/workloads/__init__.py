"""Seeded workloads: generators of histories, and clients of a real database."""

from isoscope.workloads.breaking import SCRIPTS
from isoscope.workloads.mixes import MIXES, Mix, Step, Table, Template
from isoscope.workloads.registry import CLIENTS, Clients, client_workload
from isoscope.workloads.workload import TABLE_1, Workload, generate

__all__ = [
    "CLIENTS",
    "MIXES",
    "SCRIPTS",
    "TABLE_1",
    "Clients",
    "Mix",
    "Step",
    "Table",
    "Template",
    "Workload",
    "client_workload",
    "generate",
]
