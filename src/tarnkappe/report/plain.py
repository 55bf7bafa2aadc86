"""What is protected, from whom, and what it cost, for people who know no formula."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tarnkappe.bundle import COMBINED, Bundle
from tarnkappe.columns import ColumnSummary
from tarnkappe.criteria import Card, Criterion, all_criteria
from tarnkappe.release import Release
from tarnkappe.report.facts import REMOVED, enumerated, in_numbers, known, promised_k
from tarnkappe.report.markup import Html, el
from tarnkappe.report.numbers import count, counted, percent
from tarnkappe.report.parts import facts_list

#: All columns are named here, unless there are very many.
_MOST_NAMES = 20


def in_plain_words(release: Release) -> Html:
    """The four questions that everybody asks about a release, answered."""
    return _answers(_protected(release), _attacker(release), _unprotected(release), _cost(release))


def bundle_in_plain_words(bundle: Bundle) -> Html:
    """The same four questions about tables that belong together, answered from the words of their promises."""
    cards = [card for _, card in bundle.story.cards.values()]
    promises = [card for card in cards if isinstance(card, Card)]
    protected = [f"Protected from {card.protects_from}" for card in promises]
    unprotected = dict.fromkeys(f"It does not {card.does_not}" for card in cards)
    return _answers(
        protected or ["Nobody is hidden. Values are changed, so that fewer of them are true of a person."],
        [_first_upper(bundle.story.attacker)],
        [*unprotected, bundle.story.combined],
        [
            *bundle.story.costs,
            *(_first_upper(card.changes) for card in cards if not isinstance(card, Card)),
            *_removed(bundle.columns),
        ],
    )


def _answers(
    protected: Iterable[str], attacker: Iterable[str], unprotected: Iterable[str], cost: Iterable[str]
) -> Html:
    told = (
        ("What is protected", protected),
        ("From whom", attacker),
        ("What is not protected", unprotected),
        ("What it cost", cost),
    )
    lists = ((question, [el("li", answer) for answer in answers]) for question, answers in told)
    return el(
        "div", facts_list((el("strong", q), el("ul", *items)) for q, items in lists if items), class_="plain-words"
    )


def _criteria(release: Release) -> Iterator[tuple[Criterion, str]]:
    """The criteria that were checked and have a card, with the columns that they are about, in brackets."""
    told = {v.criterion for v in release.verdicts}
    for criterion in release.job.goal.criteria:
        if criterion.name in told and criterion.name in all_criteria():
            column = criterion.sensitive_column
            yield criterion, f" ({column})" if column else ""


def _protected(release: Release) -> Iterator[str]:
    k = promised_k(release)
    if k is not None:
        yield f"Who is who: no record can be told from at least {counted(k - 1, 'other')}."
    for criterion, column in _criteria(release):
        if criterion.name != "k-anonymity":
            yield f"Protected from {in_numbers(criterion.card.protects_from, criterion).rstrip('.')}{column}."


def _attacker(release: Release) -> Iterator[str]:
    columns = enumerated(known(release), _MOST_NAMES)
    yield f"Somebody who knows {columns} of a person, and may even know that the person is in the data."


def _unprotected(release: Release) -> Iterator[str]:
    guarded = any(criterion.sensitive_column for criterion, _ in _criteria(release))
    for criterion, column in _criteria(release):
        if criterion.name == "k-anonymity" and guarded:
            continue  # what it does not do, the others do
        yield f"It does not {in_numbers(criterion.card.does_not, criterion).rstrip('.')}{column}."
    kept = [c.name for c in release.columns if c.role == "keep"]
    if kept:
        yield f"Somebody who also knows {enumerated(kept)}, published unchanged, may find people by them."
    yield combined(release)


def combined(release: Release) -> str:
    """What can be combined with a release, in a sentence; that there is a ledger, its readers need not know."""
    if release.job.history is None or not release.private_manifest:
        return COMBINED
    return (
        "A release about the same people that the ledger does not know can be combined with this one; with those that "
        "it knows this one was compared."
    )


def _cost(release: Release) -> Iterator[str]:
    if release.n_suppressed:
        share = release.n_suppressed / max(release.n_input, 1)
        yield f"{counted(release.n_suppressed, 'record')} of {count(release.n_input)} ({percent(share)}) were left out."
    else:
        yield "No record was left out."
    yield from _removed(release.columns)
    form = release.job.algorithm.publishes
    if release.is_numbered:
        yield form.loses
    elif not any(c.said for c in release.columns):
        yield f"In the columns that an attacker may know, values are {form.changes}."
    said = [c.said for c in release.columns if c.said is not None]
    cells = sum(s.cells for s in said)
    if cells:
        exact, nothing = sum(s.exact for s in said) / cells, sum(s.nothing for s in said) / cells
        yield (
            f"Of the cells that an attacker may know, {percent(exact)} still say the value itself, "
            f"{percent(1 - exact - nothing)} a range or category it is in, and {percent(nothing)} nothing."
        )


def _removed(columns: Iterable[ColumnSummary]) -> Iterator[str]:
    removed = [c.name for c in columns if c.role in REMOVED]
    if removed:
        yield f"Columns removed: {enumerated(removed)}."


def _first_upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
