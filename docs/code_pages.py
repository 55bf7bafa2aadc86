"""Reference pages read from live code: the command line, the Python API and the import order."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

from markdown_text import code, docstring, first_sentence, parameter_table, table

import tarnkappe
from tarnkappe.params import Declared

SOURCE = Path(tarnkappe.__file__).parent

_LONGEST_SIGNATURE = 90


def cli_page() -> str:
    """Usage, help and options of every command."""
    import typer

    from tarnkappe.cli.app import app

    root: Any = typer.main.get_command(app)
    context = root.make_context("tarnkappe", [], resilient_parsing=True)
    out = [
        "# Command line",
        _help(root),
        _options(root),
        "Exit codes: [Codes and exit codes](generated-codes.md#exit-codes).",
    ]
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if not command.hidden:
            out += _command(command, name, context, f"tarnkappe {name}")
    return "\n\n".join(part for part in out if part)


def _command(command: Any, name: str, parent: Any, title: str) -> list[str]:
    context = type(parent)(command, info_name=name, parent=parent)
    usage = " ".join([title, *command.collect_usage_pieces(context)])
    depth = "##" if title.count(" ") == 1 else "###"
    out = [f"{depth} {title}", f"```text\n{usage}\n```", _help(command), _options(command)]
    if hasattr(command, "list_commands"):
        for sub in command.list_commands(context):
            out += _command(command.get_command(context, sub), sub, context, f"{title} {sub}")
    return out


def _help(command: Any) -> str:
    """The help text as Markdown; examples are set as code."""
    text = inspect.cleandoc(command.help or "")
    text = re.sub(r"\[bold\]Example:\[/bold\]\s+(.*)", r"```console\n\1\n```", text)
    return re.sub(r"(?<!console\n)(tarnkappe (?:init|run) \S+)", r"`\1`", text) if command.name == "tarnkappe" else text


def _options(command: Any) -> str:
    rows = []
    for p in command.params:
        if getattr(p, "hidden", False) or p.name == "help":
            continue
        if p.param_type_name == "argument":
            name = p.metavar or p.name.upper()
        else:
            taken = "" if p.is_flag else " " + (p.metavar or p.name.upper())
            name = ", ".join([*p.opts, *p.secondary_opts]) + taken
        words = inspect.cleandoc(p.help or "")
        if p.required:
            words += " Required."
        elif p.show_default and p.default not in (None, False):
            words += f" Default: `{p.default}`."
        rows.append((code(name), words))
    return table(("Argument or option", "What it does"), rows) if rows else ""


def python_page() -> str:
    """Signatures and docstrings of everything the package exports."""
    functions, classes = [], []
    for name in tarnkappe.__all__:
        thing = getattr(tarnkappe, name)
        if inspect.isclass(thing):
            classes += _class(name, thing)
        elif callable(thing):
            functions += [f"### {name}", _signature(name, thing), docstring(thing)]
    intro = "Everything below is importable from `tarnkappe`. [How to use it](../how-to/python.md)."
    return "\n\n".join(["# Python API", intro, "## Functions", *functions, "## Classes", *classes])


def _signature(name: str, thing: Any) -> str:
    return f"```python\n{_call(name, thing)}\n```"


def _call(name: str, thing: Any) -> str:
    """How a function is called: its parameters and their defaults."""
    signature = inspect.signature(thing)
    shown: list[str] = []
    only_by_name = False
    for p in signature.parameters.values():
        if p.name in ("self", "cls"):
            continue
        if p.kind is p.VAR_POSITIONAL:
            only_by_name = True
        elif p.kind is p.KEYWORD_ONLY and not only_by_name:
            shown.append("*")
            only_by_name = True
        shown.append(str(p.replace(annotation=p.empty)).replace("'", '"'))
    line = f"{name}({', '.join(shown)})"
    if len(line) <= _LONGEST_SIGNATURE:
        return line
    return f"{name}(\n" + "".join(f"    {p},\n" for p in shown) + ")"


def _class(name: str, cls: type) -> list[str]:
    out = [f"### {name}", _signature(name, cls), docstring(cls)]
    if issubclass(cls, Declared):
        return [*out, parameter_table(cls)]
    fields = [f for f in getattr(cls, "__dataclass_fields__", {}) if not f.startswith("_")]
    if fields:
        out.append("Fields: " + ", ".join(code(f) for f in fields) + ".")
    members = []
    for member, thing in vars(cls).items():
        plain = getattr(thing, "__func__", None) or getattr(thing, "func", None) or getattr(thing, "fget", thing)
        if member.startswith("_") or not inspect.isfunction(plain):
            continue
        is_call = isinstance(thing, (staticmethod, classmethod)) or inspect.isfunction(thing)
        shown = " ".join(_call(member, plain).split()).replace("( ", "(").replace(", )", ")") if is_call else member
        members.append((code(shown), first_sentence(plain)))
    if members:
        out.append(table(("Member", "What it is"), members))
    return out


def modules_page() -> str:
    """The layers of the package, read from its import statements."""
    needs = _imports()
    below = {name: _reached(name, needs) for name in needs}
    # Packages that need each other (through different files) share a layer.
    peers = {name: {n for n in below[name] if name in below[n]} | {name} for name in needs}

    @cache
    def layer(name: str) -> int:
        return 1 + max((layer(n) for peer in peers[name] for n in needs[peer] - peers[name]), default=-1)

    rows = [
        (layer(name), code(name), _module_sentence(name), ", ".join(code(n) for n in sorted(needs[name])) or "nothing")
        for name in needs
    ]
    intro = (
        "Read from the import statements of `src/tarnkappe`: a module imports only from lower layers, or from its own. "
        "Imports inside functions are left out, except for the command line. "
        "[Why the house is built this way](../architecture.md)."
    )
    return "\n\n".join(["# Modules", intro, table(("Layer", "Module", "What it holds", "Imports"), sorted(rows))])


def _reached(start: str, needs: dict[str, set[str]]) -> set[str]:
    """Everything that a module imports, directly or not."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = needs[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _imports() -> dict[str, set[str]]:
    """For each top-level module or package, the others it imports when it is loaded."""
    needs: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        if room.startswith("_"):
            continue
        found = needs.setdefault(room, set())
        tree = ast.parse(path.read_text(encoding="utf-8"))
        # The command line imports what a command needs when it runs.
        for node in ast.walk(tree) if room == "cli" else tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tarnkappe."):
                found.add(str(node.module).split(".")[1])
    return {room: {n for n in found if n in needs and n != room} for room, found in needs.items()}


def _module_sentence(name: str) -> str:
    file = SOURCE / f"{name}.py"
    text = (file if file.exists() else SOURCE / name / "__init__.py").read_text(encoding="utf-8")
    return " ".join((ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].split()).replace("``", "`")
