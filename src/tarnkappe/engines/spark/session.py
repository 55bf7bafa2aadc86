"""Starting Spark: one session per process, quiet on the terminal, with one clear line when it cannot start."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tarnkappe.errors import JobError, LimitError, TarnkappeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The oldest Java that Spark 4 runs on.
JAVA = 17

_INSTALL = "pip install 'tarnkappe[spark]'"
_INSTALL_JAVA = f"sudo apt-get install openjdk-{JAVA}-jre-headless"

#: What Tarnkappe needs of a session, whoever started it.
_NEEDED = {
    "spark.sql.caseSensitive": "true",  # columns may differ in case only
    "spark.sql.session.timeZone": "UTC",  # the text of a time does not depend on where it is read
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
    "spark.sql.csv.parser.columnPruning.enabled": "false",  # else a row with too few fields goes unnoticed
}

#: What is set where nobody has set anything else.
_USUAL = {
    "spark.app.name": "tarnkappe",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",  # the cells travel to the driver, however many they are
    "spark.log.level": "ERROR",
}

_own: list[SparkSession] = []


def session(master: str | None = None, conf: Mapping[str, str] | None = None) -> SparkSession:
    """The running session if there is one, else a new one on `master` (``local[*]`` if nothing else says where).

    A session that somebody else started is used as it is; one of ours is stopped if another master is asked for.
    """
    _require_pyspark()
    from pyspark.sql import SparkSession

    if (master or "").startswith("sc://") or "SPARK_REMOTE" in os.environ:
        raise JobError(
            "E110",
            "the Spark engine needs a cluster manager, not a Spark Connect server",
            hint="master: spark://HOST:7077   (and  unset SPARK_REMOTE)",
        )
    active = SparkSession.getActiveSession()
    if active is not None and active in _own and master not in (None, active.sparkContext.master):
        stop()
        active = None
    if active is None:
        active = _start(master, conf or {})
        _own.append(active)
    for key, value in _NEEDED.items():
        active.conf.set(key, value)
    return active


def stop() -> None:
    """End the session that was started here, if any; another one can be started afterwards."""
    from pyspark import SparkContext

    while _own:
        _own.pop().stop()
    gateway = SparkContext._gateway
    if gateway is not None and getattr(gateway, "proc", None) is not None:
        # The Java process was started with the settings of its first session.
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        SparkContext._gateway = SparkContext._jvm = None


def _start(master: str | None, conf: Mapping[str, str]) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    given = SparkConf()
    for key, value in {**_USUAL, **conf}.items():
        given.set(key, value)
    if master is not None:
        given.setMaster(master)
    elif not given.contains("spark.master") and "PYSPARK_SUBMIT_ARGS" not in os.environ:
        given.setMaster("local[*]")
    managed = "PYSPARK_GATEWAY_PORT" in os.environ  # started by spark-submit, which has found Java
    if not managed:
        _require_java()
    interrupt = signal.getsignal(signal.SIGINT)
    with tempfile.TemporaryFile() as log:
        try:
            # Java's own words go to a file that nobody sees, unless it does not start.
            launch: Any = launch_gateway
            context = SparkContext(conf=given, gateway=launch(given, {"stdout": log, "stderr": log}))
        except PySparkException:
            raise _not_started(_told(log)) from None
        except Exception as error:
            if not from_java(error):
                raise
            SparkContext._gateway = SparkContext._jvm = None
            raise _not_started(f"{error}\n{_told(log)}", master) from None
    with contextlib.suppress(ValueError):  # only the main thread handles signals
        signal.signal(signal.SIGINT, interrupt)  # the caller knows better what an interrupt means
    if (context.master or "").startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable
    return SparkSession(context)


def _require_pyspark() -> None:
    for library, need in (("pyspark", "PySpark 4"), ("pandas", "pandas, which PySpark needs to hand over Arrow")):
        if importlib.util.find_spec(library) is None:
            raise JobError("E113", f"the Spark engine needs {need}, which is not installed", hint=_INSTALL)
    import pyspark

    if int(pyspark.__version__.split(".")[0]) < 4:
        raise JobError(
            "E113", f"the Spark engine needs PySpark 4, but version {pyspark.__version__} is installed", hint=_INSTALL
        )


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else None
    if java is not None and not (java.is_file() or java.with_suffix(".exe").is_file()):
        raise JobError(
            "E113",
            f"the Spark engine needs Java {JAVA} or newer, but JAVA_HOME names a folder without it",
            hint=f"{_INSTALL_JAVA}   and  unset JAVA_HOME",
        )
    if java is None and shutil.which("java") is None:
        raise JobError("E113", f"the Spark engine needs Java {JAVA} or newer, and none was found", hint=_INSTALL_JAVA)


def _not_started(log: str, master: str | None = None) -> JobError:
    """Why Spark did not start, as far as its log tells."""
    if "UnsupportedClassVersionError" in log or "Unrecognized option: --add-modules" in log:
        return JobError(
            "E113", f"the Spark engine needs Java {JAVA} or newer, but an older one was found", hint=_INSTALL_JAVA
        )
    if "jdk.incubator.vector not found" in log:
        return JobError(
            "E113",
            "the Java that was found lacks the module jdk.incubator.vector, which Spark needs",
            hint=_INSTALL_JAVA,
        )
    if master is not None and not master.startswith("local"):
        return JobError(
            "E113",
            f"Spark cannot be started on '{master}': the master does not answer, or refuses",
            details=_last_words(log),
            hint="Look whether it runs there, or work on this machine:  master: local[*]",
        )
    return JobError("E113", "Spark cannot be started", details=_last_words(log), hint=f"java -version; {_INSTALL}")


def _told(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode("utf-8", errors="replace")


def _last_words(log: str) -> list[str]:
    """The line of a Java log that says most: the last exception, else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    telling = [line for line in lines if re.search(r"(Exception|Error)\b.*:", line)] or lines
    return [telling[-1][:300]] if telling else []


