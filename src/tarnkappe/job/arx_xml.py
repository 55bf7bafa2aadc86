"""The XML of an ARX project as plain elements: names, texts and children, and nothing that XML can do besides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from tarnkappe.errors import DataError

_DEEPEST = 20


@dataclass
class Element:
    """An element with its text and its children."""

    name: str
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def text_of(self, name: str) -> str | None:
        """The text of the first child of that name, or None."""
        return next((child.text for child in self.children if child.name == name), None)

    def all(self, *names: str) -> Iterator[Element]:
        """Every element of one of these names, however deep."""
        for child in self.children:
            if child.name in names:
                yield child
            yield from child.all(*names)


def read_xml(content: bytes, where: str) -> Element:
    """The root of an XML document; declarations of types and entities are refused.

    >>> read_xml(b"<a><b>1</b></a>", "x").text_of("b")
    '1'
    """
    top = Element("")
    path = [top]

    def wrong(why: str) -> DataError:
        return DataError("E477", f"the project is damaged: {why}", where=where, hint="Save it again in ARX.")

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(path) > _DEEPEST:
            raise wrong("elements are nested too deeply")
        made = Element(name)
        path[-1].children.append(made)
        path.append(made)

    def end(name: str) -> None:
        path.pop()

    def characters(text: str) -> None:
        path[-1].text += text

    def doctype(*_: object) -> None:
        raise wrong("it declares a document type, which is not allowed")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise wrong(f"line {error.lineno} is not well-formed XML") from None
    return top.children[0]
