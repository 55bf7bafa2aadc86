"""How one column may be coarsened, as the page shows it: levels, values with their counts, and what a file covers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tarnkappe.errors import JobError, TaxonomyError
from tarnkappe.io import staged
from tarnkappe.tally import Domain, Tally
from tarnkappe.taxonomy import check_coverage, level_table, read_taxonomy, write_taxonomy

#: Values that a page lists, and bars of a histogram.
_MOST_VALUES, _BARS = 400, 48


def coarsening(tally: Tally, name: str) -> dict[str, Any]:
    """The levels of a column with their groups, its values by how often they occur, and a histogram of numbers."""
    j, domain = _domain(tally, name)
    counts = tally.value_counts[j]
    leaves = domain.taxonomy.leaves
    known = [i for i in range(domain.size) if i != domain.missing]
    return {
        "levels": [
            {"level": level, "groups": groups, "examples": examples}
            for level, groups, examples in level_table(domain.taxonomy)
        ],
        "ranges": bool(domain.taxonomy.ranges.any()) and not domain.sets,
        "n_values": len(known),
        "values": [{"value": str(leaves[i]), "count": int(counts[i])} for i in known[:_MOST_VALUES]],
        "missing": int(counts[domain.missing]) if domain.missing >= 0 else 0,
        "histogram": _histogram(domain, counts),
        "tree": domain.taxonomy.nested() if domain.size <= _MOST_VALUES else None,
    }


def _histogram(domain: Domain, counts: Any) -> dict[str, Any] | None:
    """Numbers in bars of equal width; None for what is no number."""
    try:
        numbers = np.array([float(text) for i, text in enumerate(domain.taxonomy.leaves) if i != domain.missing])
    except ValueError:
        return None
    if len(numbers) < 3:
        return None
    of = np.delete(counts, domain.missing) if domain.missing >= 0 else counts
    bars, edges = np.histogram(numbers, min(_BARS, len(numbers)), weights=of)
    return {"bars": [int(b) for b in bars], "from": float(edges[0]), "to": float(edges[-1])}


def coverage(tally: Tally, name: str, path: str) -> dict[str, Any]:
    """How many values of a column a taxonomy in a file covers, and which column it fits if not this one."""
    taxonomy = read_taxonomy(path, column=name)
    leaves = set(taxonomy.leaves)
    texts = {d.name: _texts(d) for d in tally.quasi_domains}
    _domain(tally, name)
    covered = {column: sum(text in leaves for text in values) for column, values in texts.items()}
    told: dict[str, Any] = {
        "covered": covered[name],
        "of": len(texts[name]),
        "fits": next((c for c, n in covered.items() if c != name and n and n == len(texts[c])), None),
        "error": None,
    }
    try:
        check_coverage(taxonomy, texts[name], None, name, texts, Path(path).name)
    except TaxonomyError as error:
        told["error"] = error.as_dict()
    return told


def exported(tally: Tally, name: str, path: str) -> dict[str, Any]:
    """Write the taxonomy of a column in the layout of ARX: one row per value, a column for every level."""
    _, domain = _domain(tally, name)
    with staged(path, overwrite=True) as unfinished:
        write_taxonomy(domain.taxonomy, unfinished)
    return {"levels": domain.taxonomy.height + 1}


def _texts(domain: Domain) -> list[str]:
    return [str(text) for i, text in enumerate(domain.taxonomy.leaves) if i != domain.missing]


def _domain(tally: Tally, name: str) -> tuple[int, Domain]:
    for j, domain in enumerate(tally.quasi_domains):
        if domain.name == name:
            return j, domain
    raise JobError("E105", f"'{name}' is no quasi-identifier", hint="Give the column the role quasi first.")
