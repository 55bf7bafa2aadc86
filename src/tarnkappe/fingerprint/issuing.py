"""Issuing: one verified release per recipient."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tarnkappe.algorithms.fulldomain.mingen import MinGen
from tarnkappe.boxes import Boxes
from tarnkappe.errors import DataError, JobError, RefusedError, VerificationError
from tarnkappe.fingerprint.keys import DatasetKey, Key, derived
from tarnkappe.fingerprint.planning import Planned
from tarnkappe.fingerprint.register import Register, recipient_name
from tarnkappe.fingerprint.scheme import Scheme
from tarnkappe.plan import Plan
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.release import Release

#: What a public manifest leaves out because copies would differ in it: anybody can count it in the table.
_DIFFERS = ("loss", "groups")


@dataclass(frozen=True, eq=False)
class Copy:
    """A copy that was issued."""

    recipient: str
    release: Release


def pattern_of(scheme: Scheme, key: DatasetKey, recipient: str, taken: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The pattern of a new recipient: of those that are free, the one that the key ranks first (rendezvous hashing).

    Who joins later changes nothing for those who have one.
    """
    if not scheme.patterns:
        return scheme.base
    free = sorted(set(scheme.patterns) - set(taken))
    if not free:
        raise JobError(
            "E110",
            f"all {len(scheme.patterns)} patterns are taken",
            hint="Plan with block marks, which carry any number of recipients:  --scheme marks",
        )
    return min(free, key=lambda p: derived(key.raw, "pattern", recipient, ",".join(map(str, p))))


def plan_of_copy(planned: Planned, key: DatasetKey, recipient: str, pattern: tuple[int, ...]) -> Plan:
    """The groups of a copy: those of the base, coarser where the recipient's bits say so. The goal is checked again."""
    base, scheme = planned.decided.plan, planned.scheme
    assert isinstance(base, Plan)
    bits = scheme.code(key).bits(recipient)
    node = scheme.nodes(pattern, planned.node, planned.group, bits)
    boxes = Boxes.of_nodes(node, base.tally.quasi_domains)
    grouping = replace(base.grouping, form=FixedBoxes(boxes), notes={})
    made = Plan.of(base.tally, base.goal, grouping, tuple(planned.decided.job.data.missing))
    if made.suppressed != base.suppressed:
        raise VerificationError(
            "E502",
            "a copy would leave out other records than the base",
            hint="This is a bug. Please report it.",
        )
    return made


def issue(
    planned: Planned,
    key: Key,
    recipient: str,
    folder: str | Path | None = None,
    *,
    register: Register | None = None,
    overwrite: bool = False,
) -> tuple[Copy, Register | None]:
    """Make the copy of a recipient, check it on the written file like any release, and enter it in the register.

    The same recipient gets the same bytes again. Nothing that goes with the table tells whose it is, or differs between
    copies unless the table does: all copies have the date of the plan.
    """
    recipient = recipient_name(recipient)
    if register is None:
        return _issued(planned, key, recipient, folder, None, overwrite)
    with register.alone() as held:
        return _issued(planned, key, recipient, folder, held, overwrite)


def _issued(
    planned: Planned, key: Key, recipient: str, folder: str | Path | None, register: Register | None, overwrite: bool
) -> tuple[Copy, Register | None]:
    scheme = planned.scheme
    own = scheme.key(key)
    known = register.find(scheme.dataset, recipient) if register else None
    if known is not None:
        pattern = known.pattern
    else:
        taken = [e.pattern for e in register.entries if e.dataset == scheme.dataset] if register else []
        pattern = pattern_of(scheme, own, recipient, taken)
    plan = plan_of_copy(planned, own, recipient, pattern)
    order = int.from_bytes(derived(own.raw, "order", recipient)[:8], "big")

    def told(release: Release) -> Release:
        facts = {k: v for k, v in release.public_manifest.items() if k not in _DIFFERS}
        facts["verdicts"] = [{**v, "reached": None} for v in facts["verdicts"]]
        return replace(release, public_manifest={**facts, "made": scheme.made}, is_copy=True)

    decided = planned.decided.regrouped(plan, MinGen())
    release = decided.publish(folder, copy=order, overwrite=overwrite, told=told)
    digest = str(release.public_manifest.get("sha256", ""))
    if register is not None:
        register = register.appended(recipient, scheme.dataset, digest, tuple(int(x) for x in np.array(pattern)))
    return Copy(recipient, release), register


def require_same_plan(planned: Planned, folder: Path, register: Path) -> None:
    """Copies that were issued can only be traced with their plan and key, so no other plan takes its place."""
    if not Register.open(register).entries:
        return
    try:
        kept = Scheme.load(folder)
    except DataError:  # it was lost: the same plan is wanted again
        return
    refused = RefusedError(
        "E601",
        "copies of another plan were issued from this folder, and could not be traced without it",
        where=str(folder),
        hint="Choose another folder.",
    )
    try:
        planned.as_kept(kept)
    except JobError:
        raise refused from None
    if planned.scheme.commitment != kept.commitment:  # another key
        raise refused
