"""Projects as ARX writes them: a zip archive with XML, CSV and objects of Java."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

Rows = Sequence[Sequence[str]]


def as_csv(rows: Rows, delimiter: str = ";") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def as_xml(text: str) -> str:
    """What is not ASCII is written as a reference, as ARX does."""
    return escape(text).encode("ascii", "xmlcharrefreplace").decode()


def element(name: str, text: object) -> str:
    return f"\t<{name}>{as_xml(str(text))}</{name}>\n"


def definition(columns: Mapping[str, Mapping[str, object]]) -> str:
    """The attributes; that ARX writes  assigment  is a slip of its own."""
    out = "<definition>\n"
    for name, told in columns.items():
        out += "<assigment>\n" + element("name", name)
        out += "".join(element(key, value) for key, value in told.items()) + "</assigment>\n"
    return out + "</definition>\n"


def config(criteria: Sequence[str], outliers: float = 0.0, metric: str = "Loss", more: str = "") -> str:
    listed = "".join(element("criterion", text) for text in criteria)
    return (
        "<config>\n"
        + element("suppressTuplesInNonAnonymousOutput", "true")
        + element("suppressionString", "*")
        + "<suppressedAttributeTypes>\n"
        + element("type", "QUASI_IDENTIFYING_ATTRIBUTE")
        + "</suppressedAttributeTypes>\n"
        + element("practicalMonotonicity", "false")
        + element("relativeMaxOutliers", outliers)
        + element("metric", metric)
        + more
        + f"<criteria>\n{listed}</criteria>\n</config>\n"
    )


def write_project(
    path: Path,
    data: Rows,
    columns: Mapping[str, Mapping[str, object]],
    hierarchies: Mapping[str, Rows],
    criteria: Sequence[str],
    *,
    output: Rows | None = None,
    outliers: float = 0.0,
    files: Mapping[str, bytes | str] | None = None,
    more: str = "",
    delimiter: str = ";",
) -> Path:
    """A project; `files` replace or add to what is in it."""
    content: dict[str, bytes | str] = {
        "metadata.xml": "<metadata>\n" + element("version", "3.9.1") + element("vocabulary", "2.0") + "</metadata>\n",
        "project.dat": b"\xac\xed\x00\x05sr",
        "project.xml": "<project>\n"
        + element("name", "Klinik Süd")
        + element("separator", delimiter)
        + element("escape", '"')
        + element("quote", '"')
        + element("linebreak", "UNIX")
        + element("description", "A test")
        + "</project>\n",
        "data/input.csv": as_csv(data, delimiter),
        "data/input_subset.csv": as_csv(data, delimiter),
        "input/config.dat": b"\xac\xed\x00\x05sr",
        "input/config.xml": config(criteria, outliers, more=more),
        "input/definition.xml": definition(columns),
        **{f"input/hierarchies/{name}.csv": as_csv(rows, delimiter) for name, rows in hierarchies.items()},
        **({} if output is None else {"data/output.csv": as_csv(output, delimiter)}),
    }
    content |= files or {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return path
