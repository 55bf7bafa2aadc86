"""Which engine a job runs on, and how much memory it may take."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix, setting
from tarnkappe.io.databases import is_database
from tarnkappe.io.partitions import table_size

ENGINES = ("auto", "memory", "streaming", "spark")

#: Files larger than this are streamed unless the job says otherwise.
_LARGE_FILE = 512 << 20

#: How a limit of memory is written.
_SOME_MEMORY = Fix("memory: 2GB", 'engine=EngineSettings(memory="2GB")')

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def _engine(name: str) -> Fix:
    return setting(f"engine: {name}", "engine", name)


@dataclass(frozen=True)
class EngineSettings:
    """Where records are counted and rewritten.

    `memory` is how much the process may take, such as ``2GB``; on Spark, how much each process may take that decides
    about groups, here or on an executor. `master` is where Spark runs, such as ``local[*]``,
    ``spark://host:7077`` or ``yarn``.
    """

    name: str = "auto"
    master: str | None = None
    memory: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.name not in ENGINES:
            raise JobError(
                "E110", f"'engine' must be one of {', '.join(ENGINES)}, got {self.name!r}", hint=_engine("auto")
            )
        if self.master is not None and self.name != "spark":
            raise JobError("E110", "'master' says where Spark runs, but the engine is not spark", hint=_engine("spark"))
        if self.memory is not None and self.name == "memory":
            raise JobError("E110", "'memory' is a limit that the engine memory cannot keep", hint=_engine("streaming"))
        self.limit  # noqa: B018  # says at once if the text is no amount

    @property
    def limit(self) -> int | None:
        """The memory allowed in bytes.

        >>> EngineSettings(memory="1.5GB").limit
        1500000000
        """
        if self.memory is None:
            return None
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?", self.memory.strip().lower())
        if match is None or float(match[1]) <= 0:
            raise JobError("E110", f"'memory' must be an amount such as 2GB, got {self.memory!r}", hint=_SOME_MEMORY)
        return int(float(match[1]) * _UNITS[match[2]])

    def chosen(self, data: Any) -> str:
        """The engine by name: what was asked for, or streaming for databases, large files, limited memory."""
        if is_database(data):
            if self.name == "spark":
                raise JobError("E110", "Spark does not read databases here", hint=_engine("streaming"))
            return "streaming" if self.name == "auto" else self.name
        if self.name != "auto":
            return self.name
        path = Path(data) if isinstance(data, (str, Path)) else None
        large = path is not None and table_size(path) > _LARGE_FILE
        return "streaming" if large or self.memory is not None else "memory"
