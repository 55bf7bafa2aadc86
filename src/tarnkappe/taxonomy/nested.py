"""Trees written as nested mappings and lists, turned into one parent per node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tarnkappe.errors import TaxonomyError
from tarnkappe.params import place
from tarnkappe.taxonomy.labels import scalar_text, shown


class Entry(NamedTuple):
    """A node still to be unfolded: its label, the container that stands below it, and where it is written."""

    label: str
    below: Any
    where: str | None = None


def flatten(root: Entry, unfold: Callable[[Any], list[Entry]]) -> tuple[list[str], list[int]]:
    """The label and the parent of every node; `unfold` gives the entries inside a container.

    Nodes are unfolded breadth first without recursion, so deep trees are no problem. A container may be met
    only once: met inside itself it is a cycle, met elsewhere its values would stand twice (this also stops a
    small file that uses aliases to unfold into a huge tree).
    """
    entries = [root]
    parents = [-1]
    seen: set[int] = set()
    node = 0
    while node < len(entries):
        below = entries[node].below
        inside = unfold(below)
        if inside:
            if id(below) in seen:
                raise _met_twice(entries, parents, node)
            seen.add(id(below))
        entries.extend(inside)
        parents.extend([node] * len(inside))
        node += 1
    require_distinct(entries, parents)
    return [entry.label for entry in entries], parents


def _met_twice(entries: list[Entry], parents: list[int], node: int) -> TaxonomyError:
    below, where, label = entries[node].below, entries[node].where, shown(entries[node].label)
    up = parents[node]
    while up >= 0:
        if entries[up].below is below:
            return TaxonomyError(
                "E201",
                f"the taxonomy has a cycle: {label} is its own ancestor",
                where=where,
                hint="Remove the reference (*name) that points back to an enclosing node.",
            )
        up = parents[up]
    return TaxonomyError(
        "E201",
        f"the values below {label} stand twice in the taxonomy",
        where=where,
        hint="Write the values out below one node only instead of repeating them by reference.",
    )


def require_distinct(entries: Sequence[Entry], parents: Sequence[int]) -> None:
    """Refuse a value that stands twice, or two nodes of the same label below one node."""
    inner = set(parents)
    first: dict[tuple[int, str], int] = {}
    for node, entry in enumerate(entries):
        among = parents[node] if node in inner else -2  # inner nodes compare with siblings, leaves with all leaves
        earlier = first.setdefault((among, entry.label), node)
        if earlier == node:
            continue
        one, two = (shown(entries[parents[n]].label) for n in (earlier, node))
        what = "stands twice" if one == two else f"has two parents: {one} and {two}"
        since = f" (first at {entries[earlier].where})" if entries[earlier].where else ""
        raise TaxonomyError(
            "E201",
            f"{shown(entry.label)} {what}{since}",
            where=entry.where,
            hint="Remove one of the two, or give them different names.",
        )


def unfold_plain(below: Any) -> list[Entry]:
    """The entries inside plain data: a mapping of labels, or a list of values and mappings.

    >>> [entry.label for entry in unfold_plain({"Married": ["civil", "church"], "Single": None})]
    ['Married', 'Single']
    """
    if below is None:
        return []
    if isinstance(below, Mapping):
        return [_entry(below, key) for key in below]
    entries: list[Entry] = []
    for item in below:
        if isinstance(item, Mapping):
            entries.extend(_entry(item, key) for key in item)
        elif isinstance(item, (list, tuple)):
            raise TaxonomyError(
                "E203",
                "a list stands directly inside a list, so the inner one has no label",
                hint="Give it a label, such as  - Married: [civil, church].",
            )
        else:
            entries.append(Entry(scalar_text(item), None))
    return entries


def plain_container(below: Any) -> Any:
    """What stands below a label as a container: one value alone becomes a list."""
    return below if below is None or isinstance(below, (Mapping, list, tuple)) else [below]


def _entry(mapping: Mapping[Any, Any], key: Any) -> Entry:
    where = place(mapping, key)
    return Entry(scalar_text(key, where), plain_container(mapping[key]), where)
