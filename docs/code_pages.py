"""Reference pages read from live code: the command line, the Python API and the import order."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

from markdown_text import code, docstring, first_sentence, parameter_table, table

import tarnkappe
from tarnkappe.params import Declared

SOURCE = Path(tarnkappe.__file__).parent

_LONGEST_SIGNATURE = 90


def cli_page() -> str:
    """Usage, help and options of every command."""
    try:
        import typer
        from tarnkappe.cli import app
    except ModuleNotFoundError:
        return "# Command line\n\nThis build has no command line."
    root: Any = typer.main.get_command(app)
    context = root.make_context("tarnkappe", [], resilient_parsing=True)
    out = [
        "# Command line",
        _help(root),
        _options(root, context),
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
    out = [f"{depth} {title}", f"```text\n{usage}\n```", _help(command), _options(command, context)]
    if hasattr(command, "list_commands"):
        for sub in command.list_commands(context):
            out += _command(command.get_command(context, sub), sub, context, f"{title} {sub}")
    return out


def _help(command: Any) -> str:
    """The help text; examples keep their lines."""
    text = inspect.cleandoc(command.help or "").replace("\b\n", "").replace("\f", "")
    blocks = []
    for block in text.split("\n\n"):
        is_example = block.strip() and all(line.startswith((" ", "tarnkappe", "$")) for line in block.splitlines())
        blocks.append(f"```console\n{inspect.cleandoc(block)}\n```" if is_example else block)
    return "\n\n".join(blocks)


def _options(command: Any, context: Any) -> str:
    rows = []
    for p in command.params:
        if getattr(p, "hidden", False) or p.name == "help":
            continue
        if p.param_type_name == "argument":
            rows.append((code(p.make_metavar(ctx=context)), getattr(p, "help", None) or ""))
        elif record := p.get_help_record(context):
            rows.append((code(record[0]), record[1]))
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
        shown.append(str(p.replace(annotation=p.empty)))
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
    layer: dict[str, int] = {}

    def rank(name: str, above: tuple[str, ...] = ()) -> int:
        if name in above:
            raise SystemExit("import cycle: " + " → ".join([*above, name]))
        if name not in layer:
            layer[name] = 1 + max((rank(n, (*above, name)) for n in needs[name]), default=-1)
        return layer[name]

    rows = [
        (rank(name), code(name), _module_sentence(name), ", ".join(code(n) for n in sorted(needs[name])) or "nothing")
        for name in needs
    ]
    intro = (
        "Read from the import statements of `src/tarnkappe`: a module imports only from lower layers, and there is no "
        "cycle. Imports inside functions are left out. [Why the house is built this way](../architecture.md)."
    )
    return "\n\n".join(["# Modules", intro, table(("Layer", "Module", "What it holds", "Imports"), sorted(rows))])


def _imports() -> dict[str, set[str]]:
    """For each top-level module or package, the others it imports when it is loaded."""
    needs: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        if room.startswith("_"):
            continue
        found = needs.setdefault(room, set())
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tarnkappe."):
                found.add(str(node.module).split(".")[1])
    return {room: {n for n in found if n in needs and n != room} for room, found in needs.items()}


def _module_sentence(name: str) -> str:
    file = SOURCE / f"{name}.py"
    text = (file if file.exists() else SOURCE / name / "__init__.py").read_text(encoding="utf-8")
    return " ".join((ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].split())
