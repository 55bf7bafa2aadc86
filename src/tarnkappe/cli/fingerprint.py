"""``tarnkappe fingerprint``: traceable copies."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.copies import (
    HOW_TO_PROVE,
    folders_of,
    json_object,
    key_or_proof,
    labels_in,
    planned_copies,
    refuse_existing,
    write_patterns,
    writing,
)
from tarnkappe.cli.options import AsJson, Debug, JobFile, MaybeData, Overwrite, Settings
from tarnkappe.errors import JobError

app = typer.Typer(rich_markup_mode="rich")

#: The register of a plan, unless another file is named.
_REGISTER = "register.jsonl"


_KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key", metavar="FILE", help="The key file; otherwise TARNKAPPE_KEY.", readable=False, show_default=False
    ),
]
_PlanFolder = Annotated[
    Path, typer.Option("--plan", metavar="FOLDER", help="The folder of the plan.", readable=False, show_default=False)
]
_Report = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Write a page to print.", show_default=False)
]


@app.callback(invoke_without_command=True)
def start(ctx: typer.Context) -> None:
    """Give every recipient a copy of their own, and find out whose copy leaked.

    [bold]Example:[/bold]  tarnkappe fingerprint plan census.yaml --recipients 5 --new-key census.key -o plan
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def plan(
    job: JobFile,
    data: MaybeData = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Keep the plan here.", show_default=False)
    ] = None,
    recipients: Annotated[int, typer.Option("--recipients", metavar="N", help="How many to tell apart.")] = 100,
    colluders: Annotated[int, typer.Option("--colluders", metavar="N", help="How many may pool their copies.")] = 2,
    alpha: Annotated[
        float, typer.Option("--alpha", metavar="P", help="Largest probability to accuse anybody innocent.")
    ] = 0.001,
    kind: Annotated[str, typer.Option("--scheme", metavar="NAME", help="marks, patterns or both.")] = "marks",
    select: Annotated[
        str, typer.Option("--select", metavar="NAME", help="Which patterns: frameproof, exact or genetic (the poster).")
    ] = "frameproof",
    key: _KeyFile = None,
    new_key: Annotated[
        Path | None,
        typer.Option("--new-key", metavar="FILE", help="Draw a key and keep it here.", show_default=False),
    ] = None,
    patterns: Annotated[
        Path | None,
        typer.Option("--patterns", metavar="FILE", help="Write all patterns that satisfy the goal, as CSV."),
    ] = None,
    n_clusters: Annotated[
        int, typer.Option("--clusters", min=1, metavar="N", help="Clusters of equally good patterns in that file.")
    ] = 10,
    settings: Settings = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Choose what all copies share and where marks go; say what the data can carry.

    Nothing is shared yet. Publish the commitment: it proves later that the key was there before the copies.

    [bold]Example:[/bold]  tarnkappe fingerprint plan census.yaml --recipients 5 --new-key census.key -o plan
    """
    from tarnkappe.fingerprint.issuing import require_same_plan
    from tarnkappe.fingerprint.keys import Key
    from tarnkappe.fingerprint.promises import survival, survival_statements

    if new_key is not None and key is not None:
        raise JobError("E108", "--key and --new-key exclude each other", hint="--key FILE")
    secret = Key.new() if new_key is not None else Key.load(key)
    planned = planned_copies(job, data, settings, secret, recipients, colluders, alpha, kind, select)
    if output is not None:
        require_same_plan(planned, output, output / _REGISTER)
    if new_key is not None:
        with writing(new_key):
            secret.save(new_key)
    scheme = planned.scheme
    if patterns is not None:
        write_patterns(planned, patterns, n_clusters)
    if output is not None:
        with writing(output):
            scheme.save(output)
    outcomes = survival(scheme, secret)
    told = {
        "base": list(scheme.base),
        "patterns": [list(p) for p in scheme.patterns],
        "positions": scheme.layout.n_positions,
        "blocks": scheme.layout.n_blocks,
        "colluders_carried": planned.carried,
        "loss_of_base": planned.loss,
        "loss_of_marks": planned.extra_loss,
        "suppressed": planned.decided.plan.suppressed,
        "dataset": scheme.dataset,
        "commitment": scheme.commitment,
        "statements": [*planned.statements, *survival_statements(outcomes)],
        "survival": [asdict(o) for o in outcomes],
    }
    if as_json:
        screen.print_json(told)
        return
    rows = [
        (
            "Algorithm",
            "one level per column for all records, whatever the job's algorithm; copies differ by levels",
        ),
        ("Base", " · ".join(f"{n} {x}" for n, x in zip(scheme.columns.names, scheme.base, strict=True))),
        ("Loss", f"{screen.percent(planned.loss)}, and {screen.percent(planned.extra_loss)} more for marks"),
        ("Suppressed", f"{screen.plural(planned.decided.plan.suppressed, 'record')}, the same in all copies"),
        *(("" if i else "Promise", line) for i, line in enumerate(planned.statements)),
        *(("" if i else "Measured", line) for i, line in enumerate(survival_statements(outcomes))),
        ("Commitment", scheme.commitment),
        ("Wrote", "nothing: give --output" if output is None else screen.shown_path(output)),
    ]
    if output is not None:
        kept = new_key or key
        words = ["tarnkappe", "fingerprint", "issue", screen.shown_path(job), *([data] if data else [])]
        words += ["--plan", screen.shown_path(output), *(["--key", screen.shown_path(kept)] if kept else [])]
        rows.append(("Next", f"{shlex.join(words)} --to NAME -o copies"))
    screen.rows(screen.stdout(), rows)


@app.command()
def issue(
    job: JobFile,
    plan_folder: _PlanFolder,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="A folder for the copies.")],
    to: Annotated[list[str], typer.Option("--to", metavar="NAME", help="A recipient; may be repeated.")],
    data: MaybeData = None,
    key: _KeyFile = None,
    settings: Settings = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Write the copies of recipients, each verified on its file like any release, and enter them in the register.

    [bold]Example:[/bold]  tarnkappe fingerprint issue census.yaml --plan plan --key census.key --to "St Mary" -o copies
    """
    from tarnkappe.fingerprint.issuing import issue as issue_copy
    from tarnkappe.fingerprint.keys import Key
    from tarnkappe.fingerprint.register import Register, recipient_name
    from tarnkappe.fingerprint.scheme import Scheme

    secret, scheme = Key.load(key), Scheme.load(plan_folder)
    scheme.key(secret)
    kind = "marks" if not scheme.patterns else "both" if scheme.layout.n_positions else "patterns"
    wanted = (scheme.recipients, scheme.colluders, scheme.alpha, kind)
    planned = planned_copies(job, data, settings, secret, *wanted, kept=scheme)
    planned = planned.as_kept(scheme)
    register = Register.open(plan_folder / _REGISTER)
    wrote = []
    names = list(dict.fromkeys(map(recipient_name, to)))
    folders = {name: output / own for name, own in folders_of([*register.recipients(scheme.dataset), *names]).items()}
    for name in names:
        refuse_existing(folders[name], overwrite)  # before the first copy is made
    for name in names:
        folder = folders[name]
        copy, entered = issue_copy(planned, secret, name, folder, register=register, overwrite=overwrite)
        assert entered is not None
        register = entered
        wrote.append({"recipient": name, "folder": str(folder), "sha256": copy.release.public_manifest["sha256"]})
    if as_json:
        screen.print_json({"copies": wrote, "register": register.head})
        return
    rows = [(c["recipient"], f"{screen.shown_path(Path(c['folder']))} · verified") for c in wrote]
    screen.rows(screen.stdout(), [*rows, ("Register", register.head)])


