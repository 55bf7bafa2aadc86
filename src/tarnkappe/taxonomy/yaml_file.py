"""Reads a nested taxonomy from a YAML file; every scalar is taken as the text that is written there."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy.nested import Entry, flatten
from tarnkappe.taxonomy.reading import naming, read_text
from tarnkappe.taxonomy.tree import ANY, Taxonomy
from tarnkappe.yaml_nodes import Node, parse_yaml


def read_yaml(path: Path) -> Taxonomy:
    """The taxonomy in a YAML file; a mapping with one key names its root."""
    with naming(str(path)):
        top = parse_yaml(read_text(path), str(path), _complain)
        root = Entry(ANY, top, str(path))
        if top.kind == "mapping" and len(top.items) == 2:
            root = _unfold(top)[0]
        if root.below is None or not _unfold(root.below):
            raise TaxonomyError(
                "E202", "the taxonomy file is empty", hint="Write nested values:  Group: [value, value]"
            )
        return Taxonomy.from_parents(*flatten(root, _unfold))


def _unfold(node: Node | None) -> list[Entry]:
    """The entries inside a node of the file."""
    if node is None or (node.kind == "scalar" and node.text is None):
        return []
    if node.kind == "scalar":
        return [Entry(str(node.text), None, node.where)]
    if node.kind == "mapping":
        return [Entry(_label(key), below, key.where) for key, below in node.pairs]
    entries: list[Entry] = []
    for item in node.items:
        if item.kind == "mapping":
            entries.extend(_unfold(item))
        else:
            entries.append(Entry(_label(item), None, item.where))
    return entries


def _label(node: Node) -> str:
    if node.kind != "scalar":
        raise TaxonomyError(
            "E203",
            f"a {node.kind} stands where a label was expected",
            where=node.where,
            hint="Give it a label, such as  - Married: [civil, church].",
        )
    if node.text is None:
        raise TaxonomyError(
            "E203", "an entry of the taxonomy is empty", where=node.where, hint='For the empty text write  "".'
        )
    return node.text


def _complain(message: str, where: str, hint: str) -> TaxonomyError:
    return TaxonomyError("E202", f"the taxonomy file cannot be read: {message}", where=where, hint=hint)
