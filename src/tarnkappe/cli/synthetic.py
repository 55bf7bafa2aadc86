"""What the commands do about made-up people."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.cli.bundles import HowToRun, Rows, bundle_wrote_rows, loaded, named, next_row, run_bundle

if TYPE_CHECKING:
    from tarnkappe.job.synthetic import SyntheticJob
    from tarnkappe.synthetic import SyntheticRelease


def run_about_synthetic(
    path: Path, data: str | None, output: str | None, settings: Iterable[str], how: HowToRun
) -> None:
    """``tarnkappe run`` for a job about made-up people."""
    from tarnkappe.job.synthetic import load_synthetic_job
    from tarnkappe.synthetic import run_synthetic, synthesize_in_memory

    job = loaded(load_synthetic_job, path, data, settings, how.seed)
    run_bundle(
        path,
        how,
        lambda progress: synthesize_in_memory(job, job.data.path, progress=progress, dry=True),
        lambda progress, own: run_synthetic(job, None, output, overwrite=how.overwrite, progress=progress, inputs=own),
        lambda release: _release_rows(job, release),
    )


def check_about_synthetic(path: Path, data: str | None, settings: Iterable[str], *, as_json: bool) -> None:
    """``tarnkappe check`` for a job about made-up people."""
    from tarnkappe.cli.progress import Working
    from tarnkappe.job.synthetic import load_synthetic_job
    from tarnkappe.synthetic.budget import Budget
    from tarnkappe.synthetic.fitting import columns_to_make, domains_of, open_people, read_people
    from tarnkappe.synthetic.guarding import refuse_names_of_people

    job = loaded(load_synthetic_job, path, data, settings)
    asked = job.synthetic
    with Working("read") as progress, named(path):
        progress("read")
        source = open_people(job, job.data.path)
        columns = columns_to_make(job, source)
        if not asked.is_mechanism:
            refuse_names_of_people(source, columns)
        domains = domains_of(read_people(source, columns, lenient=asked.is_mechanism), columns, asked)
        left = None if job.budget is None else job.budget.epsilon - Budget.of(job.budget).spent()
    if as_json:
        sizes = {d.name: d.size for d in domains}
        told = {"method": asked.method, "values": sizes, "budget_left": left}
        screen.print_json({"ok": True, "data": source.description, **told})
        return
    console = screen.stdout()
    rows = [
        ("Data", source.description),
        ("Columns", " · ".join(f"{d.name} ({screen.plural(d.size, 'value')})" for d in domains)),
        ("Method", _method(job)),
        *([] if left is None else [("Budget", f"{left:g} left of {job.budget.epsilon:g}" if job.budget else "")]),
        next_row(path, data),
    ]
    screen.rows(console, rows)
    screen.notices(console, job.notices())


def _method(job: SyntheticJob) -> str:
    from tarnkappe.job.synthetic import METHODS

    asked = job.synthetic
    return f"{asked.method} · " + " · ".join(f"{n} = {asked.setting(n)}" for n in METHODS[asked.method])


def _release_rows(job: SyntheticJob, release: SyntheticRelease) -> Rows:
    from tarnkappe.summary import verdict_words

    kept = release.private_manifest
    checked = "looked at the table in memory" if release.folder is None else "re-read what was written"
    made = release.public_manifest["tables"][0]["rows"]
    rows = [
        ("Data", str(kept["input"]["description"])),
        ("Method", _method(job)),
        ("Result", f"{screen.plural(made, 'made-up record')} for {screen.plural(kept['people'], 'real one')}"),
    ]
    if release.likeness is not None:
        alike = release.likeness
        words = f"columns off {screen.percent(alike.mean_column)} · pairs off {screen.percent(alike.mean_pair)}"
        rows.append(("Likeness", f"{words} · pMSE {alike.propensity.pmse:.4f}"))
    if release.exposure is not None:
        shown = release.exposure
        words = f"{screen.percent(shown.found)} of members found (1 % by guessing) · AUC {shown.auc:.3f}"
        rows.append(("Exposure", f"{words} · {screen.percent(shown.nearer)} nearer to those learnt from"))
    rows.append(("Verify", " ".join([checked, *(f"✓ {verdict_words(v)}" for v in release.verdicts)])))
    return [*rows, *bundle_wrote_rows(release)]
