"""Files wherever Spark reaches them: on this machine, on HDFS, in an object store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarnkappe.errors import RefusedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HIDDEN = ("_", ".")


@dataclass(frozen=True)
class File:
    """One file of a table."""

    path: str
    size: int
    changed: int

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rstrip("/").rsplit("/", 1)[-1]


def location(path: str | Path) -> str:
    """The address of a path for Spark: what has no scheme lies on this machine, wherever Spark's home is.

    >>> location("hdfs://host/data/census.csv")
    'hdfs://host/data/census.csv'
    """
    local = local_path(path)
    return str(path) if local is None else f"file://{local.as_posix()}"  # Hadoop takes every sign as it is


def local_path(path: str | Path) -> Path | None:
    """The path on this machine; none if an address says that it lies elsewhere."""
    return None if "://" in str(path) else Path(path).expanduser().resolve()


class FileSystem:
    """The file system that an address belongs to, through Hadoop's interface."""

    def __init__(self, spark: SparkSession, address: str) -> None:
        """Find the file system; nothing is read."""
        context = spark.sparkContext
        assert context._jvm is not None
        self._path = context._jvm.org.apache.hadoop.fs.Path
        self._fs: Any = self._path(address).getFileSystem(context._jsc.hadoopConfiguration())
        self._permission = context._jvm.org.apache.hadoop.fs.permission.FsPermission

    def files(self, address: str) -> list[File]:
        """The file of that name, or the files of the folder of that name; none if there is nothing.

        What begins with a dot or an underscore is no data.
        """
        if not self.exists(address):
            return []
        found = [self._file(status) for status in self._fs.listStatus(self._path(address)) if status.isFile()]
        single = len(found) == 1 and found[0].name == address.rstrip("/").rsplit("/", 1)[-1]
        kept = found if single else [f for f in found if not f.name.startswith(_HIDDEN) and f.size > 0]
        return sorted(kept, key=lambda file: file.path)

    def _file(self, status: Any) -> File:
        return File(str(status.getPath().toString()), int(status.getLen()), int(status.getModificationTime()))

    def exists(self, address: str) -> bool:
        """Whether there is a file or folder."""
        return bool(self._fs.exists(self._path(address)))

    def is_empty(self, address: str) -> bool:
        """Whether a folder has nothing in it."""
        return len(self._fs.listStatus(self._path(address))) == 0

    def head(self, address: str, size: int) -> bytes:
        """The first bytes of a file."""
        stream = self._fs.open(self._path(address))
        try:
            return bytes(stream.readNBytes(size))
        finally:
            stream.close()

    def download(self, address: str, target: Path) -> None:
        """Copy a file to this machine."""
        self._fs.copyToLocalFile(False, self._path(address), self._path(location(target)), True)

    def rename(self, old: str, new: str) -> None:
        """Give a file or folder another name; an error if the file system refuses."""
        if not self._fs.rename(self._path(old), self._path(new)):
            raise RefusedError("E603", f"'{new}' cannot be written: the file system refuses to rename", where=new)

    def delete(self, address: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        self._fs.delete(self._path(address), True)

    def upload(self, source: Path, address: str, *, private: bool = False) -> None:
        """Copy a file of this machine; only its owner may read a private one, or enter the folder that holds it."""
        folder = self._path(address.rpartition("/")[0])
        self._fs.mkdirs(folder)
        if private:
            self._fs.setPermission(folder, self._permission("700"))
        self._fs.copyFromLocalFile(False, True, self._path(location(source)), self._path(address))
        if private:
            self._fs.setPermission(self._path(address), self._permission("600"))


def fingerprint(files: Iterable[File]) -> str:
    """A digest of the names, sizes and times of files: what can be known without reading them."""
    lines = "".join(f"{f.name} {f.size} {f.changed}\n" for f in files)
    return hashlib.sha256(lines.encode()).hexdigest()
