"""What criteria ask of the values of a sensitive column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Criterion
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import role
from tarnkappe.tally import Domain


def require_named(criterion: Criterion, parameter: str, named: Iterable[str], domain: Domain) -> None:
    """Refuse a name that is no value of the column: a misspelt name would protect nothing."""
    if not domain.known.any():  # nobody can tell what the column would hold
        return
    for value in named:
        if value not in domain.code_of:
            known = domain.taxonomy.leaves
            raise JobError(
                "E110",
                f"'{parameter}' of {criterion.name} names '{value}', "
                f"which is no value of '{domain.name}'{did_you_mean(value, known)}",
                hint="Correct the name, or give the column a taxonomy that lists all values it may have.",
            )


def numbers(criterion: Criterion, domain: Domain) -> Floats:
    """The number of every code, 0 for a missing one; a column of names is refused."""
    if domain.values is None and domain.known.any():
        raise JobError(
            "E111",
            f"{criterion.name} measures by the numbers of '{domain.name}', which is not declared to hold any",
            hint=role(domain.name, "sensitive", "numeric"),
        )
    return np.nan_to_num(domain.positions)


def require_somewhere(criterion: Criterion, parameter: str, named: Iterable[str], domains: Sequence[Domain]) -> None:
    """Refuse a name that is a value of none of the columns."""
    if not any(domain.known.any() for domain in domains):
        return
    for value in named:
        if not any(value in domain.code_of for domain in domains):
            known = [leaf for domain in domains for leaf in domain.taxonomy.leaves]
            columns = " or ".join(f"'{domain.name}'" for domain in domains)
            raise JobError(
                "E110",
                f"'{parameter}' of {criterion.name} names '{value}', "
                f"which is no value of {columns}{did_you_mean(value, known)}",
                hint="Correct the name, or give a column a taxonomy that lists all values it may have.",
            )
