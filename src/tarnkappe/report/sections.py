"""The sections of a report, in the order in which a reader needs them."""

from __future__ import annotations

from math import isnan

from tarnkappe.bundle import Bundle
from tarnkappe.columns import ColumnSummary
from tarnkappe.criteria import Verdict, all_criteria
from tarnkappe.publish.form import Form
from tarnkappe.release import SUPPRESSION_CONVENTION, Release, Score
from tarnkappe.report.charts import kept_bars, said_bars, size_histogram
from tarnkappe.report.facts import (
    REMOVED,
    Told,
    fact,
    headline,
    is_verified,
    known,
    manifest_text,
    role_meaning,
    who_can_check,
    without_seed,
)
from tarnkappe.report.markup import Html, el, join, shorten, table, value
from tarnkappe.report.numbers import count, counted, figure, percent
from tarnkappe.report.parts import assumed, big_figures, criterion_card, evidence, facts_list, proof, section
from tarnkappe.report.plain import combined, in_plain_words

ROLE_NAMES = {
    "identifier": "direct identifier",
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "keep": "kept as it is",
    "drop": "dropped",
    "subject": "key of a person",
    "household": "key of a household",
    "weight": "sampling weight",
}

_LONGEST_LABEL = 48


def sentence(words: str) -> str:
    """A message as a sentence: it begins large and ends with a full stop."""
    whole = words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")
    return whole.replace(" %", "\u00a0%")  # no line ends between a number and its sign


def mark(ok: bool) -> Html:
    """Yes or no in sign, word and colour."""
    return el("span", "✓ satisfied" if ok else "✗ violated", class_="yes" if ok else "no")


def criterion_title(name: str) -> str:
    """What a criterion is called in print."""
    known = all_criteria().get(name)
    title = known.title if known else name
    # The field's letters stay small: k-anonymity, but Distinct l-diversity.
    return title if title[1:2] == "-" else title[:1].upper() + title[1:]


def _title(release: Told, name: str) -> str:
    return release.story.cards[name][0] if isinstance(release, Bundle) else criterion_title(name)


def asked(verdict: Verdict) -> str:
    """What was asked for, without repeating the criterion's name."""
    return verdict.asked.removeprefix(f"{verdict.criterion} ")


def criteria_table(release: Told) -> Html:
    """What was asked, what the most exposed group reached, and whether that is enough."""
    rows = (
        (
            join(
                [_title(release, v.criterion), el("span", "on ", value(v.column), class_="small") if v.column else None]
            ),
            asked(v),
            "not told" if isnan(v.reached) else figure(v.reached),
            mark(v.ok),
        )
        for v in release.verdicts
    )
    head = ("Criterion", "Asked", "Reached", "Result")
    caption = "What was asked, and what the most exposed group reached"
    if isinstance(release, Bundle) and release.story.checked is not None:
        caption = release.story.checked.caption
    return table(caption, head, rows, numeric={2}, class_="criteria")


def verdict(release: Release) -> Html:
    """The verdict, big and plain, with its evidence."""
    attacker = (
        "The promise is about an attacker who knows these columns of a person, and no other: ",
        el("strong", join(map(value, known(release)), ", ")),
        ".",
    )
    shown = proof(release, headline(release), attacker)
    sizes = [size for size, _ in release.group_sizes]
    share = release.n_suppressed / release.n_input if release.n_input else 0.0
    tiles = [
        ("Records published", count(release.n_published), f"of {count(release.n_input)}"),
        ("Suppressed", count(release.n_suppressed), f"{percent(share)} of the records"),
    ]
    if not release.is_copy or sizes:
        tiles.append(("Groups", count(release.n_groups), release.job.algorithm.publishes.grouped))
        least, most = min(sizes, default=0), max(sizes, default=0)
        tiles.append(("Smallest group", count(least), f"largest {count(most)} records"))
    if release.detail_kept is not None:
        tiles.append(("Detail kept", percent(release.detail_kept), "of an average cell"))
    return section(
        "verdict",
        "Verdict",
        shown,
        in_plain_words(release) if is_verified(release) else None,
        big_figures(tiles),
        criteria_table(release),
        facts_list(evidence(release, release.algorithm)),
    )


