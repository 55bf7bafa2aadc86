"""What the commands do about sets of items."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.cli.bundles import HowToRun, Rows, bundle_wrote_rows, loaded, named, next_row, run_bundle

if TYPE_CHECKING:
    from tarnkappe.baskets import ItemsRelease
    from tarnkappe.job.items import ItemsJob


def run_about_items(path: Path, data: str | None, output: str | None, settings: Iterable[str], how: HowToRun) -> None:
    """``tarnkappe run`` for a job about sets of items."""
    from tarnkappe.baskets.anonymize import anonymize_in_memory, run_items
    from tarnkappe.job.items import load_items_job

    job = loaded(load_items_job, path, data, settings, how.seed)
    run_bundle(
        path,
        how,
        lambda progress: anonymize_in_memory(job, job.data.path, progress=progress),
        lambda progress, own: run_items(job, None, output, overwrite=how.overwrite, progress=progress, inputs=own),
        lambda release: _release_rows(job, release),
    )


def check_about_items(path: Path, data: str | None, settings: Iterable[str], *, as_json: bool) -> None:
    """``tarnkappe check`` for a job about sets of items."""
    import polars as pl

    from tarnkappe.baskets.reading import encoded, read_sets
    from tarnkappe.baskets.recount import recount
    from tarnkappe.cli.progress import Working
    from tarnkappe.io import open_source
    from tarnkappe.job.items import load_items_job

    job = loaded(load_items_job, path, data, settings)
    with Working("read") as progress, named(path):
        progress("read")
        source = open_source(job.data.path or "", job.data.dialect, job.data.missing)
        sets = read_sets(source, job.items)
        encoded(sets, job.items, source)
        found = recount(sets.labelled(pl.Series(sets.texts)), job.items.k, job.items.m)
    n_items = len(sets.texts)
    if as_json:
        told = {"persons": sets.n, "items": n_items, "rare_sets": found.rare, "smallest": found.smallest}
        screen.print_json({"ok": True, "data": source.description, **told})
        return
    rare = screen.plural(found.rare, "set")
    console = screen.stdout()
    screen.rows(
        console,
        [
            ("Data", source.description),
            ("Sets", f"{screen.plural(sets.n, 'person')} · {screen.plural(n_items, 'different item')}"),
            ("Goal", job.items.asked),
            ("Before", f"{rare} of up to {job.items.m} items have fewer than {job.items.k} persons"),
            ("Algorithm", job.items.algorithm),
            next_row(path, data),
        ],
    )
    screen.notices(console, job.notices())


def _release_rows(job: ItemsJob, release: ItemsRelease) -> Rows:
    from tarnkappe.summary import verdict_words

    kept = release.private_manifest
    persons = f"{screen.plural(kept['persons'], 'person')} · {screen.plural(kept['items_before'], 'different item')}"
    checked = "re-counted the tables in memory" if release.folder is None else "re-read what was written"
    verdicts = [f"✓ {verdict_words(v)}" for v in release.verdicts]
    rows = [
        ("Data", str(kept["input"]["description"])),
        ("Sets", persons),
        ("Goal", job.items.asked),
        ("Result", f"{job.items.algorithm} · detail kept {screen.percent(1 - release.loss)}{_removed(kept)}"),
        ("Verify", " ".join([checked, *verdicts, "✓ every set true of a person"])),
    ]
    return [*rows, *bundle_wrote_rows(release)]


def _removed(kept: dict[str, int]) -> str:
    n = kept.get("items_removed", 0)
    return f" · {screen.plural(n, 'item')} removed" if n else ""
