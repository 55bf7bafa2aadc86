"""Docstrings and tables as Markdown that reads well without JavaScript."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING
from typing import Any

from tarnkappe.params import parameters

#: What TeX commands look like; letters and signs that are not here stand for themselves.
_SIGNS = {
    "propto": "∝",
    "alpha": "α",
    "beta": "β",
    "cap": "∩",
    "cdot": "·",
    "cup": "∪",
    "arg": "arg ",
    "delta": "δ",
    "Delta": "Δ",
    "dots": "…",
    "gamma": "γ",
    "exists": "∃",
    "ge": "≥",
    "in": "∈",
    "kappa": "κ",
    "lambda": "λ",
    "lceil": "⌈",
    "le": "≤",
    "lfloor": "⌊",
    "ln": "ln",
    "log": "log",
    "lVert": "‖",
    "max": "max",
    "mid": " | ",
    "min": "min",
    "Pr": "Pr",
    "prod": "Π",
    "qquad": "\u2003\u2003",
    "quad": "\u2003",
    "rceil": "⌉",
    "rfloor": "⌋",
    "rVert": "‖",
    "Sigma": "Σ",
    "sim": "∼",
    "sum": "Σ",
    "to": "→",
    "varepsilon": "ε",
}
#: What may follow a fraction that is not multiplied with it.
_NO_FACTOR = (*"=<>+-.,)}", r"\le", r"\ge", r"\,", r"\quad", r"\qquad", r"\rceil", r"\rfloor", r"\right", r"\text")
_SPACES = {",": " ", ";": " ", " ": " "}
_SIZES = ("left", "right", "bigl", "bigr", "Bigl", "Bigr")
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\s+|.")


def plain_math(tex: str) -> str:
    """A formula of a docstring as HTML with signs and subscripts instead of TeX.

    >>> plain_math(r"\\tfrac12 \\sum_i |p_i - q_i| \\le t")
    '½ Σ<sub>i</sub> |p<sub>i</sub> − q<sub>i</sub>| ≤ t'
    >>> plain_math(r"\\frac{a - b}{|G|} < \\beta")
    '(a − b) / |G| &lt; β'
    >>> plain_math(r"\\frac1n \\sum_G |G|^2")
    '(1 / n) Σ<sub>G</sub> |G|<sup>2</sup>'
    """
    return re.sub(" +", " ", _sequence(_TOKEN.findall(tex)[::-1])).strip()


def _sequence(tokens: list[str]) -> str:
    """The formula up to the end of its group; `tokens` are those still to be read, the next one last."""
    out = ""
    while tokens and tokens[-1] != "}":
        out += _piece(tokens)
    return out


def _piece(tokens: list[str]) -> str:
    """The next piece of a formula: a sign, a group, or a command with what it applies to."""
    token = tokens.pop()
    if token == "{":
        inside = _sequence(tokens)
        tokens.pop()
        return inside
    if token in "_^":
        tag = "sub" if token == "_" else "sup"
        return f"<{tag}>{_argument(tokens)}</{tag}>"
    if not token.startswith("\\"):
        return " " if token.isspace() else "−" if token == "-" else html.escape(token, quote=False)
    name = token[1:]
    if name in _SIZES:
        return ""
    if name in ("mathrm", "text"):
        return _argument(tokens).replace("−", "-")
    if name == "bar":
        return f"{_argument(tokens)}\u0304"
    if name == "sqrt":
        return f"√{_as_factor(_argument(tokens))}"
    if name in ("frac", "tfrac"):
        above, below = _argument(tokens), _argument(tokens)
        if (above, below) == ("1", "2"):
            return "½"
        quotient = f"{_as_factor(above)} / {_as_factor(below)}"
        follows = next((t for t in reversed(tokens) if not t.isspace()), "}")
        return quotient if follows in _NO_FACTOR else f"({quotient})"
    return _SIGNS[name] if name.isalpha() else _SPACES.get(name, name)


def _argument(tokens: list[str]) -> str:
    while tokens[-1].isspace():
        tokens.pop()
    return _piece(tokens)


def _as_factor(text: str) -> str:
    """A part of a fraction, in brackets unless it is one thing."""
    bare = re.sub("<[^>]*>", "", text)
    while (inner := re.sub(r"\|[^|]*\||\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]", "", bare)) != bare:
        bare = inner
    return f"({text})" if re.search(r"[\s+−·/]", bare.strip()) else text


def docstring(thing: object) -> str:
    """The docstring of a class or function as Markdown."""
    text = inspect.getdoc(thing) or ""
    return "\n\n".join(filter(None, (_block(block) for block in _blocks(text))))


def first_sentence(thing: object) -> str:
    """The first paragraph of a docstring on one line."""
    return _inline(" ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split()))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def code(text: object) -> str:
    """A word set as code."""
    return f"`{text}`"


def parameter_table(cls: type, what: str = "Parameter") -> str:
    """The declared parameters of a class."""
    rows = []
    for p in parameters(cls):
        default = "required" if p.default is MISSING else "–" if p.default is None else code(_plain(p.default))
        expected = "" if p.expected == "a value" else p.expected
        if p.ge is not None and p.ge == p.le:
            expected = f"{p.ge:g}"
        rows.append((code(p.name), p.doc, expected, default))
    return table((what, "What it does", "Values", "Default"), rows) if rows else "It has no parameters."


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(repr(v) if v == "" else str(v) for v in value) + "]"
    return repr(value) if value == "" else str(value)


def _cell(cell: object) -> str:
    return str(cell).replace("|", "\\|").replace("\n", " ")


def _blocks(text: str) -> list[str]:
    """Paragraphs; an indented paragraph stays with the one that announces it by a colon."""
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        if blocks and block.startswith("    ") and re.search(r"(::|^\.\. math::.*)$", blocks[-1].rstrip()):
            blocks[-1] += "\n\n" + block
        else:
            blocks.append(block)
    return blocks


def _block(block: str) -> str:
    if block.startswith(">>>"):
        return f"```pycon\n{block}\n```"
    if block.startswith(".. math::"):
        return f'<p class="formula">{plain_math(" ".join(block[9:].split()))}</p>'
    if block.startswith("References\n---"):
        entries = re.findall(r"\.\. \[\w+\] (.*?)(?=\n\.\. \[|\Z)", block, re.DOTALL)
        return "\n\n".join(f"Reference: {' '.join(entry.split())}" for entry in entries)
    if "::\n\n" in block:
        lead, _, literal = block.partition("::\n\n")
        intro = _inline(lead) + ":\n\n" if lead.strip() else ""
        return f"{intro}```python\n{inspect.cleandoc(literal)}\n```"
    if re.match(r"\S[^\n]*\n {4}\S", block):  # a term and its meaning
        parts = re.findall(r"^(\S[^\n]*)\n((?: {4}[^\n]*(?:\n|$))+)", block, re.MULTILINE)
        return "\n".join(f"* {_inline(term)}: {_inline(' '.join(meaning.split()))}" for term, meaning in parts)
    return _inline(block)


def _inline(text: str) -> str:
    """RST inline marks as Markdown; code marks are the same in both."""
    text = re.sub(r":math:`([^`]*)`", lambda m: f"<i>{plain_math(m[1])}</i>", text)
    return text.replace("``", "`")
