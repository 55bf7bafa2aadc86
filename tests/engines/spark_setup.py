"""Says why tests on Spark cannot run, and how Spark is quick with tables of a few lines."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

#: Java compiles quickly rather than well, because no test runs for long.
FEW_TASKS = {
    "spark.sql.shuffle.partitions": "3",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}

#: Spark interprets its plans; a class for each of them takes longer than the few records that would go through it.
NO_COMPILING = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def require_spark() -> None:
    """Skip where there is no Spark; it must not look for an address of this machine in a network."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("PySpark is not installed: pip install 'tarnkappe[spark]'", allow_module_level=True)
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed: sudo apt-get install openjdk-17-jre-headless", allow_module_level=True)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