def from_java(error: BaseException) -> bool:
    """Whether an error was raised by Spark."""
    return type(error).__module__.split(".")[0] in ("py4j", "pyspark")


@contextlib.contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn what Spark says about a failed job into an error that a user can act on; `name` is the table."""
    try:
        yield
    except TarnkappeError:
        raise
    except Exception as error:
        if not from_java(error):
            raise
        raise _explained(error, name) from None  # its own words may quote values


def _explained(error: BaseException, name: str) -> TarnkappeError:
    from tarnkappe.errors import DataError

    text = str(error)
    if "PATH_NOT_FOUND" in text or "Path does not exist" in text or "FileNotFoundException" in text:
        return DataError("E401", f"'{name}' does not exist or was removed", where=name)
    if "MALFORMED_RECORD_IN_PARSING" in text or "MALFORMED_CSV_RECORD" in text or "Malformed" in text:
        return DataError(
            "E403",
            f"'{name}' has a row with more or fewer fields than the header",
            where=name,
            hint="State the delimiter and the quote sign if they are unusual, such as  delimiter: ';'",
        )
    if "the data changed while they were read" in text:
        return DataError("E401", f"'{name}' changed while it was read", where=name)
    if "No module named 'tarnkappe'" in text:
        return JobError(
            "E113",
            "groups are decided in parts by the workers of the cluster, and these lack Tarnkappe",
            hint="pip install tarnkappe   on every worker, or without  --memory  the driver decides.",
        )
    if "No module named" in text or "Cannot run program" in text or "PACKAGE_NOT_INSTALLED" in text:
        return JobError(
            "E113",
            "the workers of the cluster cannot run Python with numpy, PyArrow and pandas",
            details=_last_words(text),
            hint="Install them there, and say which Python:  export PYSPARK_PYTHON=/path/to/python3",
        )
    if "No space left on device" in text:
        return LimitError("E701", "a disk of the cluster is full", hint="spark.local.dir=/path/on/a/larger/disk")
    return LimitError(
        "E703",
        f"Spark gave up on '{name}'",
        details=_last_words(re.sub(r"\n\s*at .*", "", text)),
        hint="Look into the logs of the executors; a lost executor alone is not a reason.",
    )
