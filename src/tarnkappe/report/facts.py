"""What a page reads out of a release's public manifest, and the command that checks the release."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tarnkappe.bundle import Bundle
from tarnkappe.criteria import Criterion, all_criteria
from tarnkappe.params import parameters
from tarnkappe.plain_json import to_json
from tarnkappe.release import Release
from tarnkappe.report.markup import shorten
from tarnkappe.report.numbers import count, counted
from tarnkappe.schema import ROLE_MEANINGS

#: Names that a sentence lists, and how much of each.
_MOST_NAMES, _LONGEST_NAME = 6, 40

#: Roles whose columns are not in the release.
REMOVED = ("identifier", "drop", "subject", "household", "weight")

#: What pages are about: a release of records, or tables that belong together.
Told = Release | Bundle


def fact(release: Told, name: str) -> str | None:
    """One entry of the public manifest as text, such as ``file`` or ``sha256``."""
    value = release.public_manifest.get(name)
    return None if value is None or value == "" else str(value)


def promised_k(release: Release) -> int | None:
    """The k of k-anonymity, if that is among the criteria."""
    return max((int(c.threshold) for c in release.job.goal.criteria if c.name == "k-anonymity"), default=None)


def headline(release: Release) -> str:
    """The verdict in one sentence."""
    verified = verified_words(release)
    if not is_verified(release):
        return verified
    k = promised_k(release)
    if k is not None:
        others = "other" if k == 2 else "others"
        return f"{verified} every record shares its {enumerated(known(release))} with at least {count(k - 1)} {others}."
    if len(release.verdicts) == 1:
        v = release.verdicts[0]
        return f"{verified} every group satisfies {_called(v.criterion)}" + (f" on {v.column}." if v.column else ".")
    return f"{verified} every group satisfies all {len(release.verdicts)} criteria."


def _called(name: str) -> str:
    """What a criterion is called within a sentence."""
    known = all_criteria().get(name)
    return known.title if known else name


def verified_words(release: Told) -> str:
    """How the verdict begins; all of it if something does not hold."""
    if is_verified(release):
        return f"Verified, with {counted(len(release.notices), 'alert')}:" if release.notices else "Verified:"
    broken = [v for v in release.verdicts if not v.ok]
    names = " and ".join(dict.fromkeys(_called(v.criterion) for v in broken)) or "no criterion"
    return f"Not verified: {names} " + ("does not hold." if broken else "was checked.")


def how_verified(release: Told) -> str:
    """What was done to verify the release, in a sentence or two."""
    if isinstance(release, Release) and release.is_numbered and release.number is None:
        return (
            "The published table was read back. Which rows were drawn together only the publisher knows: their groups "
            "were counted again, every criterion was evaluated anew, and every group has its means and covariances."
        )
    if isinstance(release, Bundle) and release.story.checked is not None:
        return release.story.checked.how
    many = len(release.public_manifest.get("tables", ())) > 1
    return (
        f"The published {'tables were' if many else 'table was'} read back, groups were counted again from what stands "
        "there, and every criterion was evaluated anew."
    )


def who_can_check(release: Told) -> str:
    """Who can check the release with the command below, in a sentence."""
    if isinstance(release, Release) and release.is_numbered and release.number is None:
        return "Only the publisher can, who knows which rows were drawn together, with the folder of the release:"
    if isinstance(release, Bundle) and release.story.checked is not None:
        return release.story.checked.who
    return "This command counts the groups of the release again and evaluates every criterion:"


def known(release: Release) -> list[str]:
    """The columns that an attacker is assumed to know of a person: the quasi-identifiers."""
    return [c.name for c in release.columns if c.role == "quasi"]


def several_each(release: Release) -> bool:
    """Whether people are known to have several records each."""
    return any(c.role == "subject" for c in release.columns) or any(n.code == "W604" for n in release.notices)


def role_meaning(role: str, release: Release) -> str:
    """What a role means, to readers of the release."""
    meaning = ROLE_MEANINGS[role]
    return str(meaning._replace(labelled="" if release.is_numbered else meaning.labelled, asked=""))


def in_numbers(words: str, criterion: Criterion) -> str:
    """What a card says, with the numbers of a criterion in place of its letters.

    >>> from tarnkappe import KAnonymity
    >>> in_numbers("k-anonymity: not fewer than k records", KAnonymity(5))
    'k-anonymity: not fewer than 5 records'
    """
    for p in parameters(type(criterion)):
        number = getattr(criterion, p.name)
        if len(p.name) == 1 and isinstance(number, (int, float)):
            words = re.sub(rf"(?<![\w(-]){p.name}(?![\w-]| -)", _plain(number), words, flags=re.IGNORECASE)
    return words


def enumerated(names: list[str], most: int = _MOST_NAMES) -> str:
    """Names in a sentence.

    >>> enumerated(["age"]), enumerated(["age", "sex", "zip"]), enumerated(["a", "b", "c", "d"], 2)
    ('age', 'age, sex and zip', 'a, b and 2 other columns')
    """
    if len(names) == most + 1:
        most += 1  # one more name is no longer than its being one more
    shown = [shorten(name, _LONGEST_NAME) for name in names[:most]]
    if len(names) > most:
        shown.append(counted(len(names) - most, "other column"))
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def is_verified(release: Told) -> bool:
    """Whether every criterion was checked and holds."""
    return bool(release.verdicts) and all(v.ok for v in release.verdicts)


def verify_command(release: Release) -> str:
    """The command line with which anybody can check the file; the manifest's own, if it states one.

    Otherwise it is put together from the criteria and the quasi-identifiers, so that no job file is needed. Criteria
    that look at more than the file are left out: only the publisher can check them.
    """
    stated = fact(release, "verify")
    if stated:
        return stated
    if release.is_numbered and release.number is None:
        return "tarnkappe verify FOLDER"
    if release.is_numbered:  # the manifest says how the tables belong together
        return shlex.join(["tarnkappe", "verify", fact(release, "file") or "release.csv"])
    published = [c.name for c in release.columns if c.role in ("quasi", "sensitive", "keep")]
    checkable = [
        c for c in release.job.goal.criteria if not c.needs_population and all(name in published for name in c.columns)
    ]
    words = ["tarnkappe", "verify", fact(release, "file") or "release.csv"]
    if not checkable:
        return shlex.join(words)
    words += ["--qi", ",".join(c.name for c in release.columns if c.role == "quasi")]
    for criterion in checkable:
        given = [p for p in parameters(type(criterion)) if getattr(criterion, p.name) != p.default]
        settings = ",".join(_setting(p.name, getattr(criterion, p.name)) for p in given)
        words += ["--criterion", f"{criterion.name}:{settings}" if settings else criterion.name]
    return shlex.join(words)


def _setting(name: str, value: Any) -> str:
    """A parameter as it is given on the command line."""
    if isinstance(value, Mapping):
        return ",".join(_setting(f"{name}.{key}", inner) for key, inner in value.items())
    if isinstance(value, tuple):
        return ",".join(_setting(name, inner) for inner in value)
    return f"{name}={_plain(value)}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def made(release: Told) -> str | None:
    """When the release was made, as people write it."""
    stated = fact(release, "made")
    try:
        return stated and f"{datetime.fromisoformat(stated):%Y-%m-%d %H:%M %Z}".rstrip()
    except ValueError:
        return stated


def manifest_text(manifest: dict[str, Any]) -> str:
    """A manifest as indented JSON."""
    return to_json(manifest)


def without_seed(manifest: dict[str, Any]) -> dict[str, Any]:
    """The public manifest as it may be shown: whoever knows the seed can undo protective randomness."""
    return {key: value for key, value in manifest.items() if key != "seed"}
