"""Reads the configuration of an earlier tool, ``config.xml`` with its ``taxonomies.xml``, as a job.

The layout is::

    <config method="Hilb" l="5">
      <input filename="file:///data/census.csv"/>
      <identifiers><attribute name="ssn" index="0" type="CATEGORICAL"/></identifiers>
      <quasi_identifiers><attribute name="age" index="1" type="NUMERICAL"/></quasi_identifiers>
      <sensitive_attributes><attribute name="occupation" index="2" type="CATEGORICAL"/></sensitive_attributes>
    </config>
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from xml.parsers import expat

from tarnkappe.algorithms import Algorithm, all_algorithms
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.criteria import Criterion
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.errors import JobError, Notice, TaxonomyError, did_you_mean
from tarnkappe.job.model import Job
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.schema import Column, Kind, Role
from tarnkappe.small_files import read_small
from tarnkappe.taxonomy import from_file, read_taxonomies_xml, suppress

_ROLES: dict[str, Role] = {
    "identifiers": "identifier",
    "quasi_identifiers": "quasi",
    "sensitive_attributes": "sensitive",
}
_KINDS: dict[str, Kind] = {"NUMERICAL": "numeric", "CATEGORICAL": "categorical"}
_PARAMETERS = ("k", "l", "t")
_LAYOUT = "tarnkappe.job.xml shows the layout:  <config method=… l=…><input filename=…/><identifiers>…"


@dataclass(frozen=True)
class XmlImport:
    """A job read from XML, and what of the XML it could not say."""

    job: Job
    notices: tuple[Notice, ...]


@dataclass
class _Config:
    """What stands in the file."""

    where: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    input: str | None = None
    output: str | None = None
    attributes: list[_Attribute] = field(default_factory=list)


@dataclass(frozen=True)
class _Attribute:
    name: str
    role: Role
    kind: Kind
    index: int
    where: str


def job_from_xml(config: str | Path, taxonomies: str | Path | None = None) -> Job:
    """The job that a ``config.xml`` describes; see `import_xml`."""
    return import_xml(config, taxonomies).job


def import_xml(config: str | Path, taxonomies: str | Path | None = None) -> XmlImport:
    """Read a ``config.xml``; categorical quasi-identifiers get the taxonomy of their name, or none but suppression.

    Columns are in the order of their index. `l` asks for frequency l-diversity of every sensitive attribute, `k` for
    k-anonymity, `t` for t-closeness. A method that is not known is replaced by Mondrian, which a notice says.
    """
    config = Path(config)
    found = _read(config)
    trees = {} if taxonomies is None else _taxonomies(Path(taxonomies))
    columns = [_column(a, trees, taxonomies) for a in sorted(found.attributes, key=lambda a: a.index)]
    algorithm, notices = _algorithm(found)
    try:
        job = Job(
            columns=columns,
            criteria=_criteria(found),
            algorithm=algorithm,
            data=DataSettings(_path(found.input, config.parent)),
            output=OutputSettings(_path(found.output or _beside(found.input), config.parent)),
        )
    except JobError as error:
        raise JobError("E109", error.message, where=error.where or found.where, hint=error.hint) from error
    return XmlImport(job, notices)


def _taxonomies(path: Path) -> dict[str, object]:
    try:
        return dict(read_taxonomies_xml(path))
    except TaxonomyError as error:
        raise JobError("E109", error.message, where=error.where, details=error.details, hint=error.hint) from error


def _column(attribute: _Attribute, trees: dict[str, object], taxonomies: str | Path | None) -> Column:
    if attribute.role != "quasi" or attribute.kind == "numeric":
        return Column(attribute.name, attribute.role, attribute.kind)
    if attribute.name in trees:
        return Column(attribute.name, "quasi", taxonomy=from_file(str(taxonomies), attribute=attribute.name))
    return Column(attribute.name, "quasi", taxonomy=suppress())


def _algorithm(found: _Config) -> tuple[Algorithm, tuple[Notice, ...]]:
    method = found.settings.get("method")
    known = {name.casefold(): cls for name, cls in all_algorithms().items()}
    if method is None:
        return Mondrian(), ()
    if method.casefold() in known:
        return known[method.casefold()](), ()
    notice = Notice(
        "W608",
        f"the method '{method}' of the configuration is not known, mondrian takes its place",
        hint=f"Known algorithms: {', '.join(all_algorithms())}.",
    )
    return Mondrian(), (notice,)


def _criteria(found: _Config) -> list[Criterion]:
    sensitive = [a.name for a in found.attributes if a.role == "sensitive"]
    values = {name: _number(found, name) for name in _PARAMETERS if name in found.settings}
    criteria: list[Criterion] = []
    if "k" in values:
        criteria.append(KAnonymity(values["k"]))  # type: ignore[arg-type]
    for name in sensitive:
        if "l" in values:
            criteria.append(FrequencyLDiversity(column=name, l=values["l"]))
        if "t" in values:
            criteria.append(TCloseness(column=name, t=values["t"]))
    if not criteria:
        raise JobError(
            "E109",
            "the configuration asks for no protection",
            where=found.where,
            hint='<config method="Hilb" l="5">   (k for k-anonymity; l and t need a sensitive attribute)',
        )
    return criteria


def _number(found: _Config, name: str) -> float:
    text = found.settings[name]
    try:
        number = float(text)
    except ValueError:
        raise JobError(
            "E109", f"'{name}' must be a number, got '{text[:40]}'", where=found.where, hint=f'{name}="5"'
        ) from None
    return int(number) if number.is_integer() else number


def _beside(data: str | None) -> str:
    """Where the release goes if the configuration does not say it."""
    return "release" if data is None else f"{PurePosixPath(data).stem}-release"


def _path(name: str | None, folder: Path) -> str | None:
    """A file name without ``file://``; names of other systems, such as ``hdfs://``, stay as they are."""
    if name is None:
        return None
    bare = name.removeprefix("file://")
    return bare if "://" in bare else str(folder / bare)


