"""What the laws of criteria and of algorithms share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

#: The column an attacker is assumed to know besides the one a criterion looks at.
OTHER = "another sensitive column"


def require(holds: Any, sentence: str) -> None:
    """Say which law is broken."""
    if not holds:
        raise AssertionError(sentence)


def sensitive_domain(name: str, size: int) -> Domain:
    """Values in a ragged tree: families of three, and the last value right under the root."""
    families = range((size + 1) // 3)
    labels = ["*", *(f"family {i}" for i in families), *(f"value {i}" for i in range(size))]
    parents = [-1, *(0 for _ in families), *(1 + i // 3 for i in range(size - 1)), 0]
    return Domain(name, Taxonomy.from_parents(labels, parents))


def same(one: list[NDArray[Any]], two: list[NDArray[Any]]) -> bool:
    """Whether two lists hold equal arrays."""
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
