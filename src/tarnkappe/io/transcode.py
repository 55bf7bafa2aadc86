"""Copy a text file of any encoding, packed or not, to a temporary UTF-8 file that only its owner can read."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import os
import shlex
import tempfile
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import DataError
from tarnkappe.io.failures import translate_os_error
from tarnkappe.io.leftovers import abandoned, temporary_tag
from tarnkappe.io.mapped import let_go, line_parts
from tarnkappe.threads import map_threads

_PREFIX = "tarnkappe"
_CHUNK = 4 << 20


#: How packed files begin.
_PACKINGS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def packing_of(path: Path) -> str | None:
    """How a file is packed: gzip or zstd, or not at all."""
    with path.open("rb") as file:
        start = file.read(4)
    return next((packing for magic, packing in _PACKINGS.items() if start.startswith(magic)), None)


def beginning(path: Path, size: int) -> bytes:
    """What a file begins with, packed or not; nothing if it cannot be unpacked."""
    with contextlib.suppress(*_damage()), _unpacking(path, packing_of(path)) as source:
        return source.read(size)
    return b""


def _unpacking(path: Path, packing: str | None) -> IO[bytes]:
    """The bytes of a file as they were before it was packed."""
    if packing is None:
        return path.open("rb")
    if packing == "gzip":
        return cast(IO[bytes], gzip.open(path))
    import pyarrow as pa

    return cast(IO[bytes], pa.input_stream(str(path), packing))


def _damage() -> tuple[type[Exception], ...]:
    """What unpacking raises where a file is damaged."""
    import pyarrow as pa

    return EOFError, zlib.error, pa.ArrowException, OSError


class TemporaryCopy:
    """A copy of a file in another form; gone when closed, when no longer used, or when the interpreter ends."""

    def __init__(self, write: Callable[[Path], None], suffix: str = ".csv") -> None:
        """Let somebody write the copy."""
        folder = Path(tempfile.gettempdir())
        for stale in abandoned(folder, _PREFIX):
            with contextlib.suppress(OSError):
                stale.unlink()
        self.path = folder / f"{_PREFIX}{temporary_tag()}{suffix}"
        self._remove = weakref.finalize(self, _remove, self.path, os.getpid())
        try:
            write(self.path)
        except BaseException:
            self.close()
            raise

    @classmethod
    def in_utf8(cls, original: Path, encoding: str, name: str) -> TemporaryCopy:
        """A copy in UTF-8; bytes that are not valid in `encoding` are an error with their place in file `name`."""
        return cls(lambda path: _copy(original, encoding, path, name), original.suffix)

    @classmethod
    def unpacked(cls, original: Path, packing: str) -> TemporaryCopy:
        """A copy of what is packed in a file; its suffix is the one below that of the packing."""
        return cls(lambda path: _unpack(original, packing, path), Path(original.stem).suffix or ".csv")

    def close(self) -> None:
        """Remove the copy."""
        self._remove()


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child does not own its parent's file
        path.unlink(missing_ok=True)


def _unpack(original: Path, packing: str, copy: Path) -> None:
    with private_file(copy) as target:
        try:
            with _unpacking(original, packing) as source:
                while chunk := source.read(_CHUNK):
                    _write(target, chunk, copy)
            _write(target, b"", copy)
        except _damage() as err:
            if isinstance(err, OSError) and not isinstance(err, gzip.BadGzipFile) and err.errno is not None:
                raise
            raise DataError(
                "E401",
                f"'{original.name}' cannot be unpacked: it is cut off or damaged",
                where=original.name,
                hint=f"Copy it again, and test it:  {packing} -t {shlex.quote(str(original))}",
            ) from None


def private_file(path: Path) -> IO[bytes]:
    """A new file that only its owner can read."""
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except OSError as err:
        raise translate_os_error(err, path) from err


def _write(target: IO[bytes], data: bytes, path: Path) -> None:
    """Write some bytes; none means that those were all."""
    try:
        target.write(data)
        if not data:
            target.flush()
    except OSError as err:
        raise translate_os_error(err, path) from err


def _copy(original: Path, encoding: str, copy: Path, name: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    done = 0
    lines = 0
    with original.open("rb") as source, private_file(copy) as target:
        while True:
            chunk = source.read(_CHUNK)
            held = decoder.getstate()[0]  # the bytes of a character that is not complete yet
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as err:
                valid = err.object[: err.start].decode(encoding, errors="replace")
                offset = done - len(held) + err.start
                raise wrong_encoding(name, encoding, offset, lines + valid.count("\n") + 1) from None
            if done == 0:
                text = text.removeprefix("\ufeff")
            # Half a surrogate pair, which UTF-16 may hold alone, has no UTF-8 form.
            _write(target, text.encode("utf-8", errors="replace"), copy)
            if not chunk:
                return
            done += len(chunk)
            lines += text.count("\n")


def _is_utf8(data: NDArray[np.uint8], begin: int, end: int) -> bool:
    """Whether bytes that begin and end with lines are valid UTF-8; some ten times faster than decoding them."""
    import pyarrow as pa

    ends = np.array([0, end - begin], dtype=np.int64)
    text = pa.LargeStringArray.from_buffers(1, pa.py_buffer(ends), pa.py_buffer(data[begin:end]))
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    finally:
        let_go(data, begin, end)
    return True


def check_utf8(data: NDArray[np.uint8], name: str) -> None:
    """Refuse bytes that are not valid UTF-8, with the offset and line of the first wrong one."""
    if not all(map_threads(lambda part: _is_utf8(data, *part), line_parts(data, 0, ord("\n")))):
        decoder = codecs.getincrementaldecoder("utf-8")()
        for start in range(0, data.size + _CHUNK, _CHUNK):
            held = len(decoder.getstate()[0])
            chunk = data[start : start + _CHUNK].tobytes()
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as err:
                offset = start - held + err.start
                line = int(np.count_nonzero(data[:offset] == ord("\n"))) + 1
                raise wrong_encoding(name, "utf-8", offset, line) from None


def wrong_encoding(name: str, encoding: str, offset: int, line: int) -> DataError:
    """The error for a byte that is not valid in the encoding."""
    other = {"utf-8": "cp1252", "cp1252": "latin-1"}.get(encoding, "utf-8")
    return DataError(
        "E404",
        f"'{name}' is not {encoding}: byte {offset} (line {line}) does not fit",
        where=f"{name}:{line}",
        hint=f"State the encoding the file was written in, often  encoding: {other}",
    )
