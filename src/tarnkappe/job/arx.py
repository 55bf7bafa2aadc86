"""Reads a project of ARX (``.deid``) as a job.

Such a project is a zip archive. What it says is kept twice: as objects of Java, which nobody else reads, and as XML and
CSV, which are read here::

    metadata.xml                     version of ARX
    project.xml                      name, and the signs of the CSV files
    input/config.xml                 criteria, share of outliers, metric, weights
    input/definition.xml             type of every attribute, its hierarchy and levels
    input/hierarchies/NAME.csv       value;level 1;level 2;...
    data/input.csv                   the data
    data/output.csv                  what ARX made of them, if it did
"""

from __future__ import annotations

import re
import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tarnkappe.algorithms.fulldomain.flash import Flash
from tarnkappe.errors import DataError, JobError, Notice, TaxonomyError
from tarnkappe.io import CsvDialect
from tarnkappe.job.arx_criteria import Wanted, criteria_of, metric_of
from tarnkappe.job.arx_xml import Element, read_xml
from tarnkappe.job.model import Job
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.schema import Column, Role
from tarnkappe.taxonomy import TaxonomyBuilder, from_file, read_taxonomy, suppress

_ROLES: dict[str, Role] = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "keep",
}
_NUMBERS = ("Integer", "Decimal")

#: No description of a project is larger; data and hierarchies are copied piece by piece.
_LARGEST = 64 << 20


@dataclass(frozen=True)
class ArxImport:
    """A job made of a project, what of the project it does not say, and the result of ARX if there is one."""

    job: Job
    notices: tuple[Notice, ...]
    version: str
    data: Path
    #: What ARX made of the data, and how it writes a value that is left out.
    output: Path | None
    delimiter: str
    suppressed: str


