"""Everything that ``tarnkappe explain`` can explain, collected from where it is declared."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tarnkappe.advice import ADVICE
from tarnkappe.errors import CODES, JobError, did_you_mean

if TYPE_CHECKING:
    from tarnkappe.publish.form import Form

#: Groups of topics in the order in which they are listed.
GROUPS = (
    "criteria",
    "masks",
    "attacks",
    "roles",
    "algorithms",
    "metrics",
    "taxonomies",
    "missing values",
    "words",
    "codes",
)

_WORDS = {
    "quasi-identifier": "A column that others may know and that identifies people in combination with others, such as "
    "age, postcode and sex. ARX says quasi-identifying, sdcMicro key variable.",
    "taxonomy": "How the values of a column may be coarsened, level by level: a tree, intervals, prefixes of a code. "
    "ARX says hierarchy.",
    "group": "The records that publish the same quasi-identifiers. Also called equivalence class.",
    "level": "How far a value is coarsened: level 0 is the value itself, the highest level is everything.",
    "suppression": "Leaving out: a value that is published as *, or a record that is not published at all.",
    "release": "The table that may be shared, with its report and manifest. It exists only if it was verified.",
    "histogram": "A job about noisy counts: people counted in cells that the job fixes, with noise, so that nobody can "
    "tell whether a person was counted (ε-differential privacy).",
    "synthetic": "Made-up people who are together like real ones, published instead of them. A job file with the key "
    "synthetic draws them, with differential privacy or without. Also called synthetic data.",
    "seed": "The number that all randomness of a run comes from. Who knows it can undo the shuffling, so it stays in "
    "the private folder.",
}

#: Other words for the same thing.
_SYNONYMS = {
    "synthetic data": "synthetic",
    "qi": "quasi-identifier",
    "key variable": "quasi-identifier",
    "hierarchy": "taxonomy",
    "equivalence class": "group",
    "generalisation": "taxonomy",
    "generalization": "taxonomy",
    "attacks": "attack models",
    "attack model": "attack models",
    "l+-diversity": "confidence-bounding",
    "l-plus-diversity": "confidence-bounding",
    "noisy counts": "histogram",
    "epsilon-differential privacy": "histogram",
    "dp": "differential-privacy",
}

_EXIT_CODES = {"E1": 2, "E2": 3, "E3": 4, "E4": 3, "E5": 5, "E6": 6, "E7": 7}


@dataclass(frozen=True)
class Topic:
    """A word and what is to be said about it, as labelled lines."""

    name: str
    group: str
    title: str
    lines: tuple[tuple[str, str], ...]


def topic(word: str) -> Topic:
    """The topic of a word; spelling of capitals does not matter."""
    known = all_topics()
    plain = " ".join(word.split()).casefold()
    folded = {name.casefold(): name for name in known}
    found = folded.get(_SYNONYMS.get(plain, plain)) or folded.get(plain.replace(" ", "-"))
    if found is None:
        raise JobError(
            "E108",
            f"nothing is known about '{word}'{did_you_mean(plain, [*folded, *_SYNONYMS])}",
            hint="tarnkappe explain   lists all words",
        )
    return known[found]


@cache
def all_topics() -> dict[str, Topic]:
    """All topics by name."""
    made = [
        *_criteria(),
        *_masks(),
        *_attacks(),
        *_roles(),
        *_algorithms(),
        *_metrics(),
        *_taxonomies(),
        *_missing(),
        *_words(),
    ]
    made += _codes()
    found: dict[str, Topic] = {}
    for t in made:
        found.setdefault(t.name, t)  # where two share a name, the first one counts
    return found


def _criteria() -> list[Topic]:
    from tarnkappe.criteria import all_criteria
    from tarnkappe.criteria.attacks import attacks_stopped

    out = []
    for name, cls in all_criteria().items():
        card = cls.card
        lines = (
            ("Means", _first_sentence(cls)),
            ("Protects", f"from {card.protects_from}"),
            ("Against", ", ".join(attacks_stopped(cls))),
            ("Does not", card.does_not),
            ("Typical", card.typical),
            ("Cost", card.cost),
            *_parameters(cls),
            ("Job file", f"criteria:\n  - {name}: {_example(cls)}"),
        )
        out.append(Topic(name, "criteria", cls.title, lines))
    return out


def _masks() -> list[Topic]:
    from tarnkappe.masks import all_masks
    from tarnkappe.masks.linkage import MaxLinkage

    out = []
    for name, cls in all_masks().items():
        lines = (
            ("Means", _first_sentence(cls)),
            ("Changes", cls.card.changes),
            ("Keeps", cls.card.keeps),
            ("Does not", cls.card.does_not),
            ("Not for", cls.card.not_for),
            ("Roles", ", ".join(sorted(cls.roles))),
            *_parameters(cls),
            ("Job file", f"masks:\n  - {name}: {_example(cls)}"),
        )
        out.append(Topic(name, "masks", cls.title, lines))
    card = MaxLinkage.card
    told = (
        ("Means", _first_sentence(MaxLinkage)),
        ("Protects", f"from {card.protects_from}"),
        ("Does not", card.does_not),
        ("Typical", card.typical),
        ("Cost", card.cost),
        *_parameters(MaxLinkage),
        ("Job file", f"criteria:   (of a job with masks and no groups)\n  - {MaxLinkage.name}: {_example(MaxLinkage)}"),
    )
    names = ", ".join(t.name for t in out)
    every = "Changed values instead of coarse ones. They form no groups: nothing that is masked is k-anonymous."
    return [
        Topic("masks", "words", "masks", (("Means", every), ("Known", names))),
        *out,
        Topic(MaxLinkage.name, "criteria", MaxLinkage.title, told),
    ]


def _attacks() -> list[Topic]:
    from tarnkappe.attacks import all_attacks
    from tarnkappe.attacks.base import NEEDS

    out = []
    for name, cls in all_attacks().items():
        card = cls.card
        needs = ", ".join(NEEDS[need][0] for need in cls.needs if need not in ("quasi", "whole", "rows"))
        lines = (
            ("Means", _first_sentence(cls)),
            ("Attacker", card.attacker),
            ("Success", card.success),
            ("Baseline", card.baseline),
            ("Remedy", str(card.remedy)),
            *([("Needs", needs)] if needs else []),
            *_parameters(cls),
            ("Command", f"tarnkappe attack {name} RELEASE"),
        )
        out.append(Topic(name, "attacks", cls.title, lines))
    return out


def _algorithms() -> list[Topic]:
    from tarnkappe.algorithms import Algorithm, all_algorithms
    from tarnkappe.choice import Auto

    out = []
    known: dict[str, type[Algorithm]] = {Auto.name: Auto, **all_algorithms()}
    for name, cls in known.items():
        lines = (
            ("In short", cls.summary),
            ("How", _first_sentence(cls)),
            ("Scheme", cls.scheme),
            ("Publishes", cls.publishes.name),
            *_hidden(cls.publishes),
            *_parameters(cls),
            ("Job file", f"algorithm: {{name: {name}}}"),
        )
        out.append(Topic(name, "algorithms", cls.title, lines))
    return out


def _hidden(form: type[Form]) -> list[tuple[str, str]]:
    """What a form hides and what not, given suitable groups and criteria."""
    from tarnkappe.publish.form import HIDDEN_WORDS

    shown = [words for what, words in HIDDEN_WORDS.items() if what not in form.hides]
    hides = [words for what, words in HIDDEN_WORDS.items() if what in form.hides]
    return [("Can hide", ", ".join(hides)), *([("Does not", f"hide {' or '.join(shown)}")] if shown else [])]


def _metrics() -> list[Topic]:
    from tarnkappe.metrics import all_metrics

    out = []
    for name, metric in all_metrics().items():
        better = "less is better" if metric.goal == "minimise" else "more is better"
        out.append(
            Topic(name, "metrics", metric.title, (("Measures", _first_sentence(type(metric))), ("Read", better)))
        )
    return out


def _taxonomies() -> list[Topic]:
    from tarnkappe.registry import registered
    from tarnkappe.taxonomy import TaxonomyBuilder

    out = []
    for name, cls in registered("tarnkappe.taxonomy", TaxonomyBuilder).items():  # type: ignore[type-abstract]
        lines = (
            ("Means", _first_sentence(cls)),
            *_parameters(cls),
            ("Job file", f"COLUMN: {{role: quasi, taxonomy: {_taxonomy_example(name, cls)}}}"),
        )
        out.append(Topic(name, "taxonomies", f"taxonomy of kind {name}", lines))
    return out


def _taxonomy_example(name: str, cls: type) -> str:
    return _TAXONOMY_EXAMPLES.get(name) or f"{{kind: {name}" + _example(cls).replace("{", ", ", 1)


_TAXONOMY_EXAMPLES = {
    "dates": "{kind: dates, levels: [month, year]}",
    "file": "{kind: file, path: taxonomies/education.csv}",
    "frequency": "{kind: frequency, keep: [0.01, 0.05]}",
    "intervals": "{kind: intervals, widths: [5, 10, 20], top: 80}",
    "order": "{kind: order, values: [low, middle, high]}",
    "prefix": "{kind: prefix, keep: [4, 3, 2]}",
    "suppress": "suppress",
    "tree": "{kind: tree, tree: {Married: [civil, church], Single: [never]}}",
}


def _roles() -> list[Topic]:
    from tarnkappe.schema import ROLE_MEANINGS

    examples = {
        "quasi": "age: {role: quasi, type: numeric}",
        "keep": 'ward: {role: keep, because: "reviewed, not known to outsiders"}',
    }
    return [
        Topic(
            role,
            "roles",
            f"role {role}",
            (("Means", str(meaning)), ("Job file", examples.get(role, f"COLUMN: {{role: {role}}}"))),
        )
        for role, meaning in ROLE_MEANINGS.items()
    ]


def _missing() -> list[Topic]:
    from tarnkappe.release import missing_sentence
    from tarnkappe.schema import MISSING_RULES

    return [
        Topic(
            rule,
            "missing values",
            f"missing rule {rule}",
            (("Means", missing_sentence(rule)), ("Job file", f"data: {{missing_rule: {rule}}}")),
        )
        for rule in MISSING_RULES
    ]


def _words() -> list[Topic]:
    return [*(Topic(word, "words", word, (("Means", text),)) for word, text in _WORDS.items()), _attack_models()]


def _attack_models() -> Topic:
    """What attackers want to know, and which criterion stops which of them."""
    from tarnkappe.criteria import all_criteria
    from tarnkappe.criteria.attacks import QUESTIONS, attacks_stopped

    stopped = ((name, ", ".join(attacks_stopped(cls))) for name, cls in all_criteria().items())
    return Topic("attack models", "words", "attack models, and what stops them", (*QUESTIONS.items(), *stopped))


def _codes() -> list[Topic]:
    out = []
    for code, meaning in CODES.items():
        lines = [("Means", meaning)]
        if code in ADVICE:
            lines.append(("Do", ADVICE[code]))
        exit_code = _EXIT_CODES.get(code[:2])
        lines.append(("Exit code", str(exit_code)) if exit_code else ("Kind", "a warning: the run goes on"))
        out.append(Topic(code, "codes", f"{'error' if exit_code else 'warning'} {code}", tuple(lines)))
    return out


def _first_sentence(cls: type) -> str:
    """The first paragraph of a class's documentation, without the marks for code."""
    text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0]
    return " ".join(text.replace("``", "").replace("`", "").split())


def _parameters(cls: type) -> list[tuple[str, str]]:
    from tarnkappe.params import parameters

    lines = []
    for p in parameters(cls):
        default = "" if p.required else f"; {_written(p.default)} if not given"
        lines.append((p.name, f"{p.doc} ({p.expected}{default})"))
    return lines


def _example(cls: type) -> str:
    """The parameters that must be given, and those without which little is promised, with values to start from."""
    from tarnkappe.params import parameters

    shown = [p for p in parameters(cls) if p.required or p.example is not None]
    return "{" + ", ".join(f"{p.name}: {_shown_example(p.example)}" for p in shown) + "}"


def _shown_example(example: Any) -> str:
    if isinstance(example, tuple):
        return f"[{', '.join(map(str, example))}]"
    return "…" if example is None else str(example)


def _written(value: Any) -> str:
    if value is None or value in ((), {}):
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)
