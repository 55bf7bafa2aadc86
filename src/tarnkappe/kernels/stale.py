"""Machine code of kernels that have changed since it was made.

Numba keeps machine code beside the package, and makes it anew when the file of a kernel has changed. But a kernel holds
the code of those that it calls, which may stand in other files: an updated working copy would go on with the old one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

#: What a file takes from others of this package.
_IMPORTS = re.compile(r"^from tarnkappe\.(kernels(?:\.\w+)*) import", re.MULTILINE)


def forget_stale(folder: Path) -> None:
    """Remove machine code that is kept below the folder of the kernels and was made of other sources.

    What it was made of is noted beside it. Where nothing can be written, nothing is kept there either.
    """
    note = folder / "__pycache__" / "sources.json"
    files = _sources(folder)
    found = {str(path.relative_to(folder)): path.stat() for path in files}
    seen = {name: [stat.st_mtime_ns, stat.st_size] for name, stat in found.items()}
    noted = _noted(note)
    if noted.get("seen") == seen:
        return
    made_of = _made_of(folder, files)
    before = noted.get("made of")
    before = before if isinstance(before, dict) else {}
    with suppress(OSError):
        for name, digest in made_of.items():
            if before.get(name) != digest:
                path = folder / name
                for code in (path.parent / "__pycache__").glob(f"{path.stem}.*.nbi"):
                    code.unlink(missing_ok=True)
        note.parent.mkdir(exist_ok=True)
        part = note.with_suffix(f".{os.getpid()}")  # others that start now read all of it, or none
        part.write_text(json.dumps({"seen": seen, "made of": made_of}), encoding="utf-8")
        part.replace(note)


def _sources(folder: Path) -> list[Path]:
    rooms = [folder, *(room for room in folder.iterdir() if room.is_dir() and room.name != "__pycache__")]
    return sorted(path for room in rooms for path in room.glob("*.py"))


def _noted(note: Path) -> dict[str, object]:
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _made_of(folder: Path, files: Sequence[Path]) -> dict[str, str]:
    """A digest of each file with all files that it takes something from, directly or not."""
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}
    taken = {name: _taken(text, texts) for name, text in texts.items()}
    out = {}
    for name in texts:
        reached, todo = {name}, [name]
        while todo:
            new = taken[todo.pop()] - reached
            reached |= new
            todo += new
        whole = "\0".join(texts[other] for other in sorted(reached))
        out[name] = blake2b(whole.encode(), digest_size=16).hexdigest()
    return out


def _taken(text: str, texts: Mapping[str, str]) -> set[str]:
    """The files that a text imports from."""
    paths = (module.partition(".")[2].replace(".", "/") for module in _IMPORTS.findall(text))
    return {name for path in paths for name in (f"{path}.py", f"{path}/__init__.py", "__init__.py") if name in texts}