@dataclass
class _Project:
    """What is being read, and where its files go."""

    archive: zipfile.ZipFile
    where: str
    folder: Path
    notices: list[Notice] = field(default_factory=list)

    def lost(self, message: str, hint: str) -> None:
        """Say what is not carried over."""
        self.notices.append(Notice("W663", message, hint=hint))

    def has(self, name: str) -> bool:
        return name in self.archive.NameToInfo

    def xml(self, name: str, *, needed: bool = True) -> Element:
        """An XML file of the project."""
        if not self.has(name):
            if needed:
                raise broken(self.where, f"it has no '{name}'")
            return Element(name)
        if self.archive.getinfo(name).file_size > _LARGEST:
            raise broken(self.where, f"its '{name}' is too large")
        return read_xml(self.archive.read(name), f"{self.where}:{name}")

    def copy(self, name: str, target: Path) -> Path:
        """Copy a file of the project, as UTF-8 if it is not."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.archive.open(name) as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        return target


def broken(where: str, why: str) -> DataError:
    """The error about a file that is no project."""
    return DataError(
        "E477",
        f"this is no project of ARX, or it is damaged: {why}",
        where=where,
        hint="Open it in ARX and save it again (File, Save project).",
    )


def import_arx(project: str | Path, folder: str | Path) -> ArxImport:
    """Read a project; its data and hierarchies are written into a folder, which the job refers to."""
    path, folder = Path(project), Path(folder)
    try:
        with path.open("rb") as file:
            return _read(file, path, folder)
    except OSError as error:
        if error.filename is not None and Path(error.filename) != path:
            raise
        raise DataError(
            "E401",
            f"'{path.name}' cannot be read: {error.strerror or 'it cannot be opened'}",
            where=str(path),
            hint=f"Look what is there:  ls {path.parent}",
        ) from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise broken(str(path), "it is no zip archive, or cut off") from error


def _read(file: IO[bytes], path: Path, folder: Path) -> ArxImport:
    with zipfile.ZipFile(file) as archive:
        found = _Project(archive, str(path), folder)
        version = found.xml("metadata.xml").text_of("version") or "unknown"
        about = found.xml("project.xml", needed=False)
        delimiter = about.text_of("separator") or ";"
        config = found.xml("input/config.xml")
        definition = found.xml("input/definition.xml")
        if not found.has("data/input.csv"):
            raise broken(str(path), "it has no data")
        data = found.copy("data/input.csv", folder / "data.csv")
        output = found.copy("data/output.csv", folder / "arx-output.csv") if found.has("data/output.csv") else None
        wanted = criteria_of(config, found.lost)
        columns = [
            _column(each, found, config, delimiter, wanted) for each in definition.all("assigment", "assignment")
        ]
        job = _job(
            columns, wanted, config, about, DataSettings(str(data), CsvDialect(delimiter=delimiter, header=True))
        )
        _say_what_else(found, config)
        suppressed = config.text_of("suppressionString") or "*"
        return ArxImport(job, tuple(found.notices), version, data, output, delimiter, suppressed)


def _job(columns: list[Column], wanted: Wanted, config: Element, about: Element, data: DataSettings) -> Job:
    name = (about.text_of("name") or "").strip()
    try:
        share = float(config.text_of("relativeMaxOutliers") or 0)
    except ValueError:
        share = 0.0
    try:
        return Job(
            columns=columns,
            criteria=wanted.criteria,
            max_suppressed=min(max(share, 0.0), 1.0),
            algorithm=Flash(metric=metric_of(config.text_of("metric") or "")),
            missing_rule="own-value",  # as ARX has it: an empty cell is a value like any other
            title=name,
            purpose=(about.text_of("description") or "").strip(),
            data=data,
            output=OutputSettings(f"{Path(data.path or 'arx').parent.name}-release"),
        )
    except JobError as error:
        raise JobError("E109", error.message, where=error.where, hint=error.hint) from error


def _column(each: Element, found: _Project, config: Element, delimiter: str, wanted: Wanted) -> Column:
    """A column with its role and hierarchy."""
    name = each.text_of("name")
    role = _ROLES.get((each.text_of("type") or "").strip())
    if name is None or role is None:
        raise broken(found.where, "an attribute has no name or no known type")
    if each.text_of("microaggregationFunction") or each.text_of("microAggregationFunction"):
        found.lost(
            f"'{name}' was to be microaggregated; it is generalised here",
            f"{name}: {{role: quasi, type: numeric}}   with  algorithm: mdav",
        )
    numeric = "numeric" if each.text_of("datatype") in _NUMBERS and role in ("sensitive", "keep") else "categorical"
    needs_tree = role == "quasi" or name in wanted.by_taxonomy
    if not needs_tree:
        return Column(name, role, numeric)  # type: ignore[arg-type]
    taxonomy = _hierarchy(each, name, found, delimiter)
    if role != "quasi":
        return Column(name, role, taxonomy=taxonomy)
    weight = _weight(config, name)
    if taxonomy is None:
        return Column(name, role, taxonomy=suppress(), weight=weight, max_level=0)
    low, high = (each.text_of(key) or "All" for key in ("min", "max"))
    bounds = [int(text) if text.isdigit() else None for text in (low, high)]
    return Column(name, role, taxonomy=taxonomy, weight=weight, min_level=bounds[0] or 0, max_level=bounds[1])


def _hierarchy(each: Element, name: str, found: _Project, delimiter: str) -> TaxonomyBuilder | None:
    """The hierarchy of an attribute as a file, if it has one that is a tree."""
    ref = f"input/{each.text_of('ref')}"
    if each.text_of("ref") is None or not found.has(ref):
        return None
    plain = re.sub(r"[^\w.-]+", "_", name).strip(".") or "column"
    target = found.folder / "taxonomies" / f"{plain}.csv"
    number = 2
    while target.exists():
        target = target.with_name(f"{plain}-{number}.csv")
        number += 1
    found.copy(ref, target)
    _as_utf8(target)
    try:
        read_taxonomy(target, delimiter=delimiter)
    except TaxonomyError as error:
        found.lost(
            f"the hierarchy of '{name}' is not a tree ({error.message}); the column can only be left out as a whole",
            f"Correct {target.name} and write  taxonomy: {{kind: file, path: taxonomies/{target.name}}}",
        )
        target.unlink()
        return suppress()
    return from_file(str(target), delimiter=delimiter)


def _as_utf8(path: Path) -> None:
    """ARX writes in the encoding of the computer it runs on."""
    content = path.read_bytes()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        path.write_bytes(content.decode("cp1252", errors="replace").encode("utf-8"))


def _weight(config: Element, name: str) -> float:
    """The weight of an attribute; 0.5 is what ARX gives to all of them."""
    for each in config.all("attributeWeight"):
        if each.text_of("attribute") == name:
            try:
                return max(float(each.text_of("weight") or 0.5), 0.01) / 0.5
            except ValueError:
                return 1.0
    return 1.0


def _say_what_else(found: _Project, config: Element) -> None:
    """Settings that only the objects of Java hold, or that have no counterpart."""
    if (config.text_of("practicalMonotonicity") or "false") == "true":
        found.lost("ARX was to take all criteria for monotone; the search here does not", "No change is needed.")
    if found.has("data/input_subset.csv") and found.has("data/input.csv"):
        subset, whole = (found.archive.getinfo(f"data/{n}.csv").file_size for n in ("input_subset", "input"))
        if subset != whole:
            found.lost(
                "the project has a research sample; the job is about all records",
                'data: {filter: "..."}   chooses records',
            )
    found.lost(
        "search strategy, population, costs and the view of the solution space are kept as objects of Java only",
        "See  algorithm, limits  and  population  in the job file.",
    )
