"""Reads the taxonomies of several columns from one XML file, safely."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy.nested import Entry, require_distinct
from tarnkappe.taxonomy.reading import naming, read_bytes
from tarnkappe.taxonomy.tree import ANY, Taxonomy

_LAYOUT = '<taxonomies><taxonomy attribute="sex"><node value="ANY"><node value="female"/>...'


def read_taxonomies_xml(path: str | Path) -> dict[str, Taxonomy]:
    """Read all taxonomies of an XML file, by the attribute (column) they belong to.

    The layout is ``<taxonomies><taxonomy attribute="sex"><node value="ANY"><node value="female"/>...``.
    Document type declarations are refused, and with them all entities.
    """
    path = Path(path)
    parser = expat.ParserCreate()
    reader = _XmlReader(parser, str(path))
    try:
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        raise TaxonomyError(
            "E202",
            f"the taxonomy file is not well-formed XML: {expat.ErrorString(error.code)}",
            where=f"{path}:{error.lineno}",
            hint='Every element is closed:  <node value="female"/>  or  <node value="ANY">...</node>.',
        ) from error
    if not reader.taxonomies:
        raise reader.broken("the file holds no taxonomy", f"The layout is  {_LAYOUT}")
    return reader.taxonomies


class _XmlReader:
    """Collects the taxonomies while the parser walks through the file."""

    def __init__(self, parser: expat.XMLParserType, path: str) -> None:
        self.taxonomies: dict[str, Taxonomy] = {}
        self.path = path
        self.parser = parser
        self.open: list[str] = []  # names of the open elements
        self.attribute = ""
        self.entries: list[Entry] = []
        self.parents: list[int] = []
        self.above: list[int] = []  # the open nodes
        parser.StartDoctypeDeclHandler = self.doctype
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text

    @property
    def where(self) -> str:
        return f"{self.path}:{self.parser.CurrentLineNumber}"

    def broken(self, message: str, hint: str, code: str = "E202") -> TaxonomyError:
        return TaxonomyError(code, message, where=self.where, hint=hint)

    def doctype(self, *_: object) -> None:
        raise self.broken(
            "document type declarations and entities are not allowed", "Remove the  <!DOCTYPE ...>  declaration."
        )

    def text(self, text: str) -> None:
        if text.strip():
            raise self.broken("text stands between the elements", 'Write values as  <node value="female"/>.')

    def start(self, element: str, attributes: dict[str, str]) -> None:
        expected = {0: "taxonomies", 1: "taxonomy"}.get(len(self.open), "node")
        if element != expected:
            raise self.broken(
                f"found <{element[:40]}> where <{expected}> was expected",
                f"The layout is  {_LAYOUT}",
            )
        self.open.append(element)
        if element == "taxonomy":
            self.start_taxonomy(attributes.get("attribute", "").strip())
        elif element == "node":
            if "value" not in attributes:
                raise self.broken("a node has no value", '<node value="female"/>')
            self.parents.append(self.above[-1] if self.above else -1)
            self.above.append(len(self.entries))
            self.entries.append(Entry(attributes["value"], None, self.where))

    def start_taxonomy(self, attribute: str) -> None:
        if not attribute:
            raise self.broken("a taxonomy does not say which attribute it is for", '<taxonomy attribute="sex">')
        if attribute in self.taxonomies:
            raise self.broken(f"attribute '{attribute}' has two taxonomies", "Remove one of them.", "E201")
        self.attribute = attribute
        self.entries, self.parents, self.above = [], [], []

    def end(self, element: str) -> None:
        self.open.pop()
        if element == "node":
            self.above.pop()
        elif element == "taxonomy":
            self.taxonomies[self.attribute] = self.finish()

    def finish(self) -> Taxonomy:
        entries, parents = self.entries, self.parents
        if parents.count(-1) > 1:  # several nodes at the top: a root is added
            entries = [Entry(ANY, None, self.where), *entries]
            parents = [-1, *(up + 1 for up in parents)]
        if len(entries) < 2:
            raise self.broken(f"the taxonomy of '{self.attribute}' has no values", f"The layout is  {_LAYOUT}")
        with naming(self.where):
            require_distinct(entries, parents)
            return Taxonomy.from_parents([entry.label for entry in entries], parents)
