"""Files that are dropped on the page to be verified: kept where only the user can look, and removed right after."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from tarnkappe.errors import DataError

#: What a dropped file may be; its own name is never used.
_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")


class Drops:
    """Hidden folders of mode 0700 beside the data, one for each file that is being looked at."""

    def __init__(self, root: Path, largest: int) -> None:
        """`largest` bytes may be dropped at once."""
        self.root, self.largest = root, largest
        self._kept: dict[str, Path] = {}

    async def take(self, suffix: str, body: AsyncIterator[bytes]) -> str:
        """Keep a file; the word by which it is called."""
        if suffix.lower() not in _SUFFIXES:
            known = ", ".join(_SUFFIXES)
            raise DataError("E486", "a file of this kind cannot be verified", hint=f"Drop one of: {known}.")
        folder = Path(tempfile.mkdtemp(prefix=".tarnkappe-dropped-", dir=self.root))
        path, size = folder / f"dropped{suffix.lower()}", 0
        try:
            with path.open("wb") as file:
                async for part in body:
                    size += len(part)
                    if size > self.largest:
                        raise DataError("E487", "the file is too large", hint="Choose it in the list instead.")
                    file.write(part)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._kept[folder.name] = path
        return folder.name

    def path(self, word: str) -> Path | None:
        """The file that a word stands for."""
        return self._kept.get(word)

    def forget(self, word: str) -> None:
        """Remove a file."""
        path = self._kept.pop(word, None)
        if path is not None:
            shutil.rmtree(path.parent, ignore_errors=True)

    def clear(self) -> None:
        """Remove all of them."""
        for word in list(self._kept):
            self.forget(word)
