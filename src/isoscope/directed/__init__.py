"""Scripts that direct several sessions of a database, statement by statement."""

from isoscope.directed.lockstep import FINAL, Directed, Result, run

__all__ = ["FINAL", "Directed", "Result", "run"]
