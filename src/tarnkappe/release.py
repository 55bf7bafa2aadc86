"""What a finished release consists of: the table, the proof, the price, and its two manifests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tarnkappe._version import __version__
from tarnkappe.alternatives import Alternatives
from tarnkappe.attacks import Finding
from tarnkappe.codebook import Entry, codebook
from tarnkappe.columns import ColumnSummary, summarise_columns, with_masks
from tarnkappe.criteria.base import Verdict
from tarnkappe.errors import Notice, RefusedError
from tarnkappe.job import Job
from tarnkappe.left_out import Bias, bias_of
from tarnkappe.metrics import all_metrics, score_plan
from tarnkappe.parts import PartedPlan
from tarnkappe.plan import AnyPlan, size_distribution
from tarnkappe.publish.sheets import MAIN
from tarnkappe.risks.exposing import Exposing, exposing
from tarnkappe.schema import Schema
from tarnkappe.wording import plural

if TYPE_CHECKING:
    from tarnkappe.audited import Audit
    from tarnkappe.publication import Draft
    from tarnkappe.query import Answer, Asked
    from tarnkappe.verification import Verification

#: How suppressed records are counted everywhere, in one sentence.
SUPPRESSION_CONVENTION = (
    "Suppressed records are removed from the release; every loss metric charges them as totally lost."
)

_MISSING_RULES = {
    None: "The quasi-identifiers have no missing values.",  # else there would be an error
    "own-value": "A missing cell is a value of its own: it matches only other missing cells.",
    "wildcard": "A missing cell could be anything: it widens no group and is published with its group's value.",
}

#: Facts of the public manifest that are computed from records which may not be in the release.
_ABOUT_THE_INPUT = ("suppressed", "missing_values", "loss")


@dataclass(frozen=True)
class Score:
    """One loss metric of a release, in a number and in words."""

    name: str
    title: str
    value: float
    sentence: str
    goal: str


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A verified release. It exists only if the published table was read back and satisfies the goal."""

    job: Job
    verdicts: tuple[Verdict, ...]
    scores: tuple[Score, ...]
    columns: tuple[ColumnSummary, ...]
    notices: tuple[Notice, ...]
    n_input: int
    n_published: int
    n_groups: int
    unique_before: int
    group_sizes: tuple[tuple[int, int], ...]
    missing_rule: str
    public_manifest: dict[str, Any]
    private_manifest: dict[str, Any]
    #: Numbers about groups that only the publisher may see: values and how many groups have each.
    remarks: dict[str, tuple[tuple[float, int], ...]] = field(default_factory=dict)
    #: Who was left out more often than others; for the publisher only.
    left_out: tuple[Bias, ...] = ()
    #: The sizes of groups with the same quasi-identifiers before, and how many had each; for the publisher only.
    sizes_before: tuple[tuple[int, int], ...] = ()
    #: Which few columns pointed at the most people before; for the publisher only.
    exposing: tuple[Exposing, ...] = ()
    #: What every label means.
    codebook: tuple[Entry, ...] = ()
    #: What was found in the released table beside its criteria, in words; only what was checked.
    proved: tuple[str, ...] = ()
    #: What else could have been published, if the job asks for all solutions; for the publisher only.
    alternatives: Alternatives | None = None
    #: What came of the attacks that the job names; for the publisher, because it may tell about the input.
    attacks: tuple[Finding, ...] = ()
    #: The tables by name, in memory; the first has none.
    tables: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    #: What it takes to save a release that is in memory only.
    draft: Draft | None = None
    #: One of several copies: readers are told only what is the same in all of them, beside the table itself.
    is_copy: bool = False

    @property
    def n_before(self) -> int:
        """The records that are told about as they were before; of a batch that is appended, only those of the batch."""
        return sum(size * times for size, times in self.sizes_before) or self.n_input

    @property
    def table(self) -> Any:
        """The table with a row for every person, if the release is in memory."""
        return self.tables.get(MAIN)

    @property
    def is_numbered(self) -> bool:
        """Whether groups are told apart by a number, be it published or not."""
        return "reading" in self.public_manifest

    @property
    def number(self) -> str | None:
        """The column that holds the number of a group, if groups are told apart by one that is published."""
        reading = self.public_manifest.get("reading")
        return None if reading is None or reading.get("hidden") else str(reading["number"])

    @property
    def title(self) -> str:
        """What the release is called."""
        return self.job.title or "Anonymised release"

    @property
    def purpose(self) -> str:
        """What the data are for."""
        return self.job.purpose

    @property
    def algorithm(self) -> str:
        """The algorithm that formed the groups."""
        return self.job.algorithm.title

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of the criteria asked for."""
        return tuple(c.name for c in self.job.goal.criteria)

    @property
    def n_suppressed(self) -> int:
        """Records of the input that are not in the release."""
        return self.n_input - self.n_published

    @property
    def smallest_group(self) -> int:
        """Records in the smallest group."""
        return min(size for size, _ in self.group_sizes)

    @property
    def has_public_report(self) -> bool:
        """Whether a report may go with the data; it tells about the input, which some promises forbid."""
        return not self.job.goal.is_mechanism

    def for_readers(self) -> Release:
        """The release as its readers may see it: nothing that depends on original values, except through the table.

        Whoever knows the values of everybody but one could tell from exact losses, from the number of values before,
        or from examples of them, which value the last one has. Under a mechanism only notices about the job are left.
        """
        published = {c.name for c in self.columns if c.role in ("quasi", "sensitive", "keep")}
        of_release = {name for name, metric in all_metrics().items() if metric.follows_from_release}
        told = [n for n in self.notices if not n.internal]
        verdicts = _shown(self.verdicts, self.job, published)
        columns = tuple(replace(c, loss=None, labels_before=None, examples=()) for c in self.columns)
        shown = self
        if self.is_copy:
            of_release = set()
            verdicts = tuple(replace(v, reached=float("nan")) for v in verdicts)
            columns = tuple(replace(c, labels_after=None, said=None) for c in columns)
            shown = replace(self, n_groups=0, group_sizes=())
        return replace(
            shown,
            verdicts=verdicts,
            scores=tuple(s for s in self.scores if s.name in of_release),
            columns=columns,
            notices=self.job.notices() if self.job.goal.is_mechanism else tuple(told),
            remarks={},
            left_out=(),
            sizes_before=(),
            exposing=(),
            attacks=(),
            alternatives=None,
            private_manifest={},
        )

    def score(self, name: str) -> float:
        """One loss metric by name, such as ``gcp``."""
        return next(s.value for s in self.scores if s.name == name)

    @property
    def detail_kept(self) -> float | None:
        """How much of its detail an average cell has kept: of the width of its column, or of its variance.

        None in the view of a reader, because it depends on original values.
        """
        lost = {s.name: s.value for s in self.scores}
        share = lost["sse"] / 100 if self.measured_by_variance else lost.get("lm")
        return None if share is None else max(1 - share, 0.0)

    @property
    def measured_by_variance(self) -> bool:
        """Whether centres are published, whose distance from the records is what was lost."""
        return any(s.name == "sse" for s in self.scores)

    def as_dict(self) -> dict[str, Any]:
        """The public facts as plain data, for ``--json``."""
        return {
            **self.public_manifest,
            "folder": None if self.folder is None else str(self.folder),
            "notices": [{"code": n.code, "message": n.message, "hint": n.hint} for n in self.for_readers().notices],
        }

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Release:
        """Write a release that was made in memory to a folder, read it back and check it; returns it with its folder.

        The folder is the same as `run_job` makes: one part to share, one to keep.
        """
        from tarnkappe.pipeline import save

        if self.draft is None:
            raise RefusedError(
                "E601",
                "the release was written to a folder when it was made",
                where=str(self.folder),
                hint=f'shutil.copytree("{self.folder}", "{folder}")',
            )
        return save(self.draft, folder, overwrite=overwrite)

    def verify(self) -> Audit | Verification:
        """Check the release again, as it is now: the files in its folder, or the table in memory; see ``ok``."""
        from tarnkappe.audit import audit

        if self.draft is None:
            return audit(str(self.folder))
        return self.draft.verify(self.tables)

    def query(self, text: str) -> Answer:
        """Answer a query such as ``count where age in 20..29 group by sex``: an estimate, and bounds that are certain.

        It is answered from the published tables alone, so any reader of the release gets about the same.
        """
        return self._asked.ask(text)

    @cached_property
    def _asked(self) -> Asked:
        """The tables, read once for all queries."""
        from tarnkappe.query import open_release

        return open_release(self)

    def __str__(self) -> str:
        from tarnkappe.summary import as_text, release_rows

        return as_text(self.title, release_rows(self))

    def __repr__(self) -> str:
        found = f"{plural(self.n_published, 'record')} in {plural(self.n_groups, 'group')}"
        return f"<Release: {found}, {self.job.goal.asked}>"

    def _repr_html_(self) -> str:
        from tarnkappe.report import render_fragment

        return render_fragment(self)


def _shown(verdicts: tuple[Verdict, ...], job: Job, published: Collection[str]) -> tuple[Verdict, ...]:
    """Verdicts as readers may see them: what was reached is left out if it was counted in a column they have not.

    Whoever knows everybody but one could tell from the number of people in a group whether the last one is in it.
    """
    hidden = (c for c in job.goal.criteria if c.centre_column is not None or not set(c.columns) <= set(published))
    secret = {c.asked for c in hidden}
    return tuple(replace(v, reached=float("nan")) if v.asked in secret else v for v in verdicts)


def summarise_scores(plan: AnyPlan | PartedPlan, target: str | None = None) -> tuple[Score, ...]:
    """All metrics of a plan with their sentences; `target` is the column that the algorithm kept apart, if any."""
    metrics = all_metrics()
    whole = None if isinstance(plan, PartedPlan) else plan
    found = plan.scores if isinstance(plan, PartedPlan) else score_plan(plan, target)
    return tuple(
        Score(name, metrics[name].title, value, metrics[name].say(value, whole), metrics[name].goal)
        for name, value in found.items()
    )


def summarise_remarks(plan: AnyPlan | PartedPlan) -> dict[str, tuple[tuple[float, int], ...]]:
    """The numbers about groups, to two places, and how many groups have each."""
    out = {}
    for name, values in plan.remarks.items():
        found, counts = np.unique(np.round(values, 2), return_counts=True)
        out[name] = tuple(zip(found.tolist(), counts.tolist(), strict=True))
    return out


def missing_sentence(rule: str | None) -> str:
    """The missing-value rule in words."""
    return _MISSING_RULES[rule]


def describe(
    job: Job,
    plan: AnyPlan | PartedPlan,
    schema: Schema,
    verdicts: tuple[Verdict, ...],
    notices: tuple[Notice, ...],
    *,
    public: dict[str, Any],
    private: dict[str, Any],
    proved: tuple[str, ...] = (),
    attacks: tuple[Finding, ...] = (),
    missing_text: str = "",
    tables: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    draft: Draft | None = None,
) -> Release:
    """Put together all that is known about a verified release; `missing_text` stands for an empty cell in its file."""
    scores = summarise_scores(plan, job.algorithm.predicted_column)
    missing_words = missing_sentence(schema.missing_rule)
    made = datetime.now(UTC).isoformat(timespec="seconds")
    facts = {
        "tarnkappe": __version__,
        "title": job.title,
        "made": made,
        **public,
        "columns": list(schema.published),
        "quasi_identifiers": [c.name for c in schema.quasi],
        "criteria": [{"name": c.name, **c.get_params()} for c in job.goal.criteria],
        "verdicts": [asdict(v) for v in _shown(verdicts, job, schema.published)],
        **({"withstood": [{"name": a.name, **a.told_publicly()} for a in job.attacks]} if job.attacks else {}),
        "algorithm": {"name": job.algorithm.name, **job.algorithm.get_params()},
        "groups": plan.n_groups,
        "suppressed": plan.suppressed,
        "suppression": SUPPRESSION_CONVENTION,
        "missing_values": missing_words,
        "loss": {s.name: s.value for s in scores if all_metrics()[s.name].follows_from_release},
    }
    if job.goal.is_mechanism:
        for secret in _ABOUT_THE_INPUT:
            facts.pop(secret)
    return Release(
        job=job,
        verdicts=verdicts,
        scores=scores,
        columns=with_masks(summarise_columns(plan, schema), job.masks),
        notices=notices,
        n_input=plan.tally.n_records,
        n_published=plan.n_published,
        n_groups=plan.n_groups,
        unique_before=dict(plan.sizes_before).get(1, 0),
        group_sizes=plan.size_counts if isinstance(plan, PartedPlan) else size_distribution(plan.sizes),
        missing_rule=missing_words,
        public_manifest=facts,
        private_manifest={
            "tarnkappe": __version__,
            "made": made,
            **private,
            "verdicts": [asdict(v) for v in verdicts],
            "loss": {s.name: s.value for s in scores},
            **({"attacks": [found.as_dict() for found in attacks]} if attacks else {}),
        },
        remarks=summarise_remarks(plan),
        left_out=() if isinstance(plan, PartedPlan) else bias_of(plan),
        exposing=() if isinstance(plan, PartedPlan) else exposing(plan.tally),
        sizes_before=plan.sizes_before,
        codebook=codebook(plan, schema, missing_text),
        proved=proved,
        attacks=attacks,
        tables=tables or {},
        folder=folder,
        draft=draft,
    )
