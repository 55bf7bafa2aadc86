"""What waits in buckets until all of it is there: in memory while it is little, on the disk when it is much."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self


class Waiting(ABC):
    """Buckets that are moved to the disk when they take more than `limit` bytes; there only the owner can read them."""

    def __init__(self, limit: int | None) -> None:
        """Nothing waits yet."""
        self._limit = limit
        self._held = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._times = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    @abstractmethod
    def _move(self) -> None:
        """Write all buckets that are in memory to their `_place`, and forget them."""

    def _hold(self, n_bytes: int) -> None:
        """Say that so much more waits in memory."""
        self._held += n_bytes
        if self._limit is None or self._held <= self._limit:
            return
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tarnkappe-shuffle-")
        self._move()
        self._times += 1
        self._held = 0

    def _place(self, bucket: int, time: int | None = None) -> Path:
        """Where a bucket is written now, or was written one of the times before."""
        assert self._folder is not None
        return Path(self._folder.name) / f"{bucket}-{self._times if time is None else time}"

    def _moved(self, bucket: int) -> list[Path]:
        """The files of a bucket, in the order in which they were written."""
        places = (self._place(bucket, time) for time in range(self._times))
        return [place for place in places if place.exists()]
