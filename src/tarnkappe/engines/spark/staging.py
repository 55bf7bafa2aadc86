"""Releases on file systems that only Spark reaches: they get their name when everything in them is complete."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tarnkappe.appeared import has_taken
from tarnkappe.engines.spark.files import FileSystem
from tarnkappe.engines.spark.session import session, translated
from tarnkappe.errors import RefusedError
from tarnkappe.fixes import OVERWRITE, Fix, say
from tarnkappe.io.folders import MANIFEST, MANIFEST_KEY, PUBLIC
from tarnkappe.io.leftovers import temporary_tag


class RemoteStaging:
    """A release folder at an address such as ``hdfs://host/folder``, which comes into being complete or not at all.

    Spark writes the table into a hidden folder beside the target. Reports and manifests are written on this machine and
    copied there at the end; then the hidden folder takes the target's name. HDFS renames in one step. An object store
    copies one object after the other: there, wait for the end of the run.
    """

    def __init__(self, address: str, *, master: str | None = None, overwrite: bool = False) -> None:
        """Say where the release is to appear; nothing is touched before the ``with`` block begins."""
        self.target = address.rstrip("/")
        self.overwrite = overwrite
        self._master = master
        parent, _, name = self.target.rpartition("/")
        self._hidden = f"{parent}/.{name}.tmp{temporary_tag()}"
        self._old = f"{parent}/.{name}.old{temporary_tag()}"
        self._staged: dict[str, bool] = {}
        self._here: tempfile.TemporaryDirectory[str] | None = None

    def table(self, name: str) -> str:
        """Where Spark is to write the table that will be called `name` in the release."""
        return f"{self._hidden}/{name}"

    def path(self, name: str, *, private: bool = False) -> Path:
        """Where to write the small file that will be called `name` in the release."""
        assert self._here is not None, "a staging is only usable inside its with block"
        path = Path(self._here.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._staged[name] = private
        return path

    def __enter__(self) -> Self:
        with translated(self.target):
            self._system = FileSystem(session(self._master), self.target)
            self._check_target()
        self._here = tempfile.TemporaryDirectory(prefix="tarnkappe")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._here is not None
        try:
            if error is None:
                with translated(self.target):
                    self._publish()
        except BaseException:
            self._discard()
            raise
        else:
            if error is not None:
                self._discard()
        finally:
            self._here.cleanup()

    def _check_target(self) -> None:
        """Refuse a target that exists, unless it is empty, or an earlier release that may be replaced."""
        if not self._system.exists(self.target) or self._system.is_empty(self.target):
            return
        name = self.target.rpartition("/")[2]
        manifest = f"{self.target}/{PUBLIC}/{MANIFEST}"
        ours = self._system.exists(manifest) and f'"{MANIFEST_KEY}"'.encode() in self._system.head(manifest, 1 << 16)
        if ours and self.overwrite:
            return
        reason = "exists already" if ours else "exists and is not an earlier release, so it is not replaced"
        other = Fix(f"{self.target}-2", f"{self.target}-2")
        hint = say("Replace it with  {}  or write to another folder:  {}", OVERWRITE, other) if ours else None
        raise RefusedError(
            "E601",
            f"'{name}' {reason}",
            where=self.target,
            hint=hint or f"Write to another folder:  {other}",
        )

    def _publish(self) -> None:
        assert self._here is not None
        for name, private in self._staged.items():
            self._system.upload(Path(self._here.name, name), f"{self._hidden}/{name}", private=private)
        self._check_target()  # it may have appeared meanwhile
        replaced = self._system.exists(self.target)
        if replaced:
            self._system.rename(self.target, self._old)
        try:
            self._system.rename(self._hidden, self.target)
        except BaseException:
            if replaced:
                self._system.rename(self._old, self.target)
            raise
        has_taken(self.target)
        if replaced:
            self._system.delete(self._old)

    def _discard(self) -> None:
        with contextlib.suppress(Exception):  # the first error is the one to tell
            self._system.delete(self._hidden)
