"""What the commands do about tables that belong together, whatever they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.errors import TarnkappeError

if TYPE_CHECKING:
    from tarnkappe.bundle import Bundle
    from tarnkappe.bundling import BundleAudit


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Let errors that know no place name the job file, and speak its language."""
    try:
        yield
    except TarnkappeError as error:
        error.where = error.where or str(path)
        error.in_job_file = True
        raise


def bundle_wrote_rows(release: Bundle) -> list[tuple[str, str]]:
    """Where a bundle went, and which files it has."""
    from tarnkappe.io.folders import JOB, MANIFEST, PRIVATE, PUBLIC, REPORT

    if release.folder is None:
        return [("Wrote", "nothing: this was a dry run")]
    told = release.public_manifest
    files = [*(t["file"] for t in told["tables"]), *([told["codebook"]] if "codebook" in told else [])]
    shown = [f"{screen.shown_path(release.folder / part)}/" for part in (PUBLIC, PRIVATE)]
    return [
        ("Wrote", f"{shown[0]} (may be shared): {', '.join([*files, MANIFEST, REPORT])}"),
        ("", f"{shown[1]} (stays with you): {JOB}, {MANIFEST}, {REPORT}"),
    ]


def verify_bundle(
    path: Path, facts: Mapping[str, str], rows: Iterable[tuple[str, str]], *, signed: bool, as_json: bool
) -> bool | None:
    """``tarnkappe verify`` for tables that belong together, after what was found beside them; whether all is well.

    `signed` says whether the signature is valid, if one was asked for. None if they are something else.
    """
    from tarnkappe.bundles import audit_bundle, is_bundle
    from tarnkappe.cli.progress import Working

    if not is_bundle(path):
        return None
    with Working("verify") as progress:
        progress("verify")
        found = audit_bundle(path)
    if found is None:
        return None
    if as_json:
        screen.print_json({**found.as_dict(), **facts, "ok": found.ok and signed})
    else:
        screen.rows(screen.stdout(), [*rows, *_audit_rows(found, signed)])
    return found.ok and signed


def kept_and_signed(signed: bool) -> str:
    """The verdict about a release that keeps its promise."""
    return "✓ the file keeps the promise" if signed else "✗ the file keeps the promise, but not the signature"


def _audit_rows(found: BundleAudit, signed: bool) -> list[tuple[str, str]]:
    rows = [("File", found.description), ("Criteria", "from manifest.json")]
    for v in found.found.verdicts:
        violating = screen.plural(v.violating_groups, f"{found.unit} violates", f"{found.unit}s violate")
        broken = "" if v.ok else f" · {violating} it"
        on = f" ({v.column})" if v.column else ""
        rows.append(("", f"{'✓' if v.ok else '✗'} {v.asked}{on} · reached {screen.figure(v.reached)}{broken}"))
    rows += [("", f"✗ {problem}") for problem in found.found.problems]
    same = found.same_as_manifest
    rows.append(
        ("SHA-256", "✓ is that of manifest.json" if same else "✗ is not that of manifest.json: a file was changed")
    )
    rows.append(("Verdict", kept_and_signed(signed) if found.ok else "✗ the file does NOT keep the promise"))
    return rows
