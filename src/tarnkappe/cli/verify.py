"""``tarnkappe verify``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import (
    AsJson,
    Debug,
    Quasi,
    Sensitive,
    Settings,
    complete_criteria,
    path_or_address,
    split_names,
)
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.audited import Audit
    from tarnkappe.criteria import Criterion

#: How many groups that break a criterion are listed if nobody says how many; their values are not shown then.
_USUAL_GROUPS = 3


def verify(
    file: Annotated[
        Any,
        typer.Argument(
            help="The file to check, ours or not, a release folder, or DATABASE#TABLE.",
            metavar="FILE",
            parser=path_or_address,
            show_default=False,
        ),
    ],
    job: Annotated[
        Path | None,
        typer.Option("--job", help="Take criteria and roles from this job file.", readable=False, show_default=False),
    ] = None,
    quasi: Quasi = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, metavar="K", help="Ask for k-anonymity with this k.", show_default=False)
    ] = None,
    l: Annotated[  # noqa: E741
        int | None,
        typer.Option(
            "--l", min=1, metavar="L", help="Ask for l-diversity of each --sensitive column.", show_default=False
        ),
    ] = None,
    t: Annotated[
        float | None,
        typer.Option(
            "--t", min=0, max=1, metavar="T", help="Ask for t-closeness of each --sensitive column.", show_default=False
        ),
    ] = None,
    sensitive: Sensitive = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            metavar="NAME:KEY=VALUE,…",
            help="Any other criterion, such as alpha-k-anonymity:column=illness,alpha=0.5,k=4.",
            autocompletion=complete_criteria,
            show_default=False,
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option("--delimiter", metavar="SIGN", help="Sign between fields; detected if not given."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="Text encoding; detected if not given."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option("--missing", metavar="RULE", help="own-value: an empty cell is a value. wildcard: it may be any."),
    ] = "own-value",
    suppressed: Annotated[
        str | None,
        typer.Option(
            "--suppressed",
            metavar="TEXT",
            help="Leave out rows with this text, such as *, in every quasi-identifier; otherwise they are a group.",
            show_default=False,
        ),
    ] = None,
    witness: Annotated[
        Path | None,
        typer.Option(
            "--witness",
            metavar="FILE",
            help="Columns that are not published, or as they were before, row by row as in FILE.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        int | None,
        typer.Option("--show", min=0, metavar="N", help="Show the N worst groups with their values."),
    ] = None,
    signed_by: Annotated[
        Path | None,
        typer.Option(
            "--signed-by",
            metavar="FILE.pub",
            help="The release must be signed by the owner of this public key.",
            readable=False,
            show_default=False,
        ),
    ] = None,
    standalone: Annotated[
        bool,
        typer.Option(
            "--standalone",
            metavar="",
            help="Put check_release.py beside the tables: a checker that needs nothing but Python.",
        ),
    ] = False,
    settings: Settings = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Check independently whether a file keeps a promise: exit code 0 if it does, 5 if not.

    Criteria come from a job file, from the command line, or from the manifest.json beside the file. If there is a
    manifest, the file must also be the one it describes. Criteria about people, or about a public table, can only be
    checked with the private folder of the release; of a folder it is used. With --quasi and no criterion nothing is
    asked: it says which k, l and t the file reaches.

    [bold]Example:[/bold]  tarnkappe verify census.csv --quasi age,sex --k 5 --l 3 --sensitive illness
    """
    from tarnkappe.audit import audit, columns_of
    from tarnkappe.audited import Reading
    from tarnkappe.cli.bundles import verify_bundle
    from tarnkappe.cli.progress import Working
    from tarnkappe.io import CsvDialect
    from tarnkappe.schema import MISSING_RULES

    if missing not in MISSING_RULES:
        raise JobError("E108", f"--missing must be one of {', '.join(MISSING_RULES)}", hint="--missing own-value")
    reading = Reading(CsvDialect(delimiter=delimiter, encoding=encoding), missing, suppressed)  # type: ignore[arg-type]
    if job is not None and (quasi or criterion or sensitive or any(x is not None for x in (k, l, t))):
        raise JobError(
            "E108", "--job says what to check; it excludes --quasi and criteria", hint="tarnkappe verify --help"
        )
    if settings and job is None:
        raise JobError("E108", "--set changes a setting of a job, so it needs --job", hint="tarnkappe verify --help")
    signed = _Signed.of(file, signed_by)
    added = _checker_beside(file) if standalone else []
    if isinstance(file, Path) and job is None and not (quasi or criterion) and k is None and l is None and t is None:
        kept = verify_bundle(file, signed.facts, [*signed.rows, *added], signed=signed.ok, as_json=as_json)
        if kept is not None:
            raise typer.Exit(0 if kept else 5)
    with Working("verify") as progress:
        progress("verify")
        names, secret = [], []
        if quasi or sensitive:
            known = columns_of(file, reading)
            names, secret = split_names(quasi, known), split_names(sensitive, known)
        criteria = _criteria(k, l, t, secret, criterion or [])
        found = audit(
            file,
            job=job,
            quasi=names,
            criteria=criteria,
            sensitive=secret,
            settings=settings or (),
            reading=reading,
            witness=witness,
        )
    if as_json:
        worst = [asdict(v) for v in found.worst_groups(show)] if show else []
        listed = {"violations" if found.asks else "worst_groups": worst} if show is not None else {}
        screen.print_json({**found.as_dict(), **signed.facts, **listed, "ok": found.ok and signed.ok})
    else:
        screen.rows(screen.stdout(), [*signed.rows, *added, *_rows(found, show, signed.ok)])
    raise typer.Exit(0 if found.ok and signed.ok else 5)


