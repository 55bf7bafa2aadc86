"""What the commands do about tables that belong together, whatever they are about."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tarnkappe.cli import screen
from tarnkappe.errors import JobError, TarnkappeError

if TYPE_CHECKING:
    from tarnkappe.bundle import Bundle
    from tarnkappe.bundling import BundleAudit
    from tarnkappe.cli.progress import Working
    from tarnkappe.release import Release

J = TypeVar("J")
B = TypeVar("B", bound="Bundle")

Rows = list[tuple[str, str]]

#: What is said of a dry run in place of what was written.
NOTHING_WRITTEN: Rows = [("Wrote", "nothing: this was a dry run")]


@dataclasses.dataclass(frozen=True)
class HowToRun:
    """How ``tarnkappe run`` is to go, whatever the job is about."""

    seed: int | None
    overwrite: bool
    dry_run: bool
    as_json: bool
    quiet: bool
    #: How progress is shown, as text or as lines of JSON.
    progress: str


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Let errors that know no place name the job file, and speak its language."""
    try:
        yield
    except TarnkappeError as error:
        error.where = error.where or str(path)
        error.in_job_file = True
        raise


def loaded(load: Callable[..., J], path: Path, data: str | None, settings: Iterable[str], seed: int | None = None) -> J:
    """The job in a file, with settings changed, and perhaps other data and another seed."""
    job: Any = load(path, settings)
    if data is not None:
        job = dataclasses.replace(job, data=dataclasses.replace(job.data, path=data))
    if seed is not None:
        job = dataclasses.replace(job, seed=seed)
    if job.data.path is None:
        raise JobError(
            "E103",
            "the job names no data file",
            where=str(path),
            hint=f"Add  data: {{path: DATA.csv}}  or give the file:  tarnkappe run {shlex.quote(str(path))} DATA.csv",
        )
    found: J = job
    return found


def run_bundle(
    path: Path,
    how: HowToRun,
    dry: Callable[[Working], B],
    write: Callable[[Working, list[Path]], B],
    rows: Callable[[B], Rows],
    told: Callable[[B], Mapping[str, Any]] = lambda _: {},
) -> None:
    """Make a release, in memory only or not, and show what came of it; `write` gets files that it must not replace."""
    from tarnkappe.cli.progress import Working
    from tarnkappe.io.folders import ReleaseFolder

    with Working(quiet=how.quiet, style=how.progress) as progress, named(path):
        release = dry(progress) if how.dry_run else write(progress, [] if ReleaseFolder.keeps(path) else [path])
    if how.as_json:
        screen.print_json({**release.as_dict(), **told(release), "dry_run": how.dry_run})
    elif not how.quiet:
        console = screen.stdout()
        screen.rows(console, rows(release))
        screen.notices(console, release.notices)


def next_row(path: Path, data: str | None) -> tuple[str, str]:
    """What comes after a check."""
    return "Next", shlex.join(["tarnkappe", "run", screen.shown_path(path), *([data] if data else [])])


def show_release(release: Release, *, dry_run: bool, before: Rows | None = None) -> None:
    """What a release of records came to, on the screen; `before` is said first."""
    from tarnkappe.summary import release_rows, wrote_rows

    console = screen.stdout()
    screen.rows(console, [*(before or []), *release_rows(release)])
    screen.rows(console, NOTHING_WRITTEN if dry_run else wrote_rows(release))
    screen.notices(console, release.notices)


def bundle_wrote_rows(release: Bundle) -> Rows:
    """Where a bundle went, and which files it has."""
    from tarnkappe.io.folders import JOB, MANIFEST, PRIVATE, PUBLIC, REPORT

    if release.folder is None:
        return NOTHING_WRITTEN
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


def kept_and_signed(signed: bool, unseen: str = "") -> str:
    """The verdict about a release that keeps its promise, as far as any file can show it."""
    kept = "the file keeps all of the promise that can be checked" if unseen else "the file keeps the promise"
    return f"✓ {kept}" if signed else f"✗ {kept}, but the signature is not that of this key, or is missing"


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
    rows += [("Unchecked", f"? {found.unseen}")] if found.unseen else []
    verdict = kept_and_signed(signed, found.unseen) if found.ok else "✗ the file does NOT keep the promise"
    return [*rows, ("Verdict", verdict)]