def alerts(release: Told, *, advice: bool) -> Html:
    """The notices in plain words; advice on changing the job is for those who can change it."""
    if not release.notices:
        none = "None." if advice else "None that can be told without the original data."
        return section("alerts", "Alerts", el("p", none))
    items = (
        el(
            "li",
            el("p", el("span", n.code, class_="code"), sentence(n.message)),
            el("p", "What to do: ", value(n.hint), class_="small") if advice and n.hint else None,
        )
        for n in release.notices
    )
    return section("alerts", "Alerts", el("ul", *items, class_="alerts"))


def what_was_done(release: Release, *, internal: bool) -> Html:
    """One row per published column; removed columns by name only. Only the `internal` edition has values before."""
    published = [c for c in release.columns if c.role not in REMOVED]
    removed = [c.name for c in release.columns if c.role in REMOVED]
    labels: object = join(["Labels", el("br"), "before → after"]) if internal else "Labels"
    labelled, exampled = any(c.labels_after is not None for c in published), any(c.examples for c in published)
    head = ("Column", "Role", "What was done", *[labels] * labelled, *["Commonest values"] * exampled)
    rows = (
        (*_column_row(c), *([_labels(c)] if labelled else []), *([_examples(c)] if exampled else [])) for c in published
    )
    roles = [role for role in ROLE_NAMES if any(c.role == role for c in release.columns)]
    return section(
        "done",
        "What was done",
        el("p", _flow(release.columns, release.job.algorithm.publishes)),
        table("Columns of the release", head, rows, class_="columns"),
        el(
            "p",
            "Examples are the commonest values and what most of their records became. "
            "Values that few records share are not shown.",
            class_="small",
        )
        if exampled
        else None,
        el("h3", "Removed columns") if removed else None,
        el("p", join((value(name) for name in removed), ", "), ".") if removed else None,
        el("h3", "What the roles mean"),
        facts_list((ROLE_NAMES[role].capitalize(), role_meaning(role, release)) for role in roles),
    )


def _flow(columns: tuple[ColumnSummary, ...], form: type[Form]) -> str:
    n = {role: sum(c.role == role and not c.masked for c in columns) for role in ROLE_NAMES}
    masked = sum(c.masked for c in columns)
    removed = sum(n[role] for role in REMOVED)
    parts = [
        f"{n['quasi']} {form.changes} (quasi-identifiers)" if n["quasi"] else "",
        f"{n['sensitive']} sensitive, published inside groups" if n["sensitive"] else "",
        f"{n['keep']} kept as they are" if n["keep"] > 1 else "1 kept as it is" if n["keep"] else "",
        f"{masked} changed by masks, and not hidden by groups" if masked else "",
        f"{removed} removed" if removed else "",
    ]
    return f"The input had {counted(len(columns), 'column')}: {'; '.join(p for p in parts if p)}."


def _column_row(column: ColumnSummary) -> tuple[object, ...]:
    why = el("span", "Because: ", value(column.because), class_="small") if column.because else None
    return value(column.name), ROLE_NAMES.get(column.role, column.role), join([column.done, why])


def _labels(column: ColumnSummary) -> object:
    if column.labels_before is not None and column.labels_after is not None:
        return join([count(column.labels_before), _arrow(), count(column.labels_after)])
    return "–" if column.labels_after is None else count(column.labels_after)


def _examples(column: ColumnSummary) -> Html:
    if not column.examples:
        return Html("–")
    items = []
    for e in column.examples:
        kept = e.before == e.after
        remark = el("span", ", ".join([counted(e.records, "record"), *["kept"] * kept]), class_="small")
        items.append(el("li", _label(e.before), *(() if kept else (_arrow(), _label(e.after))), " ", remark))
    return el("ul", *items)


def _label(word: str) -> Html:
    return value(shorten(word, _LONGEST_LABEL)) if word else el("em", "empty")


def _arrow() -> Html:
    return el("span", "→", class_="arrow")


def group_sizes(release: Release) -> Html | None:
    """How large the groups are; nothing about them where copies would differ in it."""
    if release.is_copy and not release.group_sizes:
        return None
    mean = release.n_published / release.n_groups if release.n_groups else 0.0
    return section(
        "groups",
        "Group sizes",
        el(
            "p",
            f"Records {release.job.algorithm.publishes.alike} form a group. The larger a person's group, the less "
            "can be said about that person; the smaller the groups, the more detail is left for analysis. ",
            f"Here a group has {figure(mean)} records on average.",
        ),
        size_histogram(release.group_sizes),
    )


