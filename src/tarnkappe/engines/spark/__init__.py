"""Counting and rewriting on Spark. Nothing outside this room imports PySpark."""

from tarnkappe.engines.spark.engine import SparkEngine
from tarnkappe.engines.spark.session import stop

__all__ = ["SparkEngine", "stop"]
