"""Spark is started once for all tests of a process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[None]:
    """A small local session; Java compiles quickly rather than well, because no test runs for long."""
    from tarnkappe.engines.spark.session import session, stop

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {"spark.sql.shuffle.partitions": "3", "spark.driver.memory": "1g"}
    session("local[2]", settings | {"spark.driver.extraJavaOptions": quick})
    yield
    stop()
