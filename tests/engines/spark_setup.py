"""Starts Spark for tests, or says why not."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator

import pytest


def require_spark() -> None:
    """Skip where there is no Spark; it must not look for an address of this machine in a network."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("PySpark is not installed: pip install 'tarnkappe[spark]'", allow_module_level=True)
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed: sudo apt-get install openjdk-17-jre-headless", allow_module_level=True)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


def running() -> Iterator[None]:
    """A small local session for the tests of a module."""
    from tarnkappe.engines.spark.session import session, stop

    session("local[2]", {"spark.sql.shuffle.partitions": "3", "spark.driver.memory": "1g"})
    yield
    stop()
