"""The report about a leak: one document to print, for whoever has to decide what follows."""

from __future__ import annotations

import numpy as np

from tarnkappe._version import __version__
from tarnkappe.fingerprint.page import document, section
from tarnkappe.fingerprint.register import Entry, Register
from tarnkappe.fingerprint.scheme import Scheme
from tarnkappe.fingerprint.tracing import Trace
from tarnkappe.report.markup import Html, el, table, value
from tarnkappe.wording import count, percent, plural

#: Marks listed one by one, and recipients.
_MOST_LISTED = 40

#: Smaller chances are not told in figures: nobody can imagine them.
_TRILLIONTH = 12


def chance(p: float) -> str:
    """A probability as people write it.

    Less than a per cent is told with three decimal places, so that it can be compared with the risk that was allowed.

    >>> chance(3.2e-17), chance(2e-7), chance(0.00104), chance(0.04), chance(1.0)
    ('less than 1 in a trillion (p < 10^-16)', 'less than 1 in 1 000 000', '0.104 %', '4.0 %', 'up to 100 %')
    """
    if p >= 1:
        return "up to 100 %"
    if 1e-3 <= p < 1e-2:
        return f"{100 * p:.3f} %"
    if p >= 1e-2:
        return percent(p)
    power = int(np.floor(-np.log10(max(p, 1e-300))))
    return (
        f"less than 1 in {count(10**power)}" if power <= _TRILLIONTH else f"less than 1 in a trillion (p < 10^-{power})"
    )


def trace_page(found: Trace, scheme: Scheme, register: Register, leak: str, *, sha256: str = "", made: str = "") -> str:
    """A report about a leak that a lawyer can read: the result, what it means and what not, and all the evidence."""
    sections = [
        section("Result", *_result(found, scheme, sha256)),
        section("All recipients", *_recipients(found)),
        section("What was examined", *_examined(found, scheme, register, leak, sha256, made)),
        section("How this was found", _method(found, scheme)),
        section("What this does not show", _limits(found)),
        section("How anybody can check it", _check(scheme, register)),
    ]
    marks = _marks(found, scheme)
    if marks is not None:
        sections.append(section("Annex: the marks, one by one", *marks))
    return document("Trace of a leak", leak, "CONFIDENTIAL: names recipients of copies", sections)


def _result(found: Trace, scheme: Scheme, sha256: str) -> list[Html]:
    accused = found.accused
    limit = (
        f"The risk of accusing anybody innocent was limited to {_one_in(found.alpha)} in all, for "
        f"{plural(len(found.suspects), 'recipient')} together. Nobody is accused beyond that limit."
    )
    if accused:
        copies = "the copy" if len(accused) == 1 else "copies"
        risk = max(s.p_value for s in found.suspects if s.accused)
        return [
            el("p", el("strong", f"The leak was made from {copies} issued to {' and '.join(accused)}.", class_="v")),
            el(
                "p",
                f"Had somebody else made it, the secret marks in the leak would fit "
                f"{'this copy' if len(accused) == 1 else 'these copies'} so well by mere chance with a probability of "
                f"{chance(risk)}.",
            ),
            el("p", limit),
        ]
    reasons = "Too few marks could be read, or those that were read fit nobody better than chance may."
    if not found.suspects:
        reasons = "No copy is entered in the register, so there is nobody to compare with."
    elif sha256 == scheme.dataset:
        reasons = "The table is the original itself, byte by byte, and no copy of it."
    elif not scheme.layout.n_positions:
        reasons = "These copies carry no secret marks, only patterns, and a pattern alone is no proof."
    return [
        el("p", el("strong", "Nobody is accused.", class_="v")),
        el("p", reasons, " This clears nobody either: it says that the table at hand proves nothing."),
        el("p", limit) if found.suspects else el("p"),
    ]


def _one_in(alpha: float) -> str:
    whole = 1 / alpha
    return f"1 in {count(round(whole))}" if abs(whole - round(whole)) < 1e-9 else percent(alpha)


def _recipients(found: Trace) -> list[Html | None]:
    clear = found.suspects[0].clear if found.suspects else 0
    expected = (
        f"Copies have many marks in common. Somebody who had nothing to do with the leak would agree in about "
        f"{count(round(found.expected))} of the {count(clear)} marks that are clear, and at times in a few more."
    )
    more = len(found.suspects) - _MOST_LISTED
    fits = None
    if found.fitting is not None:
        names = ", ".join(found.fitting) or "nobody alone"
        together = "; ".join(" and ".join(c) for c in found.coalitions[:5])
        fits = el(
            "p",
            f"The levels of detail in the leak fit the pattern of: {names}.",
            f" Together could have made it: {together}." if together else "",
            " A pattern alone is no proof: somebody else may have coarsened the data in the same way.",
        )
    return [
        el("p", expected) if clear else None,
        table(
            "Everybody in the register, the most suspect first.",
            ["Recipient", "Marks that agree", "Chance for somebody innocent", "Accused"],
            (
                [value(s.recipient), f"{s.agree} of {s.clear}", chance(s.p_value), "yes" if s.accused else "no"]
                for s in found.suspects[:_MOST_LISTED]
            ),
            numeric={1},
        ),
        el("p", f"{plural(more, 'more recipient')}, less suspect than these.", class_="small") if more > 0 else None,
        fits,
    ]


