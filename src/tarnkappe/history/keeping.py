"""Notes about a release: compared with earlier ones and announced before it appears, entered once it did."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tarnkappe.errors import DataError, Notice
from tarnkappe.fixes import Fix, say
from tarnkappe.history.joint import Joint, joint_answer
from tarnkappe.history.ledger import Ledger, Line
from tarnkappe.history.places import PERSON, PLACE, Residents
from tarnkappe.io.folders import ReleaseFolder, read_manifest
from tarnkappe.job import Job
from tarnkappe.job.history import HistorySettings, require_one_machine
from tarnkappe.plan import Plan
from tarnkappe.release import Release
from tarnkappe.runs import Run
from tarnkappe.wording import plural

#: How a release below the goal is let through, and how groups are pooled until all releases together keep it.
_BECAUSE = Fix('--set "history.because=WHY THIS IS ACCEPTABLE"', "because='WHY THIS IS ACCEPTABLE'")
_POOL = Fix("--set history.together=pool", "HistorySettings(ledger, subject, together='pool')")


@dataclass(eq=False)
class Memory:
    """What is noted about one release; nothing if its job keeps no history."""

    settings: HistorySettings | None
    ledger: Ledger | None
    #: The folder that the release is to appear in; none if it is made in memory.
    target: str

    def told(
        self,
        job: Job,
        run: Run,
        further: Callable[[Release], Release] | None = None,
        there: pl.DataFrame | None = None,
    ) -> Callable[[Release], Release]:
        """What the papers of a release say about it, once it was compared with those before; `further` comes after.

        `there` are people who are in the release too, with their places: those of an earlier one that it continues.
        """

        def told(release: Release) -> Release:
            return release if further is None else further(release)

        if self.settings is None or self.ledger is None:
            return told
        settings, ledger = self.settings, self.ledger

        def compared(release: Release) -> Release:
            return told(self._compared(settings, ledger, job, run, release, there))

        return compared

    def _compared(
        self,
        settings: HistorySettings,
        ledger: Ledger,
        job: Job,
        run: Run,
        release: Release,
        there: pl.DataFrame | None,
    ) -> Release:
        now = residents_of(settings, ledger, job, run)
        places = placed(now, run)
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
        if there is not None:
            moved = pl.col(PLACE) + there[PLACE].max()
            people = pl.concat([there, people.with_columns(moved.cast(there.schema[PLACE]))], how="diagonal")
        if self.target:
            self.ledger = ledger.announce(
                people,
                folder=self.target,
                source=source,
                table=str(release.public_manifest.get("sha256", "")),
                people=people.height,
                asked=run.plan.goal.asked,
                least=run.plan.goal.min_size,
                because=because,
            )
        if ledger.late is not None:
            late = f"release {ledger.late} was announced by a run that was killed, and counts as published"
            notices = (*notices, Notice("W655", late, internal=True))
        return replace(release, notices=(*release.notices, *notices)) if notices else release


@contextlib.contextmanager
def remembering(job: Job, target: str | Path | None) -> Iterator[Memory]:
    """Keep the ledger of a job open while its release is made; the release is entered when all went well.

    Without a target nothing appears, so nothing is announced.
    """
    if job.history is None:
        yield Memory(None, None, "")
        return
    with Ledger.opened(job.history.ledger, target) as ledger:
        shown = "" if target is None else str(target) if "://" in str(target) else str(Path(target).absolute())
        memory = Memory(job.history, ledger, shown)
        for folder in job.history.earlier:
            if line_of(ledger, folder) is None:
                raise foreign(folder, "is not in the ledger", "tarnkappe run  enters it, from its folder to keep.")
        with settled(lambda: memory.ledger or ledger, elsewhere=job.output.database is not None):
            yield memory


@contextlib.contextmanager
def settled(ledger: Callable[[], Ledger], *, elsewhere: bool = False) -> Iterator[None]:
    """Enter what is announced within, or drop it if something went wrong before it appeared.

    Of a table that appears `elsewhere`, nobody here knows when it did: once it was announced, it is entered.
    """
    try:
        yield
    except BaseException:
        now = ledger()
        if elsewhere or now.is_out:
            now.appeared()
        else:
            now.never_appeared()
        raise
    ledger().appeared()


def line_of(ledger: Ledger, folder: str | Path) -> Line | None:
    """The line about the release in a folder, wherever that lay when it was entered; None if there is none."""
    told = read_manifest(ReleaseFolder(Path(folder).expanduser()).manifest)
    if told is None:
        raise foreign(folder, "is no folder of a release")
    return next((line for line in reversed(ledger.releases) if line.table == told.get("sha256")), None)


def foreign(folder: str | Path, why: str, hint: str = "Name the folder of a release of these people.") -> DataError:
    """An earlier release that does not belong to what is to be published."""
    return DataError("E448", f"the earlier release {why}", where=str(folder), hint=hint)


def withdrew(n: int, where: str, ledger: str, then: str = "remove these people from the data.") -> DataError:
    """People who may not be published again are in the data."""
    return DataError(
        "E447",
        f"{plural(n, 'person', 'people')} in the data withdrew, and may not be published again",
        where=where,
        hint=f"tarnkappe history {ledger}   lists withdrawals; {then}",
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
            hint=_BECAUSE
            if settings.together == "pool"
            else say("{}   pools groups until they do; or say why it is all the same right:  {}", _POOL, _BECAUSE),
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


def placed(now: Residents, run: Run) -> pl.DataFrame:
    """The place of everybody in the groups of a run."""
    plan = run.plan_here
    return now.placed(plan.grouping if isinstance(plan, Plan) else plan.deal.grouping(plan.tally))


def residents_of(settings: HistorySettings, ledger: Ledger, job: Job, run: Run) -> Residents:
    """The records of the people of a run."""
    require_one_machine(run.engine.name)  # that of a job may have been left to the data
    checked = run.checked
    aside = job.aside(checked.schema)
    source = checked.source
    if checked.masked is not None:  # people are known by what they are called, not by what a mask calls them
        source = checked.masked.view.with_original(settings.subject)
    residents = Residents.of(source, checked.schema, settings.subject, ledger, aside, checked.population)
    tally = run.plan_here.tally
    if residents.tally.n_cells != tally.n_cells or not (residents.tally.count == tally.count).all():
        raise checked.source.unreadable()
    return residents
