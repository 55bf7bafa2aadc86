"""A scheme: all that is needed to make copies of a data set, and to read them again."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tarnkappe.arrays import Codes, Flags
from tarnkappe.boxes import Boxes
from tarnkappe.errors import DataError, JobError
from tarnkappe.fingerprint.code import TardosCode
from tarnkappe.fingerprint.keys import DatasetKey, Key
from tarnkappe.fingerprint.marks import Columns, Layout
from tarnkappe.fixes import Fix
from tarnkappe.plain_json import to_json
from tarnkappe.publish.labels import labels_of
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

#: The files of a scheme. Nobody but the publisher may see them.
SCHEME, LAYOUT = "scheme.json", "layout.npz"

_VERSION = 2


@dataclass(frozen=True, eq=False)
class Scheme:
    """The base that all copies share, the patterns above it, and where marks are. Private, but no secret key is in it.

    Without `patterns` everybody has the base pattern, and marks alone tell copies apart.
    """

    dataset: str
    base: tuple[int, ...]
    patterns: tuple[tuple[int, ...], ...]
    layout: Layout
    #: What every node of every column is published as (None: a gap).
    texts: tuple[tuple[str | None, ...], ...]
    #: Who is to be told apart: so many recipients, up to so many colluders, with such a risk of a false accusation.
    recipients: int
    colluders: int
    alpha: float
    #: Published before anything is shared: proves later that the key was there first.
    commitment: str
    nonce: str
    made: str

    @property
    def columns(self) -> Columns:
        """The quasi-identifiers."""
        return self.layout.columns

    def key(self, key: Key | DatasetKey) -> DatasetKey:
        """The key of this data set; another key than that of the plan is refused, for it would accuse nobody."""
        own = key.of(self.dataset) if isinstance(key, Key) else key
        if own.commitment(self.nonce, self.digest) != self.commitment:
            raise JobError(
                "E110",
                "this is not the key that the copies were planned with, or the plan was changed",
                hint=Fix("--key KEYFILE", "Give the key that they were planned with."),
            )
        return own

    @cached_property
    def digest(self) -> str:
        """The digest of all that decides who is accused: who wants to frame somebody cannot change it afterwards."""
        layout, columns = self.layout, self.columns
        told = [self.dataset, self.base, self.patterns, self.recipients, self.colluders, self.alpha, self.texts]
        told += [columns.names, columns.level, columns.ceiling, *([t.labels, t.parent.tolist()] for t in columns.trees)]
        found = hashlib.sha256(json.dumps(told).encode("ascii"))
        for numbers in (layout.node, layout.size, layout.block, layout.pairs):
            found.update(repr(numbers.shape).encode("ascii") + np.ascontiguousarray(numbers, "<i8").tobytes())
        return found.hexdigest()

    def code(self, key: DatasetKey) -> TardosCode:
        """The code of the marks."""
        return TardosCode(key, self.layout.n_positions)

    def nodes(self, pattern: tuple[int, ...], node: Codes, group: Codes, bits: Flags) -> Codes:
        """What each base group publishes in a copy: the pattern's nodes, or a level above all patterns where marked.

        `node` are the nodes of the base groups and `group` their groups in the layout.
        """
        marked, plain = self.layout.marked(bits), self.layout.node
        out = node.copy()
        for j in range(node.shape[1]):
            out[:, j] = self.columns.raised(node[:, j], j, pattern[j])
        changed = marked[group] != plain[group]
        return np.where(changed, marked[group], out).astype(np.int32)

    @cached_property
    def node_of(self) -> tuple[dict[str, int], ...]:
        """The node of every label; of two that read alike, the finer one."""
        return tuple({text: v for v, text in enumerate(texts) if text is not None} for texts in self.texts)

    def save(self, folder: str | Path) -> None:
        """Write the scheme to a folder of the publisher."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o700)
        layout, columns = self.layout, self.columns
        arrays: dict[str, Any] = {
            "node": layout.node,
            "size": layout.size,
            "block": layout.block,
            "pairs": layout.pairs,
        }
        np.savez_compressed(place / LAYOUT, **arrays)
        told = {
            "tarnkappe fingerprint": _VERSION,
            "dataset": self.dataset,
            "base": self.base,
            "patterns": self.patterns,
            "columns": [
                {
                    "name": name,
                    "level": columns.level[j],
                    "ceiling": columns.ceiling[j],
                    "labels": tree.labels,
                    "parents": tree.parent.tolist(),
                    "texts": self.texts[j],
                }
                for j, (name, tree) in enumerate(zip(columns.names, columns.trees, strict=True))
            ],
            "recipients": self.recipients,
            "colluders": self.colluders,
            "alpha": self.alpha,
            "commitment": self.commitment,
            "nonce": self.nonce,
            "made": self.made,
            "layout": hashlib.sha256((place / LAYOUT).read_bytes()).hexdigest(),
        }
        (place / SCHEME).write_text(to_json(told) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> Scheme:
        """Read a scheme that was written before."""
        place = Path(folder)
        try:
            told: dict[str, Any] = json.loads((place / SCHEME).read_text(encoding="utf-8"))
            same = hashlib.sha256((place / LAYOUT).read_bytes()).hexdigest() == told["layout"]
            if not same or told["tarnkappe fingerprint"] != _VERSION:
                raise _unreadable(place)
            with np.load(place / LAYOUT, allow_pickle=False) as arrays:
                node, size, block, pairs = (arrays[name] for name in ("node", "size", "block", "pairs"))
            described = told["columns"]
            columns = Columns(
                tuple(c["name"] for c in described),
                tuple(Taxonomy.from_parents(c["labels"], c["parents"]) for c in described),
                tuple(c["level"] for c in described),
                tuple(c["ceiling"] for c in described),
            )
            return cls(
                dataset=told["dataset"],
                base=tuple(told["base"]),
                patterns=tuple(tuple(p) for p in told["patterns"]),
                layout=Layout(columns, node, size, block, pairs),
                texts=tuple(tuple(c["texts"]) for c in described),
                **{n: told[n] for n in ("recipients", "colluders", "alpha", "commitment", "nonce", "made")},
            )
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
            raise _unreadable(place) from None


def _unreadable(place: Path) -> DataError:
    return DataError(
        "E415",
        "the plan of the copies is missing or was changed",
        where=str(place),
        hint="tarnkappe fingerprint plan JOB --key KEYFILE --output FOLDER   with the same data makes the same plan",
    )


def require_alpha(alpha: float) -> None:
    """Refuse a risk of accusing somebody innocent that is none."""
    if not 0 < alpha < 1:
        raise JobError(
            "E110",
            f"'alpha' must lie between 0 and 1, got {alpha!r}",
            hint=Fix("alpha: 0.001   (--alpha 0.001)", "alpha=0.001"),
        )


def node_texts(domains: tuple[Domain, ...], missing: tuple[str, ...]) -> tuple[tuple[str | None, ...], ...]:
    """What every node of every column is published as."""
    out = []
    for domain in domains:
        nodes = np.arange(domain.taxonomy.n_nodes, dtype=np.int32)[:, None]
        labels = labels_of(Boxes.of_nodes(nodes, [domain]), 0, domain, missing)
        out.append(tuple(None if c < 0 else labels.texts[c] for c in labels.code))
    return tuple(out)
