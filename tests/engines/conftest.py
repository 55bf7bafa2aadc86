"""Spark is started once for all tests of a process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from spark_setup import FEW_TASKS, NO_COMPILING

import grids


@pytest.fixture(scope="session")
def spark() -> Iterator[None]:
    """A small local session; in the full suite Spark compiles its plans, as it does for everybody else."""
    from tarnkappe.engines.spark.session import session, stop

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session("local[2]", FEW_TASKS if grids.everything else FEW_TASKS | NO_COMPILING)
    yield
    stop()
