"""Seeded generators: parameters in, histories out."""

from isoscope.workloads.breaking import SCRIPTS
from isoscope.workloads.mixes import MIXES, Mix, Step, Table, Template
from isoscope.workloads.workload import TABLE_1, Workload, generate

__all__ = ["MIXES", "SCRIPTS", "TABLE_1", "Mix", "Step", "Table", "Template", "Workload", "generate"]
