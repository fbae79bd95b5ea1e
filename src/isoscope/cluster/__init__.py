"""The same checks on Apache Spark, for histories that do not fit into one machine."""

from isoscope.cluster.distributed_check import check
from isoscope.cluster.session import spark_session

__all__ = ["check", "spark_session"]
