"""Seeded generators: parameters in, histories out."""

from isoscope.workloads.serial import SerialWorkload, generate

__all__ = ["SerialWorkload", "generate"]
