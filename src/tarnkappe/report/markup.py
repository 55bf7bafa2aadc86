"""Builds HTML from small pieces; plain text is always escaped, so nothing can be forgotten."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = frozenset({"br", "hr", "meta"})

#: Control characters have no place in a page: some are forbidden there, some end the text for careless readers.
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0xD800, 0xE000)), "\ufffd")


class Html(str):
    """Text that is HTML already. Everything that is not `Html` gets escaped when it becomes part of `Html`."""

    __slots__ = ()


def text(value: object) -> Html:
    """A value as HTML text, escaped unless it is `Html` already.

    >>> text("<b>"), text(Html("<b>"))
    ('&lt;b&gt;', '<b>')
    """
    return value if isinstance(value, Html) else Html(html.escape(str(value).translate(_CONTROLS), quote=True))


def join(parts: Iterable[object], between: str = "") -> Html:
    """Pieces one after the other; None is left out."""
    return Html(between.join(text(p) for p in parts if p is not None))


def el(tag: str, *children: object, **attributes: object) -> Html:
    """An element. Underscores in attribute names become hyphens; an attribute that is None is left out.

    >>> el("td", "a < b", class_="number")
    '<td class="number">a &lt; b</td>'
    """
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{tag}{written}>" + ("" if tag in _VOID else f"{join(children)}</{tag}>"))


def value(word: str) -> Html:
    """A word that comes from data or job, kept apart from the text around it: it may be long, or run right to left."""
    return el("span", word, class_="v")


def shorten(value: str, most: int) -> str:
    """A text cut to at most so many characters, with an ellipsis where it was cut.

    >>> shorten("Metropolitan area", 8)
    'Metropo…'
    """
    return value if len(value) <= most else value[: most - 1].rstrip() + "…"


def table(
    caption: object,
    head: Iterable[object],
    rows: Iterable[Iterable[object]],
    *,
    numeric: frozenset[int] | set[int] = frozenset(),
    class_: str | None = None,
) -> Html:
    """A table that scrolls inside its own box; the first cell of a row is its heading.

    `numeric` names the columns that hold numbers, by position; they are set flush right.
    """
    heads = list(head)
    kind = ["num" if j in numeric else None for j in range(len(heads))]
    body = (
        el(
            "tr",
            *(
                el("td", cell, class_=kind[j]) if j else el("th", cell, scope="row", class_=kind[j])
                for j, cell in enumerate(row)
            ),
        )
        for row in rows
    )
    return el(
        "div",
        el(
            "table",
            el("caption", el("span", caption)),
            el("thead", el("tr", *(el("th", cell, scope="col", class_=kind[j]) for j, cell in enumerate(heads)))),
            el("tbody", *body),
            class_=class_,
        ),
        class_="scroll",
        role="region",
        tabindex="0",
        aria_label=caption,
    )
