"""What the laws of criteria and of algorithms share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.personalized_privacy import PersonalizedPrivacy
from tarnkappe.errors import TarnkappeError, VerificationError
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

T = TypeVar("T")

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


def numeric_domain(name: str, size: int) -> Domain:
    """Numbers each of which is twice the one before: close together and far apart."""
    values = np.exp2(np.arange(size, dtype=np.float64))
    return Domain(name, Taxonomy.scale([f"{v:g}" for v in values]), values)


def guard_domain(name: str, secret: Domain) -> Domain:
    """Guarding nodes: the parent of the first value, the second value, and none."""
    tree = secret.taxonomy
    above, value = tree.labels[tree.parent[tree.leaf_nodes[0]]], tree.leaves[1]
    return Domain(name, Taxonomy.from_nested([above, value]).with_missing("(none)"), missing=2, aside=True)


def counted_domains(criteria: Iterable[Criterion], size: int) -> dict[str, Domain]:
    """A domain of some size for each column that criteria look at, of the kind that they need."""
    criteria = tuple(criteria)
    numeric = {c.sensitive_column for c in criteria if c.measured_by == "numbers"}
    numeric |= {name for c in criteria for name in c.number_columns}
    guards = {c.guard: c.column for c in criteria if isinstance(c, PersonalizedPrivacy)}
    out: dict[str, Domain] = {}
    for name in dict.fromkeys(name for c in criteria for name in c.columns):
        out[name] = numeric_domain(name, size) if name in numeric else sensitive_domain(name, size)
    return {name: guard_domain(name, out[guards[name]]) if name in guards else d for name, d in out.items()}


def same(one: list[NDArray[Any]], two: list[NDArray[Any]]) -> bool:
    """Whether two lists hold equal arrays."""
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def attempted(name: str, n_records: int, act: Callable[[], T]) -> T:
    """What an algorithm decides; whatever it raises that is no error of ours breaks a law."""
    try:
        return act()
    except VerificationError as error:
        raise AssertionError(f"{name}: {error.message}") from error
    except TarnkappeError:
        raise
    except Exception as error:
        raise AssertionError(
            f"{name} must raise InfeasibleError where it finds no release; a table of {n_records} records made it "
            f"raise {type(error).__name__}: {error}"
        ) from error
