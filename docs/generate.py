"""Writes the reference pages from the code, so that they cannot disagree with it.

Run before MkDocs::

    python docs/generate.py

The pages are docs/reference/generated-*.md. They are not kept in version control.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from code_pages import cli_page, modules_page, python_page
from markdown_text import code, docstring, parameter_table, table

from tarnkappe.algorithms import Algorithm, all_algorithms
from tarnkappe.attacks import Attack, all_attacks
from tarnkappe.attacks.base import NEEDS
from tarnkappe.cli.root import EXIT_CODES
from tarnkappe.criteria import all_criteria
from tarnkappe.criteria.attacks import ATTACKS, QUESTIONS, attacks_stopped
from tarnkappe.errors import CODES, TarnkappeError
from tarnkappe.job import files, sections
from tarnkappe.masks import all_masks
from tarnkappe.masks.linkage import MaxLinkage
from tarnkappe.metrics import all_metrics
from tarnkappe.params import Declared
from tarnkappe.registry import registered
from tarnkappe.schema import ROLE_MEANINGS
from tarnkappe.taxonomy import TaxonomyBuilder

REFERENCE = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/generate.py. Do not edit: change the code instead. -->\n\n"

_YES = {True: "yes", False: "no"}


def criteria_page() -> str:
    """All criteria: what they promise, their parameters, and the facts searches rely on."""
    known = all_criteria()
    out = ["# Criteria", "Every group of a release must satisfy every criterion of the job."]
    out.append(
        table(
            ("Criterion", "Level of a group must be", "Monotone", "Absorbing"),
            (
                (f"[{code(name)}](#{name})", f"{c.sense} the threshold", _YES[c.monotone], _YES[c.absorbing])
                for name, c in known.items()
            ),
        )
    )
    out.append(
        "*Monotone*: pooling two groups that satisfy it gives a group that satisfies it. "
        "*Absorbing*: a group that satisfies it still does whatever is pooled into it. "
        "[What follows from them](../theory/index.md#monotone-and-absorbing)."
    )
    out += [
        "## Criteria and attack models",
        "\n".join(f"* **{attack.capitalize()}**: {asked}" for attack, asked in QUESTIONS.items()),
        table(
            ("Criterion", *(attack.capitalize() for attack in ATTACKS)),
            (
                (f"[{code(name)}](#{name})", *("✓" if attack in attacks_stopped(c) else "" for attack in ATTACKS))
                for name, c in known.items()
            ),
        ),
        "[How this compares with the literature](../theory/index.md#criteria-and-attack-models).",
    ]
    for name, c in known.items():
        card = c.card
        out += [
            f"## {name}",
            docstring(c),
            f"* **Protects from** {card.protects_from}\n* **Does not** {card.does_not}\n"
            f"* **Typical value**: {card.typical}\n* **Cost**: {card.cost}",
            parameter_table(c),
            f"In Python: {code(c.__name__)}." + _theory(name),
        ]
    return "\n\n".join(out)


def attacks_page() -> str:
    """All attacks: what they try, what they need, and what success is compared with."""
    known = all_attacks()
    finds = {"identity": "who a record is about", "presence": "who is in the data", "secret": "what is secret"}
    out = [
        "# Attacks",
        "What a reader of a release may try, carried out and counted. [How to](../how-to/attacks.md), "
        "[theory](../theory/attacks.md).",
        table(
            ("Attack", "Finds out", "Needs besides the release"),
            ((f"[{code(name)}](#{name})", finds[a.finds], _needed(a)) for name, a in known.items()),
        ),
    ]
    for name, a in known.items():
        card = a.card
        out += [
            f"## {name}",
            docstring(a),
            f"* **The attacker** {card.attacker}\n* **Success**: {card.success}\n* **Baseline**: {card.baseline}\n"
            f"* **What helps**: {f'{card.remedy}.' if isinstance(card.remedy, str) else code(str(card.remedy))}",
            parameter_table(a),
            f"In Python: {code(a.__name__)}.",
        ]
    return "\n\n".join(out)


def masks_page() -> str:
    """All masks: what they change, what they keep, and what they are not for."""
    known = all_masks()
    out = [
        "# Masks",
        "A mask changes values, and says what it leaves as it was. [How to](../how-to/masks.md), "
        "[theory](../theory/masks.md).",
        table(("Mask", "Keeps"), ((f"[{code(name)}](#{name})", m.card.keeps) for name, m in known.items())),
    ]
    for name, m in known.items():
        card = m.card
        out += [
            f"## {name}",
            docstring(m),
            f"* **Changes**: {card.changes}\n* **Keeps**: {card.keeps}\n* **Does not** {card.does_not}\n"
            f"* **Not for** {card.not_for}\n* **Roles**: {', '.join(sorted(m.roles))}",
            parameter_table(m),
            f"In Python: {code(m.__name__)}.",
        ]
    card = MaxLinkage.card
    out += [
        f"## {MaxLinkage.name}",
        docstring(MaxLinkage),
        f"* **Protects from** {card.protects_from}\n* **Does not** {card.does_not}\n"
        f"* **Typical value**: {card.typical}\n* **Cost**: {card.cost}",
        parameter_table(MaxLinkage),
    ]
    return "\n\n".join(out)


def _needed(attack: type[Attack]) -> str:
    return "; ".join(NEEDS[need][0] for need in attack.needs if need not in ("whole", "rows"))


def _theory(name: str) -> str:
    page = Path(__file__).parent / "theory" / f"{name}.md"
    return f" Theory and a worked example: [{name}](../theory/{name}.md)." if page.exists() else ""


def algorithms_page() -> str:
    """All algorithms."""
    known = all_algorithms()
    out = [
        "# Algorithms",
        "An algorithm decides which records form a group. It works with every criterion that one group decides about "
        "and that pooling groups cannot break; the last column says what else it accepts. Everything else it refuses "
        "(`E111`) before it starts.",
        table(
            ("Algorithm", "Scheme", "In one sentence", "Accepts besides"),
            ((f"[{code(name)}](#{name})", a.scheme, a.summary, _accepted(a)) for name, a in known.items()),
        ),
        "*Wildcards*: missing values that may stand for anything. *Not monotone*: criteria that pooling may break. "
        "*Beyond groups*: criteria about some of the quasi-identifiers, or about the whole release. *Public table*: a "
        "[population](../how-to/public-table.md) to compare with, if need be with certain parameters only.",
    ]
    for name, a in known.items():
        out += [f"## {name}", docstring(a), parameter_table(a), f"In Python: {code(a.__name__)}." + _theory(name)]
    return "\n\n".join(out)


def _accepted(algorithm: type[Algorithm]) -> str:
    """What an algorithm accepts that others may refuse."""
    if "group" not in algorithm.scopes:
        return "differential privacy, and nothing else"
    kinds = {
        "wildcards": algorithm.handles_wildcards,
        "not monotone": algorithm.handles_non_monotone,
        "beyond groups": bool(algorithm.scopes & {"projection", "table"}),
        "public table": algorithm.handles_population,
    }
    return ", ".join(kind for kind, accepted in kinds.items() if accepted) or "–"


def taxonomies_page() -> str:
    """All kinds of taxonomy."""
    known = registered("tarnkappe.taxonomy", TaxonomyBuilder)  # type: ignore[type-abstract]
    out = [
        "# Taxonomy kinds",
        "A taxonomy says how the values of a column may be coarsened. It is declared under `taxonomies` of a job file, "
        "or directly at a column: `taxonomy: {kind: prefix, keep: [4, 3]}`. "
        "[Examples of all kinds](../how-to/taxonomies.md).",
    ]
    for name, cls in known.items():
        out += [f"## {name}", docstring(cls), parameter_table(cls)]
    return "\n\n".join(out)


def metrics_page() -> str:
    """All loss metrics."""
    out = [
        "# Metrics",
        "Every release is scored by all of them. Metrics of like name differ in the literature: "
        "[how ours are defined and how they differ](../theory/metrics.md).",
    ]
    for name, metric in all_metrics().items():
        out += [f"## {name}", f"**{metric.title}** ({metric.goal} it)", docstring(type(metric))]
        out.append(f'In the report: "{metric.say(0.123 if "%" in metric.sentence else 1234.0)}"')
    return "\n\n".join(out)


def job_file_page() -> str:
    """The keys of a job file, from the classes that read it."""
    parts: list[tuple[str, str, type[Declared]]] = [
        ("Top level", "The keys of a job file.", files._Top),
        ("data", "Where the data are and how to read them. What is not said is detected.", sections.DataSection),
        (
            "columns",
            "One entry per column of the data. `name: drop` is short for `name: {role: drop}`. "
            "Every column of the data must be named.",
            sections.ColumnSection,
        ),
        ("limits", "How much may be given up.", sections.LimitsSection),
        ("output", "Where the release goes.", sections.OutputSection),
    ]
    out = [
        "# Job file",
        "A job file is YAML. Unknown and repeated keys are errors, so that a typo cannot weaken a release. "
        "Values such as `NO`, `01234` and `12:30` stay text. Paths are relative to the job file. "
        "`tarnkappe schema` prints a JSON schema for editors.",
    ]
    for title, words, cls in parts:
        out += [f"## {title}", words, parameter_table(cls, "Key")]
        if title == "columns":
            out.append(table(("Role", "Meaning"), ((code(r), str(meaning)) for r, meaning in ROLE_MEANINGS.items())))
    out += [
        "## taxonomies",
        "Taxonomies by name; columns refer to them. Each has a `kind` and the parameters of that kind: "
        "[Taxonomy kinds](generated-taxonomies.md).",
        "## criteria",
        "A list; each item is one criterion with its parameters: [Criteria](generated-criteria.md).",
        "## attacks",
        "A list; each item is one attack, by its name or with its parameters: [Attacks](generated-attacks.md). The "
        "written release is attacked; if one attack beats its baseline by more than its `margin`, no release is made "
        "(`E503`).",
        "## algorithm",
        "A name, or a mapping with `name` and parameters: [Algorithms](generated-algorithms.md). "
        "Mondrian if not given.",
    ]
    return "\n\n".join(out)


def codes_page() -> str:
    """All codes with their meaning, and the exit codes of the command line."""
    raised = {}
    for cls in TarnkappeError.__subclasses__():
        raised.setdefault(cls.exit_code, []).append(code(cls.__name__))
    out = [
        "# Codes and exit codes",
        "Every error and warning has a code. `tarnkappe explain E204` says what it means. "
        "Errors also say where, and give a fix that works when pasted.",
        "## Exit codes",
        table(
            ("Exit code", "Meaning", "Exception in Python"),
            ((number, meaning, ", ".join(raised.get(number, ()))) for number, meaning in EXIT_CODES.items()),
        ),
    ]
    titles = {
        "E1": "Job and options",
        "E2": "Taxonomies",
        "E3": "No solution",
        "E4": "Data",
        "E5": "Verification",
        "E6": "Guard rails",
        "E7": "Limits",
        "W6": "Warnings",
    }
    for prefix, title in titles.items():
        found = {c: words for c, words in CODES.items() if c.startswith(prefix)}
        if found:
            out.append(f"## {title} ({prefix}xx)")
            out.append(table(("Code", "Meaning"), ((f'<span id="{c}"></span>{code(c)}', w) for c, w in found.items())))
    out.append("Warnings do not stop a run. They travel with the result: on the screen, in both reports, in `--json`.")
    return "\n\n".join(out)


PAGES: dict[str, Callable[[], str]] = {
    "algorithms": algorithms_page,
    "attacks": attacks_page,
    "cli": cli_page,
    "codes": codes_page,
    "criteria": criteria_page,
    "job-file": job_file_page,
    "masks": masks_page,
    "metrics": metrics_page,
    "modules": modules_page,
    "python": python_page,
    "taxonomies": taxonomies_page,
}


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (REFERENCE / f"generated-{name}.md").write_text(NOTE + page() + "\n", encoding="utf-8")
    print(f"wrote {len(PAGES)} reference pages to {REFERENCE}")


if __name__ == "__main__":
    main()