@app.command()
def trace(
    leak: Annotated[Path, typer.Argument(help="The leaked table.", metavar="LEAK", readable=False)],
    plan_folder: _PlanFolder,
    key: _KeyFile = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="JSON: what renamed labels stand for.", show_default=False),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", metavar="P", help="Another risk than the plan's.", show_default=False)
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option("--proof", metavar="FILE", help="Instead of the key: a proof of ownership.", show_default=False),
    ] = None,
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="HEX", help="Insist on the register with this head.", show_default=False),
    ] = None,
    report: _Report = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Find out whose copy a leak was made of: suspects with probabilities, or no accusation.

    A third party does the same with a proof in place of the key, and gets the same figures.

    [bold]Example:[/bold]  tarnkappe fingerprint trace leak.csv --plan plan --key census.key --report trace.html
    """
    from tarnkappe.fingerprint.register import Register
    from tarnkappe.fingerprint.scheme import Scheme
    from tarnkappe.fingerprint.trace_page import chance, trace_page
    from tarnkappe.fingerprint.tracing import trace as trace_leak

    scheme, register = Scheme.load(plan_folder), Register.open(plan_folder / _REGISTER)
    if head is not None:
        register.require_head(head)
    found = trace_leak(
        leak,
        scheme,
        key_or_proof(key, proof, scheme),
        register,
        labels=labels_in(labels),
        alpha=alpha,
    )
    if report is not None:
        with writing(report):
            made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
            digest = ""
            if leak.is_file():
                with leak.open("rb") as file:
                    digest = file_digest(file, "sha256").hexdigest()
            page = trace_page(found, scheme, register, leak.name, sha256=digest, made=made)
            report.write_text(page, encoding="utf-8")
    if as_json:
        screen.print_json(found.as_dict())
        return
    rows = [
        ("Leak", screen.plural(found.evidence.n_rows, "row")),
        ("Read", f"marks at {found.evidence.read} of {scheme.layout.n_positions} positions"),
    ]
    for s in found.suspects[:5]:
        verdict = "✗ accused" if s.accused else "not accused"
        rows.append((s.recipient, f"{verdict} · {s.agree} of {s.clear} marks agree · by chance: {chance(s.p_value)}"))
    if found.fitting is not None:
        rows.append(("Pattern", f"fits {', '.join(found.fitting) or 'nobody: several copies'} · no proof by itself"))
        rows += [("", f"possible together: {' and '.join(c)}") for c in found.coalitions[:5]]
    rows.append(("Verdict", found.verdict))
    if report is not None:
        rows.append(("Wrote", screen.shown_path(report)))
    screen.rows(screen.stdout(), rows)


@app.command()
def prove(
    plan_folder: _PlanFolder,
    key: _KeyFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the proof here.", show_default=False)
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check", metavar="FILE", help="Check this proof instead.", show_default=False)
    ] = None,
    commitment: Annotated[
        str | None,
        typer.Option("--commitment", metavar="HEX", help="What was published before the copies.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Open the commitment of a plan, or check that a proof opens the one that was published.

    A proof reveals the key of this data set only; whoever has it can compute all its marks. It is for a court.

    [bold]Example:[/bold]  tarnkappe fingerprint prove --plan plan --key census.key -o proof.json
    """
    from tarnkappe.fingerprint.keys import Key
    from tarnkappe.fingerprint.proof import check_proof
    from tarnkappe.fingerprint.proof import prove as make_proof
    from tarnkappe.fingerprint.scheme import Scheme
    from tarnkappe.plain_json import to_json

    scheme = Scheme.load(plan_folder)
    if check is not None:
        key_found = check_proof(
            json_object(check, HOW_TO_PROVE) or {},
            commitment or scheme.commitment,
        )
        told = {"ok": True, "dataset": key_found.dataset}
        if as_json:
            screen.print_json(told)
        else:
            screen.rows(screen.stdout(), [("Verdict", "✓ the proof opens the commitment"), ("Data", key_found.dataset)])
        return
    if output is None:
        raise JobError("E108", "a proof is a secret and needs a file", hint="--output proof.json")
    proof = to_json(make_proof(scheme, Key.load(key))) + "\n"
    with writing(output):
        output.touch(mode=0o600)
        output.write_text(proof, encoding="utf-8")
    if as_json:
        screen.print_json({"proof": str(output), "commitment": scheme.commitment})
    else:
        screen.rows(screen.stdout(), [("Wrote", screen.shown_path(output)), ("Opens", scheme.commitment)])