def _read(path: Path) -> _Config:
    try:
        content = read_small(path)
    except OSError as error:
        raise JobError(
            "E107",
            f"the configuration cannot be opened: {error.strerror or error}",
            where=str(path),
            hint=f"Look what is there:  ls {path.parent}",
        ) from error
    parser = expat.ParserCreate()
    reader = _Reader(parser, str(path))
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise JobError(
            "E109",
            f"the configuration is not well-formed XML: {expat.ErrorString(error.code)}",
            where=f"{path}:{error.lineno}",
            hint='Every element is closed, every value in quotes:  <attribute name="age" index="0" type="NUMERICAL"/>',
        ) from error
    return reader.finished()


class _Reader:
    """Collects the configuration while the parser walks through the file."""

    def __init__(self, parser: expat.XMLParserType, path: str) -> None:
        self.config = _Config(path)
        self.path = path
        self.parser = parser
        self.open: list[str] = []
        parser.StartDoctypeDeclHandler = self.doctype
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text

    @property
    def where(self) -> str:
        return f"{self.path}:{self.parser.CurrentLineNumber}"

    def broken(self, message: str, hint: str) -> JobError:
        return JobError("E109", message, where=self.where, hint=hint)

    def doctype(self, *_: object) -> None:
        raise self.broken(
            "document type declarations and entities are not allowed", "Remove the  <!DOCTYPE ...>  declaration."
        )

    def text(self, text: str) -> None:
        if text.strip():
            raise self.broken("text stands between the elements", _LAYOUT)

    def start(self, element: str, attributes: dict[str, str]) -> None:
        inside = self.open[-1] if self.open else ""
        known = {"": ("config",), "config": ("input", "output", *_ROLES), **dict.fromkeys(_ROLES, ("attribute",))}
        allowed = known.get(inside, ())
        if element not in allowed:
            guess = did_you_mean(element, allowed)
            raise self.broken(f"<{element[:40]}> does not belong {self._place(inside)}{guess}", _LAYOUT)
        self.open.append(element)
        if element == "config":
            self.allow(attributes, "config", ("method", *_PARAMETERS))
            self.config.where, self.config.settings = self.where, attributes
        elif element in ("input", "output"):
            self.allow(attributes, element, ("filename",))
            setattr(self.config, element, self.needed(attributes, "filename", f'<{element} filename="census.csv"/>'))
        elif element == "attribute":
            self.attribute(attributes, _ROLES[inside])

    @staticmethod
    def _place(inside: str) -> str:
        return f"into <{inside}>" if inside else "at the top of the file"

    def allow(self, attributes: dict[str, str], element: str, known: tuple[str, ...]) -> None:
        for name in attributes:
            if name not in known:
                raise self.broken(
                    f"<{element}> has an unknown attribute '{name[:40]}'{did_you_mean(name, known)}",
                    f"Known are: {', '.join(known)}.",
                )

    def needed(self, attributes: dict[str, str], name: str, example: str) -> str:
        value = attributes.get(name, "").strip()
        if not value:
            raise self.broken(f"'{name}' is missing", example)
        return value

    def attribute(self, attributes: dict[str, str], role: Role) -> None:
        example = '<attribute name="age" index="0" type="NUMERICAL"/>'
        self.allow(attributes, "attribute", ("name", "index", "type"))
        name = self.needed(attributes, "name", example)
        index = self.needed(attributes, "index", example)
        kind = self.needed(attributes, "type", example)
        if not (index.isascii() and index.isdigit()):
            raise self.broken(f"the index of '{name}' is not a position counted from 0", example)
        if kind not in _KINDS:
            raise self.broken(
                f"the type of '{name}' is unknown{did_you_mean(kind.upper(), _KINDS)}", f"type: {' or '.join(_KINDS)}"
            )
        for other in self.config.attributes:
            if other.name == name or other.index == int(index):
                what = f"'{name}'" if other.name == name else f"index {index}"
                raise self.broken(f"{what} stands twice, first in {other.where}", "Remove one of the two.")
        self.config.attributes.append(_Attribute(name, role, _KINDS[kind], int(index), self.where))

    def end(self, element: str) -> None:
        self.open.pop()

    def finished(self) -> _Config:
        return self.config
