"""The package's modules as syntax trees: what each imports, where, and what it calls."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tarnkappe

ROOT = Path(tarnkappe.__file__).parent


@dataclass(frozen=True)
class Import:
    """One imported module, by its full name."""

    module: str
    line: int
    #: Whether it happens when a function is called, not when the module is loaded.
    late: bool
    #: Whether only type checkers see it.
    for_types: bool


@dataclass(frozen=True, eq=False)
class Module:
    """One file of the package."""

    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def short(self) -> str:
        """The name without that of the package."""
        return self.name.removeprefix("tarnkappe").removeprefix(".")

    def inside(self, *rooms: str) -> bool:
        """Whether it lies in one of these modules or packages of the package."""
        return any(self.short == room or self.short.startswith(f"{room}.") for room in rooms)

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        """Every call and what is called, as it is written."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield ast.unparse(node.func), node

    def texts(self) -> Iterator[str]:
        """Every text in the code."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@cache
def modules() -> dict[str, Module]:
    """All modules of the package by name."""
    paths = {_name(path): path for path in sorted(ROOT.rglob("*.py"))}
    known, out = set(paths), {}
    gc.disable()  # a million objects that all stay
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        out[name] = Module(name, path, tree, tuple(_imports(tree, known)))
    gc.enable()
    return out


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(node: ast.AST, known: set[str], *, late: bool = False, for_types: bool = False) -> Iterator[Import]:
    """The imports below a node; ``from tarnkappe import x`` is the module ``tarnkappe.x`` where there is one."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, late, for_types) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "relative imports hide where something comes from"
            assert child.module
            full = (f"{child.module}.{alias.name}" for alias in child.names)
            found = {name if name in known else child.module for name in full}
            yield from (Import(name, child.lineno, late, for_types) for name in sorted(found))
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for part in child.body:
                yield from _imports(ast.Module([part], []), known, late=late, for_types=True)
            for part in child.orelse:
                yield from _imports(ast.Module([part], []), known, late=late, for_types=for_types)
        else:
            deeper = late or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from _imports(child, known, late=deeper, for_types=for_types)
