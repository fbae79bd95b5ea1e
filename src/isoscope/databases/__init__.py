"""Databases that a workload can run on."""

from isoscope.databases.simulated import (
    BUGS,
    ISOLATIONS,
    Bug,
    Injected,
    Isolation,
    Simulated,
    Simulation,
    run,
)

__all__ = ["BUGS", "ISOLATIONS", "Bug", "Injected", "Isolation", "Simulated", "Simulation", "run"]