@app.command()
def attack(
    plan_folder: _PlanFolder,
    key: _KeyFile = None,
    runs: Annotated[int, typer.Option("--runs", min=1, metavar="N", help="Leaks for each attack and strength.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Makes the figures repeatable.")] = 0,
    report: _Report = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Attack imagined copies in memory: what is traced, who is falsely accused, what is left to the attacker.

    [bold]Example:[/bold]  tarnkappe fingerprint attack --plan plan --key census.key --report attacks.html
    """
    from tarnkappe.fingerprint.keys import Key
    from tarnkappe.fingerprint.page import attack_page
    from tarnkappe.fingerprint.promises import bench_of
    from tarnkappe.fingerprint.scheme import Scheme

    scheme = Scheme.load(plan_folder)
    outcomes = bench_of(scheme, Key.load(key), seed=seed, runs=runs)
    if report is not None:
        with writing(report):
            report.write_text(attack_page(outcomes, scheme), encoding="utf-8")
    if as_json:
        screen.print_json({"outcomes": [asdict(o) for o in outcomes]})
        return
    rows = [
        (
            o.title,
            f"{o.strength:g} · traced {screen.percent(o.traced_share)} · false accusations {o.falsely_accused} of "
            f"{o.runs} · detail left {screen.percent(o.detail_left)}",
        )
        for o in outcomes
    ]
    screen.rows(screen.stdout(), rows)
