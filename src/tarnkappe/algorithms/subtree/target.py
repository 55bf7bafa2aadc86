"""What a target tells about values: class counts, entropy and information gain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import algorithm, role, say
from tarnkappe.tally import Tally

#: Gains below this are rounding errors.
_NOISE = 1e-12


def target_codes(tally: Tally, target: str, who: str) -> tuple[Codes, int]:
    """The class of every cell and the number of classes."""
    names = [d.name for d in tally.sensitive_domains]
    if target not in names:
        raise JobError(
            "E105",
            f"{who} needs the target '{target}', which was not counted{did_you_mean(target, names)}",
            hint=say("{}   or  {}", role(target, "sensitive"), algorithm(who, target=(names or ["COLUMN"])[0])),
        )
    s = names.index(target)
    return tally.sensitive[:, s], tally.sensitive_domains[s].size


def leaf_classes(codes: Codes, size: int, classes: Codes, n_classes: int, count: Counts) -> Counts:
    """How many records of each class every code of a column has."""
    key = codes.astype(np.int64) * n_classes + classes
    counts = np.bincount(key, weights=count, minlength=size * n_classes)
    return counts.astype(np.int64).reshape(size, n_classes)


def entropy(counts: NDArray[Any]) -> Floats:
    """Entropy in bits of the classes in each row.

    >>> entropy(np.array([[4, 4], [8, 0], [0, 0]])).tolist()
    [1.0, 0.0, 0.0]
    """
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.maximum(total, 1)
    logs = np.log2(np.where(share > 0, share, 1.0))
    bits: Floats = np.abs((share * logs).sum(axis=-1))
    return bits


def information_gain(*parts: NDArray[Any]) -> Floats:
    """Entropy of the whole minus that of its parts, weighted by records; one row of class counts per case and part.

    >>> information_gain(np.array([4, 0]), np.array([0, 4])).tolist()
    1.0
    """
    whole = np.sum(parts, axis=0)
    n = np.maximum(whole.sum(axis=-1), 1)
    gain = entropy(whole) - sum(part.sum(axis=-1) / n * entropy(part) for part in parts)
    return np.where(gain > _NOISE, gain, 0.0)
