"""Suggests a role and a taxonomy for every column, each with its reason. Nothing is decided silently."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tarnkappe.io import Source
from tarnkappe.io.databases import Address, is_database
from tarnkappe.job.words import AGE, BIRTH, Meaning, meaning_of
from tarnkappe.looks.base import FEWEST
from tarnkappe.looks.facts import ColumnFacts, column_facts
from tarnkappe.looks.identifiers.record_number import is_key, is_key_of_people
from tarnkappe.looks.identifiers.sampling_weight import SamplingWeight
from tarnkappe.looks.words import says, words_of
from tarnkappe.schema import Kind, Role
from tarnkappe.taxonomy.orders import MOST_IN_A_SET

__all__ = ["Suggestion", "column_lines", "suggest", "suggested_job_text"]

#: Numbers with at most this many different values may be codes of categories.
_FEW_CODES = 30

_DEFAULT_DATES = ("%Y-%m-%d", "%d.%m.%Y")

#: With more quasi-identifiers than this hardly anything is left of each.
_MANY_QUASI = 15

#: Names that programs give to a column of row numbers which has none.
_INDEX = ("unnamed 0", "rownames", "row names", "rownum", "=x", "=index", "level 0", "=rn", "=1")

SUGGESTED_K = 5
SUGGESTED_L = 2


@dataclass(frozen=True)
class Suggestion:
    """What a column seems to be, and why; undecided where the data steward has to choose."""

    column: str
    role: Role
    reason: str
    kind: Kind
    #: As it stands in a job file: a name, a declaration, or None. Of an undecided column: as a quasi-identifier.
    taxonomy: str | dict[str, Any] | None
    facts: ColumnFacts

    @property
    def is_decided(self) -> bool:
        """Whether a role is suggested."""
        return self.role != "undecided"


def suggest(source: Source) -> list[Suggestion]:
    """A suggestion for every column, from its name and its values.

    >>> import polars as pl
    >>> from tarnkappe.io import open_source
    >>> table = pl.DataFrame({"age": [31, 44], "illness": ["flu", "flu"], "ward": ["A", "B"]})
    >>> [(s.column, s.role) for s in suggest(open_source(table))]
    [('age', 'quasi'), ('illness', 'sensitive'), ('ward', 'undecided')]
    """
    return _without_redundant([_suggestion(facts) for facts in column_facts(source)])


def _without_redundant(suggestions: list[Suggestion]) -> list[Suggestion]:
    """Beside an age the date of birth says the same once more, and more exactly."""
    quasi = {s.column: meaning_of(s.column) for s in suggestions if s.role == "quasi"}
    age = next((name for name, meaning in quasi.items() if meaning is AGE), None)
    if age is None:
        return suggestions
    reason = f"redundant: '{age}' says it less exactly"
    return [
        replace(s, role="drop", reason=reason, kind="categorical", taxonomy=None) if quasi.get(s.column) is BIRTH else s
        for s in suggestions
    ]


def _suggestion(facts: ColumnFacts) -> Suggestion:
    meaning = meaning_of(facts.name)
    role, reason = _role(facts, meaning)
    kind: Kind = "categorical"
    taxonomy: str | dict[str, Any] | None = None
    if role in ("quasi", "undecided"):
        kind, taxonomy = _coarsening(facts, meaning)
    elif (
        role == "sensitive"
        and facts.numeric
        and not facts.is_answer
        and (meaning is None or facts.distinct > _FEW_CODES)
    ):
        kind = "numeric"
    return Suggestion(facts.name, role, reason, kind, taxonomy, facts)


def _role(facts: ColumnFacts, meaning: Meaning | None) -> tuple[Role, str]:
    """The role, and why."""
    words = words_of(facts.name)
    who = next((f for f in facts.findings if f.tells == "who"), None)
    different = facts.finding("all-different")
    if facts.odd:
        return "drop", f"holds {facts.odd}, which Tarnkappe does not take"
    if facts.distinct == 0:
        return "drop", "holds no values"
    if facts.finding("row-order") and says(words, _INDEX):
        return "drop", "the index that R or pandas wrote: it numbers the rows"
    if _is_key_of_people(facts, words):
        return "subject", "the key of people who have several records; criteria can count people by it"
    if who is not None and (not facts.date_format or not who.by_content):
        return "identifier", who.reason
    if facts.date_format:
        known = meaning is not None and meaning.role == "quasi"
        return "quasi", meaning.reason if meaning and known else "others may know when something happened"
    text = facts.finding("free-text")
    if text is not None:
        return "drop", text.reason
    if different is not None and not (meaning is not None and meaning.role == "quasi"):
        says_what = "" if meaning is None or meaning.role == "drop" else f"{meaning.reason}, but "
        if facts.kind == "number":
            return "drop", f"{says_what}{different.reason}: a number points at one person unless it is rounded"
        return "identifier", f"{says_what}{different.reason}"
    if facts.separated:
        return (
            "undecided",
            "numbers with separators of thousands: write them without, so that they can be read as numbers",
        )
    if meaning is not None:
        public = next((f for f in facts.findings if f.tells == "known"), None)
        if meaning.role != "sensitive" or public is None:
            return meaning.role, meaning.reason
        return ("drop" if public.kind == SamplingWeight.name else "quasi"), f"{meaning.reason}, but {public.reason}"
    if facts.diagnoses:
        return "sensitive", "codes of diagnoses say something about a person's health"
    if facts.distinct == 1 and not facts.missing:
        return "drop", "the same in every row: it tells nobody apart, but may say whom or what the table is about"
    if is_key(words):
        return "undecided", "a key that repeats: subject if it is that of people, quasi if of a place or an institution"
    return "undecided", "nothing tells who knows it"


def _is_key_of_people(facts: ColumnFacts, words: list[str]) -> bool:
    """Whether a column is the key of people with several records: called so, and its values repeat."""
    named = is_key_of_people(words) or facts.finding("record-number") is not None
    plain = facts.whole or (facts.kind == "text" and not facts.open_ended)
    repeats = facts.finding("all-different") is None and FEWEST <= facts.distinct < facts.known
    return named and plain and repeats and not facts.is_answer


def _coarsening(facts: ColumnFacts, meaning: Meaning | None) -> tuple[Kind, str | dict[str, Any] | None]:
    """How a quasi-identifier may be coarsened: its kind and its taxonomy."""
    if facts.date_format:
        given = {} if facts.date_format in _DEFAULT_DATES else {"format": facts.date_format}
        return "categorical", {"kind": "dates", **given}
    if meaning is not None and meaning.nature == "code":
        longest = (facts.length or 4) - 1
        if longest >= 1:
            return "categorical", {"kind": "prefix", "keep": list(range(longest, max(longest - 4, 0), -1))}
    if facts.open_ended:
        return "categorical", {"kind": "order"}
    # Numbers with fractions are no codes: years married say how many, whatever "married" says elsewhere.
    coded = meaning is not None and meaning.nature == "category" and facts.whole and facts.distinct <= _FEW_CODES
    if facts.numeric and not coded and not facts.is_answer:
        return "numeric", None
    if 2 < facts.distinct <= MOST_IN_A_SET:
        return "categorical", {"kind": "set"}
    return "categorical", "suppress"


def _headless(source: Source) -> bool:
    dialect = getattr(source, "dialect", None)
    return dialect is not None and dialect.header is False


def suggested_job_text(
    source: Source,
    suggestions: Sequence[Suggestion],
    data_path: str,
    *,
    folder: str = "release",
    title: str | None = None,
    sheet: str | None = None,
) -> str:
    """The text of a commented job file; `data_path` is relative to where the file will lie.

    Columns that nothing tells a role for are undecided, and the job does not run before somebody has decided.
    """
    rows = f"{source.n_rows:,}".replace(",", " ")
    lines = [
        "# These are suggestions: review every role before you run this, because a wrong one can expose people.",
        "# Roles: identifier | quasi | sensitive | keep | drop | subject    What they mean:  tarnkappe explain quasi",
        "version: 1",
        f"title: {_scalar(title or source.name.rpartition('.')[0] or source.name)}",
        "",
        "data:",
        *_place_lines(data_path, f"{rows} rows, {_comment(source.format)}"),
        *([] if sheet is None else [f"  sheet: {_scalar(sheet)}"]),
        *(["  header: false    # columns are called by their numbers"] if _headless(source) else []),
        *_missing_lines(source, suggestions),
        "",
        "columns:",
        *_tree_hint(suggestions),
        *column_lines(suggestions),
        "",
        "criteria:",
        *_size_lines(suggestions),
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


def _place_lines(data_path: str, comment: str) -> list[str]:
    """Where the data are: a file, or a table of a database."""
    if not is_database(data_path):
        return [f"  path: {_scalar(data_path)}    # {comment}"]
    address = Address.of(data_path)
    told = {"schema": address.schema, "table": address.table, "query": address.query}
    lines = [f"  {key}: {_scalar(value)}" for key, value in told.items() if value is not None]
    return [f"  database: {_quoted(address.uri)}    # {comment}", *lines]


def _missing_lines(source: Source, suggestions: Iterable[Suggestion]) -> list[str]:
    markers = {m: None for s in suggestions for m in s.facts.markers}
    lines = []
    if markers:
        listed = ", ".join(_quoted(m) for m in (*source.missing, *markers))
        lines.append(f"  missing: [{listed}]    # texts found that seem to stand for a missing value")
    gaps = [s.column for s in suggestions if s.role in ("quasi", "undecided") and s.facts.missing]
    if gaps:
        lines.append(
            "  missing_rule: own-value    # a missing cell matches only missing cells; wildcard: it matches anything"
        )
    return lines


def _tree_hint(suggestions: Iterable[Suggestion]) -> list[str]:
    suggested = list(suggestions)
    lines = []
    if not all(s.is_decided for s in suggested):
        lines.append(
            "  # DECIDE: quasi if others may know it, sensitive if nobody should learn it, drop if nobody needs it."
        )
    better = "A tree of values says more:  tarnkappe explain tree"
    if any(s.taxonomy == {"kind": "set"} for s in suggested):
        lines.append(f"  # set: a group publishes the set of its values. {better}")
    if any(s.taxonomy == "suppress" and s.facts.distinct > 2 for s in suggested):
        lines.append(f"  # suppress: a value is published or it is not. {better}")
    quasi = sum(s.role in ("quasi", "undecided") for s in suggested)
    if quasi > _MANY_QUASI:
        lines.append(
            f"  # {quasi} columns may be quasi-identifiers: the more there are, the less is left of each. Drop most."
        )
    return lines


def column_lines(suggestions: Sequence[Suggestion]) -> list[str]:
    """One line per column: its role, and the reason as a comment."""
    texts = [(f"{_scalar(s.column)}:", _flow(_body(s))) for s in suggestions]
    names = min(max((len(name) for name, _ in texts), default=0), 28)
    bodies = min(max((len(body) for _, body in texts), default=0), 60)
    return [
        _column_line(s, f"{name:<{names}} {body:<{bodies}}") for s, (name, body) in zip(suggestions, texts, strict=True)
    ]


def _column_line(suggestion: Suggestion, entry: str) -> str:
    """An entry of the section ``columns`` with its reason."""
    facts = suggestion.facts
    notes = [_comment(suggestion.reason)]
    if not facts.odd:  # such values are not looked at
        notes.append(f"{facts.distinct} value{'s' if facts.distinct != 1 else ''}")
    if facts.missing and not facts.odd:
        notes.append(f"{facts.missing} missing")
    if not suggestion.is_decided:
        notes[0] = f"DECIDE: {notes[0]}"
        notes.append(f"as quasi: {_flow(_body(replace(suggestion, role='quasi')))}")
    return f"  {entry}  # {'; '.join(notes)}"


def _body(suggestion: Suggestion) -> dict[str, Any]:
    body: dict[str, Any] = {"role": suggestion.role}
    if not suggestion.is_decided:
        return body
    if suggestion.kind == "numeric":
        body["type"] = "numeric"
    if suggestion.taxonomy is not None:
        body["taxonomy"] = suggestion.taxonomy
    return body


def _size_lines(suggestions: Iterable[Suggestion]) -> list[str]:
    """The criterion about the size of groups: of people if they have several records, else of records."""
    k, others = SUGGESTED_K, f"is like at least {SUGGESTED_K - 1} others"
    keys = [s.column for s in suggestions if s.role == "subject"]
    if keys:
        return [
            f"  - xy-anonymity: {{y: {_scalar(key)}, k: {k}}}    # every person {others}, by people, not by records"
            for key in keys[:1]
        ]
    return [f"  - k-anonymity: {{k: {k}}}    # every person {others}; 10 and more for public files"]


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
