"""What a release folder holds is spelt in one place."""

from __future__ import annotations

import ast

from modules import modules

from tarnkappe.io import folders

NAMES = {folders.PUBLIC + "/", folders.PRIVATE, folders.MANIFEST, folders.GROUPS, folders.WITNESS, folders.POPULATION}
NAMES |= {folders.ORIGINALS}


def test_the_layout_is_spelt_in_one_place():
    """Other modules may speak of these files in sentences, but do not build paths from texts of their own."""
    spelt = []
    for module in modules().values():
        if module.short in ("io.folders", "check_release"):  # the latter runs without the package
            continue
        for node in ast.walk(module.tree):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if text in NAMES or any(text.startswith(f"{name}/") for name in (folders.PUBLIC, folders.PRIVATE)):
                spelt.append((module.short, node.lineno, text))
    assert spelt == []
