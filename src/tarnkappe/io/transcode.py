"""Copy a text file of any encoding to a temporary UTF-8 file that only its owner can read."""

from __future__ import annotations

import codecs
import contextlib
import os
import tempfile
import weakref
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import DataError
from tarnkappe.io.failures import translate_os_error
from tarnkappe.io.leftovers import abandoned, temporary_tag
from tarnkappe.io.mapped import let_go, line_parts
from tarnkappe.threads import map_threads

_PREFIX = "tarnkappe"
_CHUNK = 4 << 20


class TemporaryCopy:
    """A UTF-8 copy of a text file; gone when closed, when no longer used, or when the interpreter ends."""

    def __init__(self, original: Path, encoding: str) -> None:
        """Write the copy; bytes that are not valid in `encoding` are an error with their place."""
        folder = Path(tempfile.gettempdir())
        for stale in abandoned(folder, _PREFIX):
            with contextlib.suppress(OSError):
                stale.unlink()
        self.path = folder / f"{_PREFIX}{temporary_tag()}.csv"
        self._remove = weakref.finalize(self, _remove, self.path, os.getpid())
        try:
            _copy(original, encoding, self.path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the copy."""
        self._remove()


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child does not own its parent's file
        path.unlink(missing_ok=True)


def _copy(original: Path, encoding: str, copy: Path) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    done = 0
    lines = 0
    try:
        descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as err:
        raise translate_os_error(err, copy) from err
    with original.open("rb") as source, os.fdopen(descriptor, "wb") as target:
        while True:
            chunk = source.read(_CHUNK)
            held = decoder.getstate()[0]  # the bytes of a character that is not complete yet
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as err:
                valid = err.object[: err.start].decode(encoding, errors="replace")
                offset = done - len(held) + err.start
                raise wrong_encoding(original.name, encoding, offset, lines + valid.count("\n") + 1) from None
            if done == 0:
                text = text.removeprefix("\ufeff")
            try:
                # Half a surrogate pair, which UTF-16 may hold alone, has no UTF-8 form.
                target.write(text.encode("utf-8", errors="replace"))
                if not chunk:
                    target.flush()
                    return
            except OSError as err:
                raise translate_os_error(err, copy) from err
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
