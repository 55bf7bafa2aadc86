"""Publish data whose values are changed by masks: written in batches, read back, and compared with the original."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from math import nan
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from tarnkappe.bundle import Bundle, Checking, Found, Story
from tarnkappe.bundling import BundleDraft, Place, public_facts, publish_in_memory, with_files, write_companions
from tarnkappe.codebook import Entry
from tarnkappe.columns import ColumnSummary, with_masks
from tarnkappe.companions import file_name
from tarnkappe.criteria.base import Card, Verdict
from tarnkappe.errors import DataError, VerificationError
from tarnkappe.guards import refuse_identifiers, refuse_unmasked
from tarnkappe.guards.people import notices_about_open_keys
from tarnkappe.io import CsvDialect, Source, Staging, TableWriter, like, open_source
from tarnkappe.io.folders import PUBLIC
from tarnkappe.job.given import data_and_folder, seed_of
from tarnkappe.job.masking import KEY, MaskingJob
from tarnkappe.job.masks import masks_of
from tarnkappe.masking.linking import linked
from tarnkappe.masking.passage import Passage
from tarnkappe.masks import Mask, MaskCard
from tarnkappe.masks.base import Kept
from tarnkappe.masks.columns import Seen
from tarnkappe.masks.linkage import MaxLinkage
from tarnkappe.masks.masked import Masked
from tarnkappe.masks.rank_swapping import RankSwapping
from tarnkappe.params import SEED_BITS
from tarnkappe.phases import Phases, Progress
from tarnkappe.publish.sheets import MAIN
from tarnkappe.schema import Column, Role
from tarnkappe.threads import Pending, ahead, in_background
from tarnkappe.verification import unreadable
from tarnkappe.wording import figure

#: Purposes of chance: the order of the records, and who is looked for when they are linked.
_ORDER, _LINKING = 5, 6

_CAUTION = "Values of the columns named under 'masks' were changed: no record need be true of anybody in them."

_CHECKED = Checking(
    "The published table was read back and compared with the masked records, and everything that masks leave as it was "
    "was computed anew from the table and the original.",
    "This command compares the table with its manifest; the publisher, who has the original, computes figures anew:",
    "What masks leave as it was, and from how many figures that was computed",
)

_ABOUT = "One row for every record, in random order; masked columns are changed."


@dataclass(frozen=True, eq=False, repr=False)
class MaskedRelease(Bundle):
    """A release of masked data; it exists only if it was read back and keeps what its masks promise."""

    def for_readers(self) -> Self:
        """The release as its readers may see it: how many links with the original are right is not for them."""
        return replace(super().for_readers(), verdicts=_untold(self.verdicts))


def mask(
    data: Any,
    masks: Iterable[Mask] | Mask,
    *,
    columns: Iterable[Column] = (),
    rest: Role = "keep",
    linkage: MaxLinkage | None = None,
    folder: str | Path | None = None,
    overwrite: bool = False,
    seed: int | None = None,
) -> MaskedRelease:
    """Change values by masks; `columns` say which role others have, and `rest` what becomes of those not named.

    What is published unchanged must not point at people, unless its column says why (`because`).

    >>> import polars as pl
    >>> from tarnkappe import Rounding
    >>> release = mask(pl.DataFrame({"income": [1230, 1790, 2010]}), Rounding("income", base=500))
    >>> sorted(release.table["income"].to_list())
    [1000, 2000, 2000]
    """
    made = masks_of(masks)
    given = {c.name: c for c in columns}
    given |= {name: Column(name, "keep") for one in made for name in one.changes if name not in given}
    job = MaskingJob(tuple(given.values()), made, linkage, rest=rest, seed=seed_of(seed))
    if folder is None:
        return mask_in_memory(job, data)
    return run_masking(job, data, folder, overwrite=overwrite)


def mask_in_memory(job: MaskingJob, data: Any, *, progress: Progress | None = None) -> MaskedRelease:
    """Mask in memory: the table is of the kind of frame that was given."""
    clock = Phases(progress)
    return publish_in_memory(_masked(job, data, clock), clock, lambda _, table: like(data, table))


def run_masking(
    job: MaskingJob,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> MaskedRelease:
    """Mask into a folder: nothing appears there unless the written table was read back and keeps what masks promise."""
    data, target = data_and_folder(data, folder, job.data, job.output)
    job = replace(
        job,
        data=replace(job.data, path=str(data) if isinstance(data, (str, Path)) else None),
        output=replace(job.output, folder=str(target)),
        seed=job.seed if seed is None else seed,
    )
    keys = [getattr(one, key) for one in job.masks for key in one.secrets if getattr(one, key) is not None]
    read = [*([data] if isinstance(data, (str, Path)) else []), *keys, *inputs]
    with Staging(target, overwrite=overwrite, inputs=read) as stage:
        clock = Phases(progress)
        return _publish_to(stage, _masked(job, data, clock), Path(target), clock)


def _masked(job: MaskingJob, data: Any, clock: Phases) -> _Draft:
    """Open the data, and put the masks on."""
    clock.begin("read")
    source = open_source(data, job.data.dialect, job.data.missing)
    columns = job.published(source.columns, source.name)
    clock.begin("decide")
    seed = secrets.randbits(SEED_BITS) if job.seed is None else job.seed
    digest = in_background(lambda: source.sha256)
    masked = Masked.of(source, job.masks, seed)
    refuse_identifiers(masked.view, columns, coarsened=False)
    refuse_unmasked(masked.view, columns, job.columns, masked.untouched)
    return _Draft(job, data, masked, columns, seed, digest)


@dataclass(frozen=True, eq=False)
class _Draft(BundleDraft[MaskedRelease]):
    """Masked data that are not published yet."""

    job: MaskingJob
    data: Any
    masked: Masked
    columns: tuple[Column, ...]
    seed: int
    #: That of the input.
    digest: Pending[str]

    unit = "figure"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are published."""
        return tuple(c.name for c in self.columns)

    def _chance(self, *purpose: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=purpose)))

    @cached_property
    def passage(self) -> Passage:
        """The records on their way to the table."""
        return Passage(self.masked, self.names, partial(self._chance, _ORDER))

    def tables(self) -> dict[str, pl.DataFrame]:
        """The masked records as one table."""
        return {MAIN: pl.concat(self.passage.shuffled())}

    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Compare a table in memory with the original."""
        return _unlinked(self.compared(open_source(tables[MAIN], missing=())), "the release")

    def compared(self, written: Source) -> Found:
        """Compare a written table with the masked data record by record, and with the original figure by figure."""
        view, problems = self.masked.view, []
        if written.columns != self.names:
            return Found((), ("the columns are not those that were planned",))
        if written.n_rows != view.n_rows:
            problems.append(f"{written.n_rows} records, but there should be {view.n_rows}")
        counting = in_background(self.passage.passed)
        read = Seen()
        if not problems:
            same, read = self.passage.found_in(written)
            if not same:
                problems.append("records are not those that were masked")
        passed = counting.result()
        found = [] if problems else self.masked.found(written, everybody=True, passed=passed, read=read)
        problems += [f"not kept: {kept.what}" for _, several in found for kept in several if not kept.ok]
        verdicts = [_verdict(one, several) for one, several in found]
        if self.job.linkage is not None and not problems:
            share = max(self._links().values())
            asked = self.job.linkage
            verdicts.append(
                Verdict(asked.name, None, asked.asked, share, share <= asked.share, int(share > asked.share))
            )
        return Found(tuple(verdicts), tuple(problems))

    def _links(self) -> dict[str, float]:
        """The share of right links of every attacker; the written records are those of the masked data."""
        asked = self.job.linkage
        if asked is None:
            return {}
        by_key = {name for one in self.masked.masks if "identifier" in one.roles for name in one.changes}
        known = asked.columns or tuple(
            c.name
            for c in self.columns
            if c.name not in by_key and (c.name in self.masked.columns or c.role == "quasi")
        )
        # The manifest tells how far ranks moved, so the attacker tries that window too.
        told = {one.window_percent for one in self.masked.masks if isinstance(one, RankSwapping)}
        asked = replace(asked, windows_percent=tuple(sorted({*asked.windows_percent, *told})))
        return linked(self.masked.original, self.masked.view, known, asked, self._chance(_LINKING))

    def place(self, table: str) -> Place:
        """A file that is called and written like the input."""
        name, format_ = file_name(self.job.output, self.data)
        dialect = getattr(self.masked.original, "dialect", None) or CsvDialect()
        return Place(name, format_, replace(dialect, spreadsheet_safe=self.spreadsheet_safe))

    def codebook(self) -> tuple[Entry, ...]:
        """Values are published as they are, or changed into others of their kind."""
        return ()

    def job_text(self, folder: Path) -> str:
        """The job as it was carried out."""
        return replace(self.job, seed=self.seed).to_yaml(folder)

    @property
    def spreadsheet_safe(self) -> bool:
        """As the job asks for."""
        return self.job.output.spreadsheet_safe

    def bundle(self, tables: Mapping[str, pl.DataFrame], found: Found, codebook: tuple[Entry, ...]) -> MaskedRelease:
        """What is known about masked data that were checked."""
        job, source = self.job, self.masked.original
        told = self.masked.told()
        asked: dict[str, Any] = {KEY: {"criteria": []}, **told}
        if job.linkage is not None:
            asked[KEY] = {"criteria": [{"name": job.linkage.name, **job.linkage.get_params()}]}
        public = public_facts(
            job.title or "Masked data",
            job.purpose,
            asked,
            Found(_untold(found.verdicts)),
            _CAUTION,
            tables,
            {MAIN: _ABOUT},
        )
        public["tables"][0] |= {"rows": source.n_rows, "columns": list(self.names)}
        read = {"name": source.name, "sha256": self.digest.result(), "description": source.description}
        private = {"seed": self.seed, "input": read, "verdicts": [asdict(v) for v in found.verdicts]}
        if job.linkage is not None:
            private["linkage"] = self._links()
        changed = self.masked.columns
        summary = [
            ColumnSummary(c.name, "masked", "")
            if c.name in changed
            else ColumnSummary(c.name, c.role, "published unchanged", c.because)
            for c in self.columns
        ]
        joined = notices_about_open_keys(self.masked.view, [c for c in self.columns if c.name not in changed])
        columns = with_masks(summary, job.masks)
        notices = (*job.notices(), *joined)
        return MaskedRelease(found.verdicts, public, private, self._story(), columns, notices, codebook)

    def _story(self) -> Story:
        masks = self.masked.masks
        names = list(dict.fromkeys(name for one in masks for name in one.changes))
        linkage = self.job.linkage
        cards: dict[str, tuple[str, Card | MaskCard]] = {one.name: (one.title, one.card) for one in masks}
        if linkage is not None:
            cards[linkage.name] = (linkage.title, linkage.card)
        return Story(
            promise=f"values of {', '.join(names)} are changed, and what their masks leave as it was is the same.",
            attacker="somebody who knows the original values of a person in the masked columns. "
            "No group hides anybody: nothing here is k-anonymous.",
            cards=cards,
            assumptions=(
                ("Changed values are not hidden people.", "A rare person may be recognised by what was not changed."),
                ("Nobody has the seed or the keys.", "Whoever has them can undo what chance decided."),
                ("Figures are those of all records.", "Figures of few records may have moved by much."),
            ),
            figures=(("Records", self.masked.view.n_rows, "in the published table"),),
            checked=_CHECKED,
        )


def _untold(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """What readers may know: how many links are right depends on the original, so only what is allowed is told."""
    return tuple(replace(v, reached=nan) if v.criterion == MaxLinkage.name else v for v in verdicts)


def _verdict(one: Mask, found: Sequence[Kept]) -> Verdict:
    """Whether what a mask leaves as it was is so, and how many figures that was recomputed from."""
    broken = sum(not kept.ok for kept in found)
    names, words = ", ".join(one.changes), "; ".join(one.keeps)
    return Verdict(one.name, names, f"{one.name} keeps {words}", float(len(found) - broken), broken == 0, broken)


def _unlinked(found: Found, where: str) -> Found:
    """The same; an exception if too many links with the original are right."""
    broken = [v for v in found.verdicts if v.criterion == MaxLinkage.name and not v.ok]
    if broken:
        raise VerificationError(
            "E503",
            "too many records can be linked with the original: the release was NOT written",
            where=where,
            details=[f"{broken[0].asked}, reached {figure(broken[0].reached)}"],
            hint="Stronger masks, such as a larger  variance_share  or  window_percent,  or masks of more columns.",
        )
    return found


def _publish_to(stage: Staging, draft: _Draft, target: Path, clock: Phases) -> MaskedRelease:
    """Write the table batch by batch and all that goes with it, and check what was written."""
    clock.begin("write")
    place, missing = draft.place(MAIN), draft.job.data.missing or ("",)
    path = stage.path(f"{PUBLIC}/{place.file}")
    empty_cell = "" if "" in missing else missing[0]
    with TableWriter(path, place.format, place.dialect, empty_cell) as writer:
        for records in ahead(draft.passage.lines(writer) if place.format == "csv" else draft.passage.shuffled()):
            writer.write(records)
    place = replace(place, dialect=place.dialect.released())
    clock.begin("verify")
    shown = f"{str(target).rstrip('/')}/{PUBLIC}/{place.file}"
    try:
        with open_source(path, place.dialect, missing) as written:
            written.decimal = draft.masked.original.decimal
            hashing = in_background(lambda: written.sha256)
            found = _unlinked(draft.compared(written), shown).required(shown, draft.unit)
            digest = hashing.result()
    except DataError as error:
        raise unreadable(shown, error) from error
    clock.begin("report")
    empty = pl.DataFrame(schema=draft.masked.view.types(draft.names))
    bundle = draft.bundle({MAIN: empty}, found, ())
    bundle = replace(bundle, public_manifest=with_files(bundle, {MAIN: place}, {MAIN: digest}), folder=target)
    write_companions(stage, draft, bundle, target, clock)
    return bundle