def detail(release: Release) -> Html:
    """What the protection cost: how much detail was kept; the measures of the literature folded below."""
    if not release.scores:
        return section("detail", "Detail kept", *_kept(release))
    head = ("Measure", "Value", "In words")
    scores = table("Measures of the literature", head, map(_score_row, release.scores), numeric={1}, class_="scores")
    return section(
        "detail",
        "Detail kept",
        *_kept(release),
        el(
            "details",
            el("summary", "Measures of the literature"),
            el("p", "Each looks at the loss from another side.", class_="small"),
            scores,
            el("p", SUPPRESSION_CONVENTION, class_="small"),
        ),
    )


def _kept(release: Release) -> list[Html]:
    """How much an average cell has kept, and each column; only the publisher knows."""
    if release.is_numbered:
        return [el("p", release.job.algorithm.publishes.loses)]
    if release.detail_kept is None:
        told = "How far labels are from the original values only the publisher knows; how much they say, everybody."
        return [el("p", "Protection takes detail away. ", told), *filter(None, [said_bars(release.columns)])]
    what = "of its variance" if release.measured_by_variance else "of its detail"
    words = "Protection takes detail away. An average cell of the quasi-identifiers has kept "
    rest = f" {what}; a record that was left out has kept nothing."
    shown = [kept_bars(release.columns), said_bars(release.columns)]
    return [
        el("p", words, el("strong", percent(release.detail_kept)), rest),
        *(one for one in shown if one is not None),
    ]


def direction(score: Score) -> str:
    """Which way a measure improves."""
    return "lower is better" if score.goal == "minimise" else "higher is better"


def _score_row(score: Score) -> tuple[object, ...]:
    better = el("span", f"{direction(score)}.".capitalize(), class_="small")
    return score.title, figure(score.value), join([score.sentence, better])


def protection(release: Release) -> Html:
    """What each criterion protects from, and what not."""
    known = all_criteria()
    cards = []
    for name in dict.fromkeys(v.criterion for v in release.verdicts):
        if name in known:
            columns = [v.column for v in release.verdicts if v.criterion == name and v.column]
            on = [" on ", join(map(value, columns), ", ")] if columns else []
            cards.append(criterion_card([criterion_title(name), *on], known[name].card))
    return section(
        "protection",
        "What this protects from, and what not",
        *cards,
        el(
            "p",
            "Columns that are kept as they are take no part in the groups: whoever knows their values from elsewhere "
            "can use them. "
            if any(c.role == "keep" for c in release.columns)
            else None,
            combined(release),
        ),
    )


def assumptions(release: Release) -> Html:
    """What has to be true for the verdict to mean what it says."""
    keyed = any(c.role == "subject" for c in release.columns)
    rows = "Where a person has several rows, a group may stand for fewer people than rows."
    if keyed:
        rows = "Only criteria that name the key of a person count people; all other figures are about rows."
    points = (
        ("People may have several rows." if keyed else "One row is one person.", rows),
        ("Missing values.", release.missing_rule),
        ("Suppression.", SUPPRESSION_CONVENTION),
        (
            "The whole table is the published table.",
            "Where a criterion compares a group with the whole, it compares it with the records in the release, "
            "because that is what a reader sees.",
        ),
        (
            "The roles are right.",
            "The promise covers what others may know in the columns declared as quasi-identifiers, and only those.",
        ),
    )
    return assumed(points)


def reproduce(release: Told, command: str) -> Html:
    """How anybody can check the release without trusting this page."""
    digest = fact(release, "sha256")
    # Each word stays in one piece, so that a long command is broken between its words only.
    words = (el("span", word) for word in command.split(" "))
    return section(
        "check",
        "Check it yourself",
        el("p", who_can_check(release)),
        el("pre", el("code", join(words, " ")), class_="wrap", tabindex="0"),
        el("p", "It is the file described here if its SHA-256 is the one stated under Verdict.") if digest else None,
        el(
            "details",
            el("summary", "Public manifest"),
            el("pre", el("code", manifest_text(without_seed(release.public_manifest))), tabindex="0"),
        ),
    )
