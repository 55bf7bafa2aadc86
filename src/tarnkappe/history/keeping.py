"""Notes about a release: compared with earlier ones before it appears, entered into the ledger once it did."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError, JobError, Notice
from tarnkappe.fixes import Fix, setting
from tarnkappe.history.joint import Joint, joint_answer
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import PERSON, Residents
from tarnkappe.job import Job
from tarnkappe.job.history import HistorySettings
from tarnkappe.plan import Plan
from tarnkappe.release import Release
from tarnkappe.runs import Run
from tarnkappe.wording import plural

#: How a release below the goal is let through.
_LET = Fix(
    '--set "history.because=WHY THIS IS ACCEPTABLE"',
    "HistorySettings(ledger, subject, because='WHY THIS IS ACCEPTABLE')",
)


@dataclass(eq=False)
class Memory:
    """What is noted about one release; nothing if its job keeps no history."""

    settings: HistorySettings | None
    ledger: Ledger | None
    target: str
    _noted: Callable[[], None] | None = None

    def told(
        self, job: Job, run: Run, further: Callable[[Release], Release] | None = None
    ) -> Callable[[Release], Release]:
        """What the papers of a release say about it, once it was compared with those before; `further` comes after."""

        def told(release: Release) -> Release:
            return release if further is None else further(release)

        if self.settings is None or self.ledger is None:
            return told
        settings, ledger = self.settings, self.ledger

        def compared(release: Release) -> Release:
            return told(self._compared(settings, ledger, job, run, release))

        return compared

    def _compared(self, settings: HistorySettings, ledger: Ledger, job: Job, run: Run, release: Release) -> Release:
        now = residents_of(settings, ledger, job, run)
        plan = run.plan_here
        grouping = plan.grouping if isinstance(plan, Plan) else plan.deal.grouping(plan.tally)
        places = now.placed(grouping)
        back = places.join(ledger.withdrawn(), on=PERSON, how="semi").height
        if back:
            raise withdrew(back, run.checked.source.name, settings.ledger)
        run.digest.result()
        source = ledger.hash("input", run.checked.source.sha256)
        joint = related(ledger, now, places, source, run)
        because = ""
        notices: tuple[Notice, ...] = ()
        if joint is not None:
            notices, because = _answered(settings, joint)
        people = places.join(now.secrets(ledger), on=PERSON, how="left")
        facts = release.public_manifest

        def noted() -> None:
            ledger.appended(
                "release",
                groups=people,
                folder=self.target,
                source=source,
                table=str(facts.get("sha256", "")),
                people=places.height,
                asked=run.plan.goal.asked,
                least=run.plan.goal.min_size,
                because=because,
            )

        self._noted = noted
        return replace(release, notices=(*release.notices, *notices)) if notices else release

    def note(self) -> None:
        """Enter the release, which has appeared."""
        if self._noted is not None:
            self._noted()


@contextlib.contextmanager
def remembering(job: Job, target: str | Path | None) -> Iterator[Memory]:
    """Keep the ledger of a job open while its release is made; the release is entered when all went well.

    Without a target nothing appears, so nothing is entered.
    """
    if job.history is None:
        yield Memory(None, None, "")
        return
    with Ledger.opened(job.history.ledger, target) as ledger:
        shown = "" if target is None else str(target) if "://" in str(target) else str(Path(target).absolute())
        memory = Memory(job.history, ledger, shown)
        yield memory
        if target is not None:
            memory.note()


def withdrew(n: int, where: str, ledger: str) -> DataError:
    """People who may not be published again are in the data."""
    return DataError(
        "E447",
        f"{plural(n, 'person', 'people')} in the data withdrew, and may not be published again",
        where=where,
        hint=f"tarnkappe history {ledger}   lists withdrawals; remove these people from the data.",
    )


def related(ledger: Ledger, now: Residents, places: pl.DataFrame, source: str, run: Run) -> Joint | None:
    """The joint answer of a release and of all earlier ones with some of its people; None if there is none."""
    earlier = []
    same = False
    for line in ledger.releases:
        frame = ledger.groups_of(line)
        if line.source == source or frame.join(places, on=PERSON, how="semi").height:
            earlier.append((line.number, frame))
            same = same or line.source == source
    if not earlier:
        return None
    return joint_answer(now, places, earlier, run.plan.goal, same_input=same)


def _answered(settings: HistorySettings, joint: Joint) -> tuple[tuple[Notice, ...], str]:
    """What is said about a joint answer; an exception if it is below the goal and nobody said why that is right."""
    releases = f"{'release' if len(joint.numbers) == 1 else 'releases'} {', '.join(map(str, joint.numbers))}"
    what = "the same input as" if joint.same_input else "people of"
    said = f"{plural(joint.common, 'person', 'people')} are in earlier releases too: with {what} {releases}"
    if not joint.ok and not settings.because:
        raise DataError(
            "E440",
            f"{said}, the joint answer is {joint.told}, which is below the goal",
            where=settings.ledger,
            details=joint.details(),
            hint=_LET,
        )
    told = [Notice("W651", f"{said}, the joint answer is {joint.told}", internal=True)]
    if not joint.ok:
        told.append(
            Notice("W652", f"the joint answer is below the goal, accepted because: {settings.because}", internal=True)
        )
    if joint.silent:
        silent = ", ".join(joint.silent)
        told.append(Notice("W653", f"nothing is said about several releases together by {silent}", internal=True))
    return tuple(told), "" if joint.ok else settings.because or ""


def residents_of(settings: HistorySettings, ledger: Ledger, job: Job, run: Run) -> Residents:
    """The records of the people of a run."""
    if run.engine.name == "spark":
        raise JobError(
            "E111",
            "a history of people is kept by one machine, not by Spark",
            hint=setting("engine: auto", "engine", "auto"),
        )
    checked = run.checked
    aside = job.aside(checked.schema)
    source = checked.source
    if checked.masked is not None:  # people are known by what they are called, not by what a mask calls them
        source = checked.masked.view.with_original(settings.subject)
    residents = Residents.of(source, checked.schema, settings.subject, ledger, aside, checked.population)
    tally = run.plan.tally
    if residents.tally.n_cells != tally.n_cells or not (residents.tally.count == tally.count).all():
        raise checked.source.unreadable()
    return residents
