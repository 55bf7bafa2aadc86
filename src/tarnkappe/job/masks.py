"""The masks of a job: which columns are changed, and which may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tarnkappe.engines.settings import EngineSettings
from tarnkappe.errors import JobError, Notice, did_you_mean
from tarnkappe.fixes import Fix, role, say, setting
from tarnkappe.goal import Goal
from tarnkappe.job.given import refused, shown
from tarnkappe.job.text import PlacedDict
from tarnkappe.masks import Mask, mask_class
from tarnkappe.masks.linkage import MaxLinkage
from tarnkappe.masks.pseudonyms import Pseudonyms
from tarnkappe.params import bind, json_schema, place
from tarnkappe.schema import Column

MASK_FIX = Fix("- rounding: {column: income, base: 100}", 'masks=[Rounding("income", base=100)]')

#: Why a pseudonym may be published, in the report.
PSEUDONYM = "a keyed pseudonym stands in its place; only the holder of the key can connect it with a person"


def masks_of(given: Any) -> tuple[Mask, ...]:
    """The masks of a job: several, or one."""
    several = given if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)) else (given,)
    out = []
    for item in several:
        if not isinstance(item, Mask):
            raise refused(f"'masks' must be masks, got {shown(item)}", MASK_FIX)
        out.append(item)
    return tuple(out)


def mask_from(item: Any, raw: Mapping[str, Any], folder: Path) -> Mask:
    """An entry of the section ``masks`` of a job file; files that it names are relative to `folder`."""
    where = place(item) if isinstance(item, Mapping) else place(raw, "masks")
    if not isinstance(item, Mapping) or len(item) != 1:
        raise JobError("E110", "a mask is one name with its parameters", where=where, hint=MASK_FIX)
    ((name, body),) = item.items()
    body = PlacedDict(where or "") if body is None else body
    if not isinstance(body, Mapping):
        raise JobError("E110", f"mask '{name}' needs a mapping of parameters", where=where, hint=MASK_FIX)
    try:
        made = bind(mask_class(name, place(item, name)), body, f"mask '{name}'")
    except JobError as error:
        error.where = error.where or where
        raise
    files = {key: str(folder / getattr(made, key)) for key in made.secrets if getattr(made, key) is not None}
    return replace(made, **files)


def mask_data(mask: Mask, folder: Path | None) -> dict[str, Any]:
    """A mask as it is written in a job file that lies in a folder."""
    from tarnkappe.job.sections import changed, relative

    settings = changed(mask)
    settings |= {key: relative(settings[key], folder) for key in mask.secrets if key in settings}
    return {mask.name: settings}


def require_maskable(masks: Iterable[Mask], columns: Iterable[Column], *, complete: bool, grouping: bool) -> None:
    """Refuse masks of columns that must not be changed, or that something else changes already.

    In a job that forms groups (`grouping`), quasi-identifiers are what groups are formed by: a changed value there
    would be presented as k-anonymous, and is not.
    """
    known, taken, masks = {c.name: c for c in columns}, set[str](), tuple(masks)
    for mask in masks:
        for name in (*mask.changes, *mask.looks_at):
            if name not in known and complete:
                hint = f"Columns: {', '.join(known)}."
                raise JobError(
                    "E105", f"{mask.name} names '{name}', which has no role{did_you_mean(name, known)}", hint=hint
                )
        for name in mask.changes:
            if name in taken:
                hint = f"Leave '{name}' out of one of them."
                raise JobError("E110", f"two masks change '{name}', and only one can say what it keeps", hint=hint)
            taken.add(name)
            if name in known:
                _require_role(mask, known[name], grouping=grouping)
    for mask in masks:
        for name in (name for name in mask.compares_with if name in taken):
            what = f"{mask.name} keeps figures over '{name}', which a mask changes"
            raise JobError("E110", what, hint=f"Leave '{name}' out of one of them.")


def _require_role(mask: Mask, column: Column, *, grouping: bool) -> None:
    if grouping and column.role == "quasi":
        raise JobError(
            "E111",
            f"{mask.name} would change '{column.name}', by which groups are formed: a changed value is not k-anonymous",
            hint=say("{}   or  {}", role(column.name, "sensitive"), role(column.name, "keep")),
        )
    if column.role not in mask.roles:
        allowed = ", ".join(sorted(mask.roles))
        raise JobError(
            "E111",
            f"{mask.name} cannot change '{column.name}', whose role is {column.role}: it takes {allowed}",
            hint=role(column.name, "keep"),
        )
    if grouping and column.role == "subject":
        raise JobError(
            "E111",
            f"{mask.name} would publish '{column.name}', by which people are counted",
            hint=role(column.name, "identifier"),
        )


def require_masks(
    masks: tuple[Mask, ...], columns: Iterable[Column], goal: Goal, engine: EngineSettings, *, complete: bool
) -> None:
    """Refuse masks that a job with groups cannot have.

    A mechanism has a proof that they are no part of, and rows of Spark have no order.
    """
    require_maskable(masks, columns, complete=complete, grouping=True)
    if masks and goal.is_mechanism:
        what = f"masks look at all records, which the proof of {goal.asked} does not cover"
        raise JobError("E111", what, hint="Remove  masks:  from the job.")
    if masks and engine.name == "spark":
        what = "masks need rows in a fixed order, which Spark does not have"
        raise JobError("E111", what, hint=setting("engine: streaming", "engine", "streaming"))


def masked_columns(masks: tuple[Mask, ...], columns: Mapping[str, Column]) -> dict[str, Column]:
    """All columns of a job with groups as they are published; a mask of one that must not be changed is refused."""
    require_maskable(masks, columns.values(), complete=True, grouping=True)
    return {name: as_masked(column, masks) for name, column in columns.items()}


def refuse_linkage(criteria: Iterable[Any]) -> None:
    """Refuse max-linkage beside groups: whoever has labels and changed values together may find more than it counts."""
    for item in criteria:
        if isinstance(item, Mapping) and MaxLinkage.name in item:
            raise JobError(
                "E111",
                f"{MaxLinkage.name} counts links by changed values alone, and this job also forms groups",
                where=place(item),
                hint="attacks:\n  - record-linkage: {margin: 0.01}   (and remove max-linkage, or the other criteria)",
            )


def as_masked(column: Column, masks: tuple[Mask, ...]) -> Column:
    """A column as it is published if it is masked: what takes its place is the reason why it may be."""
    mask = next((m for m in masks if column.name in m.changes), None)
    if mask is None:
        return column
    why = PSEUDONYM if isinstance(mask, Pseudonyms) else f"its values are changed: {mask.done}"
    kept = "keep" if column.role in ("identifier", "subject") else column.role
    return replace(column, role=kept, because=column.because or why)


def notices_about_masks(masks: Iterable[Mask], *, grouping: bool) -> list[Notice]:
    """What is said aloud about changed values."""
    out = []
    for mask in masks:
        names = ", ".join(f"'{name}'" for name in mask.changes)
        joins = isinstance(mask, Pseudonyms)
        if joins and grouping:
            words = f"pseudonyms in {names} join the records of a person: k counts rows, and joined rows tell more"
            out.append(Notice("W640", words, hint=str(role(mask.changes[0], "drop"))))
        elif not joins:
            words = f"{names}: {mask.done}; what is published about a person there may not be true"
            out.append(
                Notice("W642", words, hint=f"tarnkappe explain {mask.name}   says what it does not protect from")
            )
    return out


def masks_json_schema(classes: Mapping[str, type[Mask]]) -> dict[str, Any]:
    """The JSON schema of the section ``masks``."""
    one = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": False}
    return {"type": "array", "items": {**one, "properties": {name: json_schema(c) for name, c in classes.items()}}}
