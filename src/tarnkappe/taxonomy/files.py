"""Taxonomies in files: the ARX layout (CSV), nested YAML, and the XML of several taxonomies in one file."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from tarnkappe.errors import RefusedError, TaxonomyError, did_you_mean
from tarnkappe.taxonomy.labels import shown
from tarnkappe.taxonomy.reading import naming, read_text
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.taxonomy.xml_file import read_taxonomies_xml
from tarnkappe.taxonomy.yaml_file import read_yaml

__all__ = ["read_taxonomies_xml", "read_taxonomy", "write_taxonomy"]

#: What separates the columns of a CSV file, in the order in which they are tried.
DELIMITERS = (";", "\t", ",", "|")

_YAML = (".yaml", ".yml")


def read_taxonomy(
    path: str | Path, *, delimiter: str | None = None, attribute: str | None = None, column: str | None = None
) -> Taxonomy:
    """Read a taxonomy from a file: ``.yaml`` (nested), ``.xml`` (see `read_taxonomies_xml`), else the ARX layout.

    The ARX layout has one row per value: ``value;level1;level2;*``. `delimiter` is found out if not given.
    `attribute` picks one of several taxonomies of an XML file; if it is not given, that of `column` is taken.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    with naming(str(path)):
        if suffix == ".xml":
            return _pick(read_taxonomies_xml(path), attribute, column)
        if suffix in _YAML:
            return read_yaml(path)
        return _read_csv(path, delimiter)


def _read_csv(path: Path, delimiter: str | None) -> Taxonomy:
    text = read_text(path)
    if delimiter is None:
        delimiter = _guess_delimiter(text)
    elif len(delimiter) != 1 or delimiter in '\r\n"':
        raise TaxonomyError(
            "E203",
            f"a delimiter is one character, got {shown(delimiter)}",
            hint='delimiter: ";"',
        )
    rows: list[tuple[str, ...]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    known: list[dict[str, tuple[str, int]]] = []  # per level: label -> label one level up, line
    try:
        for row in reader:
            if not row:
                continue
            where = f"{path}:{reader.line_num}"
            if not rows:
                known = [{} for _ in row]
            _check_row(row, known, reader.line_num, where, delimiter)
            rows.append(tuple(row))
    except csv.Error as error:
        raise TaxonomyError(
            "E202",
            f"the taxonomy file cannot be read: {error}",
            where=f"{path}:{reader.line_num}",
            hint='Put a value that holds quotes in quotes and double them:  "a ""b"" c".',
        ) from error
    if not rows:
        raise TaxonomyError("E202", "the taxonomy file is empty", hint="Write one row per value:  value;level1;*")
    return Taxonomy.from_paths(rows)


def _guess_delimiter(text: str) -> str:
    for delimiter in DELIMITERS:
        try:
            first = next((row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row), [])
        except csv.Error:
            continue
        if len(first) > 1:
            return delimiter
    return DELIMITERS[0]


def _check_row(row: list[str], known: list[dict[str, tuple[str, int]]], line: int, where: str, delimiter: str) -> None:
    """Refuse a row of another length, with a gap, or in conflict with an earlier row."""
    if len(row) != len(known):
        raise TaxonomyError(
            "E201",
            f"this row has {len(row)} field{'s' if len(row) > 1 else ''}, the first row has {len(known)}",
            where=where,
            hint=f"Repeat the value to fill a short row up:  Europe{delimiter}Europe{delimiter}*",
        )
    first_other = next((level for level, label in enumerate(row) if label != row[0]), len(row))
    if "" in row[first_other:] or row[-1] == "":
        raise TaxonomyError(
            "E201",
            f"{shown(row[0])} has an empty label above it",
            where=where,
            hint="Fill the gap, or remove the delimiter at the end of the rows.",
        )
    for level, label in enumerate(row):
        up = row[level + 1] if level + 1 < len(row) else ""
        known_up, known_line = known[level].setdefault(label, (up, line))
        if known_up != up:
            raise TaxonomyError(
                "E201",
                f"{shown(label)} has two parents: {shown(known_up)} (line {known_line}) and {shown(up)}",
                where=where,
                hint="Give the two nodes different names, or the same parent.",
            )
        if level == 0 and known_line != line:
            raise TaxonomyError(
                "E201",
                f"{shown(label)} stands twice (first in line {known_line})",
                where=where,
                hint="Remove one of the two rows.",
            )


def _pick(taxonomies: dict[str, Taxonomy], attribute: str | None, column: str | None) -> Taxonomy:
    if attribute is None and len(taxonomies) == 1:
        return next(iter(taxonomies.values()))
    wanted = attribute or column
    if wanted in taxonomies:
        return taxonomies[wanted]
    message = "the file holds several taxonomies"
    if wanted:
        message = f"the file holds no taxonomy of '{wanted}'{did_you_mean(wanted, taxonomies)}"
    known = ", ".join(taxonomies)
    raise TaxonomyError("E203", message, hint=f"Say which:  attribute: {next(iter(taxonomies))}   (it has: {known})")


def write_taxonomy(taxonomy: Taxonomy, path: str | Path) -> None:
    """Write a taxonomy to a file that `read_taxonomy` reads back: ``.csv`` (ARX layout) or ``.yaml`` (nested)."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".csv", *_YAML):
        raise TaxonomyError(
            "E203",
            f"a taxonomy is written as .csv, .yaml or .yml, not {shown(suffix)}",
            where=str(path),
            hint=f"Use  {path.with_suffix('.csv').name}",
        )
    if taxonomy.ranges.any():
        raise TaxonomyError(
            "E203",
            "a taxonomy that publishes ranges of an ordered scale cannot be written as a tree",
            where=str(path),
            hint="Declare it in the job file instead:  kind: order",
        )
    with naming(str(path)):
        text = _as_yaml(taxonomy) if suffix in _YAML else _as_csv(taxonomy)
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise RefusedError(
            "E603",
            f"the taxonomy cannot be written: {error.strerror or error}",
            where=str(path),
            hint="Choose a folder that exists and that you may write to.",
        ) from error


def _as_yaml(taxonomy: Taxonomy) -> str:
    import yaml

    # Unusual line breaks are only safe when they are written as escapes.
    printable = all(label.isprintable() for label in taxonomy.labels)
    try:
        return str(yaml.safe_dump(taxonomy.nested(), allow_unicode=printable, sort_keys=False, width=100))
    except RecursionError as error:
        raise TaxonomyError(
            "E203", f"a tree of {taxonomy.height} levels is too deep for YAML", hint="Write it as  .csv  instead."
        ) from error


def _as_csv(taxonomy: Taxonomy) -> str:
    inner = set(range(taxonomy.n_nodes)).difference(taxonomy.leaf_nodes.tolist())
    if any(taxonomy.labels[v] == "" for v in inner):
        raise TaxonomyError(
            "E203", "the ARX layout has no empty labels above the values", hint="Write it as  .yaml  instead."
        )
    # Line breaks and a byte order mark are only safe inside quotes.
    special = any(c in label for label in taxonomy.labels for c in "\r\n\ufeff")
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=DELIMITERS[0],
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if special else csv.QUOTE_MINIMAL,
    )
    writer.writerows(taxonomy.paths())
    return text.getvalue()