#: What is said if a signature does not vouch for what is checked.
_UNSIGNED = {
    "absent": "is not signed",
    "not valid": "was changed, or signed by somebody else",
    "of other tables": "is signed, but the tables are not those that it describes",
}


@dataclass(frozen=True)
class _Signed:
    """What is said about the signature of a release, if anybody asked."""

    ok: bool = True
    rows: tuple[tuple[str, str], ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, file: Path, key: Path | None) -> _Signed:
        if key is None:
            return cls()
        _require_folder(file, "--signed-by")
        from tarnkappe.certificate import signature_of

        found = signature_of(file, key)
        said = f"✓ manifest.json was signed by the owner of {key.name}"
        if found != "valid":
            said = f"✗ manifest.json {_UNSIGNED[found]}"
        return cls(found == "valid", (("Signature", said),), {"signature": found})


def _require_folder(file: object, option: str) -> None:
    if not isinstance(file, Path):
        raise JobError("E108", f"{option} is about a release folder, not about a table", hint="tarnkappe verify FOLDER")


def _checker_beside(file: Path) -> list[tuple[str, str]]:
    """Write the checker that needs no Tarnkappe into a release, and say how it is called."""
    from tarnkappe.certificate import add_checker

    _require_folder(file, "--standalone")
    path = add_checker(file)
    return [("Wrote", f"{screen.shown_path(path)}   (to check without Tarnkappe:  python3 {path.name})")]


def _criteria(
    k: int | None,
    l: int | None,  # noqa: E741
    t: float | None,
    sensitive: list[str],
    others: list[str],
) -> list[Criterion]:
    """What is asked for on the command line."""
    from tarnkappe.audit import criterion_from
    from tarnkappe.criteria.k_anonymity import KAnonymity
    from tarnkappe.criteria.l_diversity import LDiversity
    from tarnkappe.criteria.t_closeness import TCloseness

    asked = "--l" if l is not None else "--t"
    if (l is not None or t is not None) and not sensitive:
        raise JobError("E108", f"{asked} needs --sensitive", hint="--sensitive illness   (the column to protect)")
    out: list[Criterion] = [] if k is None else [KAnonymity(k)]
    out += [] if l is None else [LDiversity(column, l=l) for column in sensitive]
    out += [] if t is None else [TCloseness(column, t=t) for column in sensitive]
    return out + [criterion_from(text) for text in others]


def _rows(found: Audit, show: int | None, signed: bool) -> list[tuple[str, str]]:
    from tarnkappe.cli.bundles import kept_and_signed

    counted = found.found
    rows = [
        ("File", found.description),
        ("Grouped by", ", ".join(found.quasi)),
        ("Groups", f"{screen.plural(len(counted.sizes), 'group')} · smallest {screen.count(found.smallest_group)}"),
        *_rules(found),
    ]
    if not found.asks:
        reached = " · ".join(f"{what} = {screen.figure(level)}" for what, level in found.reached.items())
        command = f"tarnkappe verify {shlex.quote(found.file)} --quasi {shlex.quote(','.join(found.quasi))} --k 5"
        worst = _worst(found, show) if show else []
        return [*rows, ("Reached", reached), *worst, ("Verdict", f"nothing was asked; to ask:  {command}")]
    rows.append(("Criteria", f"from {found.origin}"))
    for v in counted.verdicts:
        on = f" ({v.column})" if v.column else ""
        broken = "" if v.ok else f" · {screen.plural(v.violating_groups, 'group violates', 'groups violate')} it"
        rows.append(("", f"{'✓' if v.ok else '✗'} {v.asked}{on} · reached {screen.figure(v.reached)}{broken}"))
    rows += [("", f"? {c.asked} · cannot be checked without {what}") for c, what in found.unchecked]
    rows += _worst(found, _USUAL_GROUPS if show is None else show, labelled=show is not None)
    if found.same_as_manifest is not None:
        says = "✓ is that of" if found.same_as_manifest else "✗ is not that of"
        changed = "" if found.same_as_manifest else ": the file was changed"
        rows.append(("SHA-256", f"{says} manifest.json{changed}"))
    unclear = "? the promise is only checked in part: check the release folder, with its private folder"
    verdict = kept_and_signed(signed) if found.ok else "✗ the file does NOT keep the promise"
    return [*rows, ("Verdict", verdict if found.ok or found.is_broken else unclear)]


def _rules(found: Audit) -> list[tuple[str, str]]:
    """What empty and suppressed cells were taken for, where there are any."""
    rows = []
    if found.reading.missing_rule == "wildcard":
        rows.append(("Missing", "an empty cell may be any value: a group is everybody who could have its values"))
    if found.reading.suppressed is not None:
        gone = screen.plural(found.found.n_suppressed, "row")
        rows.append(("Suppressed", f"{gone} of nothing but {found.reading.suppressed}: left out, as if removed"))
    elif found.n_starred:
        stars = screen.plural(found.n_starred, "row")
        rule = 'a group like any other   (--suppressed "*"  leaves it out)'
        rows.append(("Suppressed", f"{stars} of nothing but *: {rule}"))
    return rows


def _worst(found: Audit, most: int, labelled: bool = True) -> list[tuple[str, str]]:
    """The worst groups; what they publish is only shown on request."""
    rows = []
    for v in found.worst_groups(most):
        on = f" ({v.column})" if v.column else ""
        labels = " · ".join(f"{name}: {'(empty)' if text is None else text}" for name, text in v.labels.items())
        shown = f" · {labels}" if labelled else ""
        size = screen.plural(v.records, "record")
        rows.append(("", f"{size} with {v.criterion}{on} at {screen.figure(v.reached)}{shown}"))
    if not rows:
        return []
    more = [] if labelled else [("", "--show N  lists N groups of each criterion with their values")]
    return [("Worst", rows[0][1]), *rows[1:], *more]