def _examined(found: Trace, scheme: Scheme, register: Register, leak: str, sha256: str, made: str) -> list[Html | None]:
    evidence, opened = found.evidence, found.opened
    issued = [e for name in found.accused if (e := register.find(scheme.dataset, name)) is not None]
    facts: list[tuple[object, object]] = [("Leak", value(leak)), ("Rows", count(evidence.n_rows))]
    facts += [("SHA-256 of the leak", value(sha256))] if sha256 else []
    facts += [("Examined", f"{made}, with Tarnkappe {__version__}")] if made else []
    facts += [fact for entry in issued for fact in _issued(entry)]
    known = None
    if opened is not None:
        known = table(
            "Columns of the leak that were recognised, and how many of their cells are labels of the copies.",
            ["In the leak", "In the copies", "Cells understood"],
            ([value(a), value(b), percent(opened.understood[b])] for a, b in opened.columns.items()),
            numeric={2},
        )
    strange = (
        f"{plural(int(evidence.strange), 'row')} of the leak fit no group of the copies" if evidence.strange else ""
    )
    both = int(evidence.both.sum())
    mixed = (
        f"{plural(both, 'place')} show both kinds of marks (several copies, or rows that were changed)" if both else ""
    )
    remarks = "; ".join(filter(None, [strange, mixed]))
    return [
        table("", ["What", "Which"], facts),
        known,
        el(
            "p",
            f"Marks could be read in {count(evidence.read)} of {count(scheme.layout.n_positions)} places."
            + (f" Also: {remarks}." if remarks else ""),
        ),
    ]


def _issued(entry: Entry) -> list[tuple[object, object]]:
    return [
        (f"Copy issued to {entry.recipient}", f"{entry.made}, entry {entry.number + 1} of the register"),
        (f"SHA-256 of the copy of {entry.recipient}", value(entry.release)),
    ]


def _method(found: Trace, scheme: Scheme) -> Html:
    names = scheme.columns.names
    example = ""
    if scheme.layout.n_positions:
        first, second = (names[j] for j in scheme.layout.pairs[0, 0])
        example = f" In one place, for instance, either '{first}' or '{second}' is told less exactly."
    return el(
        "ul",
        el(
            "li",
            "Every recipient got a copy of their own. All say the same about the same people. In many places of the "
            f"table one of two columns is told less exactly, and which one differs from copy to copy.{example}",
        ),
        el(
            "li",
            "A secret key decided it, place by place and recipient by recipient. Nobody without the key can tell what "
            "another copy says there.",
        ),
        el(
            "li",
            "The marks of somebody who had nothing to do with the leak do not depend on it. So the probability holds "
            "whatever was done to the leak: rows or columns left out, cells altered, copies mixed.",
        ),
        el(
            "li",
            "In figures: Chernoff's bound on the score of a Tardos code, given the marks that were read, multiplied by "
            "the number of recipients and by the ways of weighing marks (Bonferroni).",
        ),
    )


def _limits(found: Trace) -> Html:
    return el(
        "ul",
        el("li", "Which person leaked the copy, or whether it was stolen from the recipient.")
        if found.accused
        else None,
        el(
            "li",
            "Whether others who are not accused took part."
            if found.accused
            else "That nobody here is behind the leak.",
        ),
        el(
            "li",
            "Anything, if the key was known to others, or if a copy reached somebody else than its recipient before it "
            "was entered in the register.",
        ),
    )


def _check(scheme: Scheme, register: Register) -> Html:
    return el(
        "ul",
        el(
            "li",
            "The commitment below was to be published before the first copy was handed out. The publisher opens it "
            "with a proof, which reveals the key of this data set and of no other. With the proof, the plan and the "
            "register, an expert repeats this trace and must get the same figures: ",
            el("code", "tarnkappe fingerprint trace LEAK --plan PLAN --proof PROOF"),
            ".",
        ),
        el("li", "Commitment: ", value(scheme.commitment)),
        el("li", "Head of the register, which changes with every line of it: ", value(register.head)),
        el("li", "Data set: ", value(scheme.dataset)),
    )


def _marks(found: Trace, scheme: Scheme) -> list[Html] | None:
    """The evidence mark by mark, those first that most rows speak about."""
    evidence, layout = found.evidence, scheme.layout
    seen = np.argsort(-evidence.likely.sum(axis=1), kind="stable")[:_MOST_LISTED]
    seen = seen[evidence.likely[seen].sum(axis=1) > 0]
    if not len(seen):
        return None
    names = scheme.columns.names
    rows = []
    for at in seen.tolist():
        block, i = divmod(at, layout.bits)
        pair = [names[j] for j in layout.pairs[block, i]]
        zero, one, merged = evidence.likely[at]
        told = "both" if evidence.both[at] else pair[int(one > zero)]
        copies = (pair[int(bits[at])] for bits in found.copies.values())
        rows.append([f"{at + 1}", " or ".join(pair), f"{zero:.0f}", f"{one:.0f}", f"{merged:.0f}", told, *copies])
    head = ["Place", "Which is coarser", "Rows: the first", "Rows: the second", "Rows: neither", "In the leak"]
    caption = f"The {len(rows)} places that most rows of the leak speak about."
    return [table(caption, [*head, *(f"In the copy of {name}" for name in found.copies)], rows, numeric={2, 3, 4})]
