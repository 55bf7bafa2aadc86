"""Suggests a role and a taxonomy for every column, each with its reason. Nothing is decided silently."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tarnkappe.io import Source
from tarnkappe.job.facts import ColumnFacts, column_facts
from tarnkappe.job.words import Meaning, meaning_of
from tarnkappe.schema import Kind, Role
from tarnkappe.taxonomy.builders import MOST_IN_A_SET

__all__ = ["Suggestion", "column_lines", "suggest", "suggested_job_text"]

#: Numbers with at most this many different values may be counts that others know.
FEW_NUMBERS = 20

#: Texts with at most this many different values may be categories that others know.
FEW_TEXTS = 50

#: Numbers with at most this many different values may be codes of categories.
_FEW_CODES = 30

_DEFAULT_DATES = ("%Y-%m-%d", "%d.%m.%Y")

#: Marks the entry of a column that somebody has to decide about.
UNDECIDED = "DECIDE (remove the first #)"

SUGGESTED_K = 5
SUGGESTED_L = 2


@dataclass(frozen=True)
class Suggestion:
    """What a column seems to be, and why; the role is None where the data steward has to decide."""

    column: str
    role: Role | None
    reason: str
    #: What a steward might choose if the role is None, else the role.
    likely: Role
    kind: Kind
    #: As it stands in a job file: a name, a declaration, or None.
    taxonomy: str | dict[str, Any] | None
    facts: ColumnFacts


def suggest(source: Source) -> list[Suggestion]:
    """A suggestion for every column, from its name and its values.

    >>> import polars as pl
    >>> from tarnkappe.io import open_source
    >>> table = pl.DataFrame({"age": [31, 44], "illness": ["flu", "flu"], "ward": ["A", "B"]})
    >>> [(s.column, s.role) for s in suggest(open_source(table))]
    [('age', 'quasi'), ('illness', 'sensitive'), ('ward', None)]
    """
    return [_suggestion(facts) for facts in column_facts(source)]


def _suggestion(facts: ColumnFacts) -> Suggestion:
    meaning = meaning_of(facts.name)
    role, reason, likely = _role(facts, meaning)
    kind: Kind = "categorical"
    taxonomy: str | dict[str, Any] | None = None
    if likely == "quasi":
        kind, taxonomy = _coarsening(facts, meaning)
    elif likely == "sensitive" and facts.numeric and (meaning is None or meaning.nature == "number"):
        kind = "numeric"
    return Suggestion(facts.name, role, reason, likely, kind, taxonomy, facts)


def _role(facts: ColumnFacts, meaning: Meaning | None) -> tuple[Role | None, str, Role]:
    """The role, why, and what is likely where there is no role."""

    def certain(role: Role, reason: str) -> tuple[Role | None, str, Role]:
        return role, reason, role

    look = facts.look
    by_name = bool(look.identifier and look.identifier.startswith("its name"))
    mostly_unique = bool(look.identifier and "different texts" in look.identifier)
    if facts.odd:
        return certain("drop", f"holds {facts.odd}, which Tarnkappe does not take")
    if facts.distinct == 0:
        return certain("drop", "holds no values")
    if by_name or (look.identifier and not mostly_unique and not facts.date_format):
        return certain("identifier", str(look.identifier))
    if facts.date_format:
        quasi = meaning is not None and meaning.role == "quasi"
        return certain("quasi", meaning.reason if meaning and quasi else "others may know when something happened")
    if look.free_text:
        return certain("drop", f"free text (on average {look.mean_length:.0f} characters); people write names into it")
    if meaning is not None and not (meaning.role == "sensitive" and mostly_unique):
        return certain(meaning.role, meaning.reason)
    if look.identifier:
        return certain("identifier", look.identifier)
    if facts.distinct == 1:
        return certain("keep", "the same in every row, so it tells nobody apart")
    if facts.numeric and facts.distinct <= FEW_NUMBERS:
        return certain("quasi", "a number with few values, perhaps a count that others know")
    if facts.numeric:
        return None, "numbers that nothing is known about", "sensitive"
    few = facts.distinct <= FEW_TEXTS
    return None, "texts that nothing is known about", "quasi" if few else "drop"


def _coarsening(facts: ColumnFacts, meaning: Meaning | None) -> tuple[Kind, str | dict[str, Any] | None]:
    """How a quasi-identifier may be coarsened: its kind and its taxonomy."""
    if facts.date_format:
        given = {} if facts.date_format in _DEFAULT_DATES else {"format": facts.date_format}
        return "categorical", {"kind": "dates", **given}
    if meaning is not None and meaning.nature == "code":
        longest = (facts.length or 4) - 1
        if longest >= 1:
            return "categorical", {"kind": "prefix", "keep": list(range(longest, max(longest - 4, 0), -1))}
    coded = meaning is not None and meaning.nature == "category" and facts.distinct <= _FEW_CODES
    if facts.numeric and not coded:
        return "numeric", None
    if 2 < facts.distinct <= MOST_IN_A_SET:
        return "categorical", {"kind": "set"}
    return "categorical", "suppress"


def suggested_job_text(
    source: Source,
    suggestions: Sequence[Suggestion],
    data_path: str,
    *,
    folder: str = "release",
    title: str | None = None,
) -> str:
    """The text of a commented job file; `data_path` is relative to where the file will lie.

    Columns without a role stand there as comments, so that the job does not run before somebody has decided.
    """
    rows = f"{source.n_rows:,}".replace(",", " ")
    lines = [
        "# These are suggestions: review every role before you run this, because a wrong one can expose people.",
        "# Roles: identifier | quasi | sensitive | keep | drop    What they mean:  tarnkappe explain quasi",
        "version: 1",
        f"title: {_scalar(title or source.name.rpartition('.')[0] or source.name)}",
        "",
        "data:",
        f"  path: {_scalar(data_path)}    # {rows} rows, {_comment(source.format)}",
        *_missing_lines(source, suggestions),
        "",
        "columns:",
        *_tree_hint(suggestions),
        *column_lines(suggestions),
        "",
        "criteria:",
        f"  - k-anonymity: {{k: {SUGGESTED_K}}}    # every person is like at least {SUGGESTED_K - 1} others; "
        "10 and more for public files",
        *_diversity_lines(suggestions),
        "",
        "limits:",
        "  suppressed_rows: 0%    # share of the records that may be left out",
        "",
        "algorithm:",
        "  name: mondrian    # others:  tarnkappe explain",
        "",
        "output:",
        f"  folder: {_scalar(folder)}",
    ]
    return "\n".join(lines) + "\n"


def _missing_lines(source: Source, suggestions: Iterable[Suggestion]) -> list[str]:
    markers = {m: None for s in suggestions for m in s.facts.markers}
    lines = []
    if markers:
        listed = ", ".join(_quoted(m) for m in (*source.missing, *markers))
        lines.append(f"  missing: [{listed}]    # texts found that seem to stand for a missing value")
    gaps = [s.column for s in suggestions if s.likely == "quasi" and s.facts.missing]
    if gaps:
        lines.append(
            "  missing_rule: own-value    # a missing cell matches only missing cells; wildcard: it matches anything"
        )
    return lines


def _tree_hint(suggestions: Iterable[Suggestion]) -> list[str]:
    suggested = list(suggestions)
    better = "A tree of values says more:  tarnkappe explain tree"
    lines = []
    if any(s.taxonomy == {"kind": "set"} for s in suggested):
        lines.append(f"  # set: a group publishes the set of its values. {better}")
    if any(s.taxonomy == "suppress" and s.facts.distinct > 2 for s in suggested):
        lines.append(f"  # suppress: a value is published or it is not. {better}")
    return lines


def column_lines(suggestions: Sequence[Suggestion]) -> list[str]:
    """One line per column: its role, and the reason as a comment; a comment only where there is no role."""
    texts = [(f"{_scalar(s.column)}:", _flow(_body(s))) for s in suggestions]
    names = min(max((len(name) for name, _ in texts), default=0), 28)
    bodies = min(max((len(body) for _, body in texts), default=0), 60)
    return [
        _column_line(s, f"{name:<{names}} {body:<{bodies}}") for s, (name, body) in zip(suggestions, texts, strict=True)
    ]


def _column_line(suggestion: Suggestion, entry: str) -> str:
    """An entry of the section ``columns`` with its reason."""
    facts = suggestion.facts
    notes = [_comment(suggestion.reason), f"{facts.distinct} value{'s' if facts.distinct != 1 else ''}"]
    if facts.missing:
        notes.append(f"{facts.missing} missing")
    if suggestion.role is None:
        return f"  # {entry}  # {UNDECIDED}: {'; '.join(notes)}"
    return f"  {entry}  # {'; '.join(notes)}"


def _body(suggestion: Suggestion) -> dict[str, Any]:
    body: dict[str, Any] = {"role": suggestion.likely}
    if suggestion.kind == "numeric":
        body["type"] = "numeric"
    if suggestion.taxonomy is not None:
        body["taxonomy"] = suggestion.taxonomy
    if suggestion.likely == "keep":
        body["because"] = suggestion.reason
    return body


def _diversity_lines(suggestions: Sequence[Suggestion]) -> list[str]:
    sensitive = [s for s in suggestions if s.role == "sensitive"]
    if not sensitive:
        return [
            "  # No sensitive column was recognised. If there is one, give it  role: sensitive  and add a line such as",
            f"  # - l-diversity: {{column: NAME, l: {SUGGESTED_L}}}    # no group shares one value of it",
        ]
    lines = []
    for s in sensitive:
        # In a flow mapping a comma or bracket would end the name, so it is quoted more readily than a key.
        line = f"- l-diversity: {{column: {_scalar(s.column)}, l: {SUGGESTED_L}}}"
        if s.facts.distinct < SUGGESTED_L:
            lines.append(f"  # {line}    # cannot hold: the column has one value only")
        else:
            lines.append(f"  {line}    # no group shares one value of it")
    return lines


def _flow(value: Any) -> str:
    """Plain data in one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return str(value) if isinstance(value, int) else _scalar(value)


def _scalar(text: str) -> str:
    """A text as YAML: plain if nobody can misread it, else in quotes."""
    words = text.split(" ")
    plain = all(w and w.replace("-", "").replace("_", "").replace(".", "").replace("/", "").isalnum() for w in words)
    harmless = text[:1].isalpha() and text.isascii() and text.lower() not in _MISREAD
    return text if plain and harmless else _quoted(text)


_MISREAD = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def _quoted(text: str) -> str:
    import yaml

    quoted: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=2**31)
    return quoted.rstrip("\n")


def _comment(text: str) -> str:
    """A text that stays in its comment."""
    return "".join(c if c.isprintable() else " " for c in text)
