"""Docstrings and tables as Markdown that reads well without JavaScript."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING
from typing import Any

from tarnkappe.params import parameters

_SIGNS = {
    r"\ge": "≥",
    r"\le": "≤",
    r"\sum": "Σ",
    r"\cdot": "·",
    r"\dots": "…",
    r"\in": "∈",
    r"\log": "log",
    r"\max": "max",
    r"\#": "#",
    r"\quad": "\u2003",
    r"\,": " ",
    r"\;": " ",
}


def plain_math(tex: str) -> str:
    """A formula of a docstring as HTML with signs and subscripts instead of TeX.

    >>> plain_math(r"\\tfrac12 \\sum_i |p_i - q_i| \\le t")
    '½ Σ<sub>i</sub> |p<sub>i</sub> − q<sub>i</sub>| ≤ t'
    """
    text = tex.replace(r"\tfrac12", "½")
    text = re.sub(r"\\t?frac(\w)\{([^{}]*)\}", r"\1/(\2)", text)
    text = re.sub(r"\\(?:mathrm|text)\{([^{}]*)\}", r"{\1}", text).replace("{{", "{").replace("}}", "}")
    held = {r"\{": "\x01", r"\}": "\x02"}  # braces that are meant to be seen
    for tex_sign, mark in held.items():
        text = text.replace(tex_sign, mark)
    for tex_sign, sign in _SIGNS.items():
        word_end = r"(?![a-zA-Z])" if tex_sign[-1].isalpha() else ""
        text = re.sub(re.escape(tex_sign) + word_end, sign, text)
    text = html.escape(text, quote=False)
    text = re.sub(r"_\{([^{}]*)\}|_(\w)", lambda m: f"<sub>{m[1] or m[2]}</sub>", text)
    text = re.sub(r"\^(\w)", r"<sup>\1</sup>", text)
    text = text.replace(" - ", " − ").replace("{", "").replace("}", "")
    return re.sub(" +", " ", text.replace("\x01", "{").replace("\x02", "}")).strip()


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
