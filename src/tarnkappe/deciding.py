"""From counted cells to groups: decided here, or in parts where the cells lie, if that is possible at all."""

from __future__ import annotations

from functools import partial

import numpy as np

from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.ceilings import lost_to_ceilings
from tarnkappe.algorithms.last_resort import dealt, planned
from tarnkappe.algorithms.timed import deal_in_time, decide_in_time
from tarnkappe.algorithms.watch import Watch
from tarnkappe.engines.base import Engine
from tarnkappe.engines.needs import memory_for
from tarnkappe.engines.parts import Parts
from tarnkappe.errors import InfeasibleError, LimitError
from tarnkappe.fixes import algorithm, more_memory, say
from tarnkappe.goal import Goal
from tarnkappe.in_parts import PartDecider, plan_in_parts, why_not
from tarnkappe.job import Job
from tarnkappe.job.model import replace_job
from tarnkappe.parts import PartedPlan
from tarnkappe.plan import AnyPlan
from tarnkappe.runs import Checked
from tarnkappe.schema import Schema
from tarnkappe.tally import Tally
from tarnkappe.wording import count


def require_feasible(goal: Goal, tally: Tally) -> None:
    """Refuse a goal that all records in one group do not reach, unless leaving some of them out may help.

    It does not help what is decisive (`Goal.decisive`), nor those whom a ceiling keeps from others.
    """
    stats = goal.together(tally)
    if not all(c.satisfied(stats).all() for c in goal.decisive(tally.n_records)):
        raise goal.infeasible(tally)
    lost = lost_to_ceilings(tally, goal)
    if lost > goal.budget(tally.n_records):
        raise goal.infeasible(tally, lost, at_least=True)


def require_here(engine: Engine) -> None:
    """Refuse cells that are too many for this machine where all of them are needed."""
    if engine.parts is not None:
        raise LimitError(
            "E702",
            f"the {count(engine.parts.n_cells)} distinct combinations of the columns that are counted take more "
            "memory than is allowed",
            hint="tarnkappe run JOB.yaml   decides and writes them in parts; all else needs more, with  --memory",
        )


def why_not_in_parts(job: Job, schema: Schema) -> str | None:
    """Why the groups of a job cannot be decided in parts, in words; None if they can."""
    asked = {
        "something looks at a column that is not published": bool(job.aside(schema)),
        "a column has a highest level": any(c.max_level is not None for c in schema.quasi),
        "attacks are carried out": bool(job.attacks),
        "a history is kept": job.history is not None,
        "masks are put on": bool(job.masks),
        "a recoding is written": job.output.recoding,
        "solutions are written": job.output.solutions is not None,
    }
    further = [what for what, is_asked in asked.items() if is_asked]
    return f"{further[0]}, which takes all cells at once" if further else why_not(job.algorithm, job.goal)


def decide_in_parts(job: Job, checked: Checked, parts: Parts, seed: int) -> tuple[Algorithm, str | None, PartedPlan]:
    """The groups of a job whose cells are elsewhere, decided there."""
    algorithm, why = job.algorithm.chosen_for(checked.tally, job.goal), job.algorithm.why(checked.tally, job.goal)
    goal = algorithm.promised(job.goal, len(checked.tally.quasi_domains))
    reason = why_not_in_parts(job, checked.schema) or why_not(algorithm, goal)
    if reason is not None:
        others = [name for name in ("hilb", "mondrian") if why_not(algorithm_class(name)(), goal) is None]
        instead = f"algorithm: {others[0]}   decides in parts. " if others and not algorithm.decides_parts else ""
        raise LimitError(
            "E702",
            "the cells take more memory than is allowed, and they cannot be decided in parts",
            details=[
                f"The data have {count(parts.n_cells)} distinct combinations of the columns that are counted.",
                f"In parts: {reason}.",
            ],
            hint=f"{instead}Allow more with  --memory, or declare fewer or coarser quasi-identifiers.",
        )
    algorithm.require_supported(checked.tally, goal)
    require_feasible(goal, checked.tally)
    decider = PartDecider(algorithm, goal, job.data.missing, seed, job.time_limit)
    return algorithm, why, plan_in_parts(parts, decider)


def _require_dealt_here(job: Job, tally: Tally) -> None:
    """Refuse to deal more records to numbered groups than the memory allowed is enough for; engines only write them."""
    limit, n_columns = job.engine.limit, len(tally.quasi_domains) + len(tally.sensitive_domains)
    needed = memory_for(tally.n_cells, n_columns, tally.n_records)
    if limit is not None and needed > limit:
        raise LimitError(
            "E702",
            f"about {needed / 1e9:.1f} GB of memory are needed, {limit / 1e9:.1f} GB allowed",
            details=[f"All {count(tally.n_records)} records are dealt to groups by this process, on any engine."],
            hint=say("{}   or choose an algorithm that generalises:  {}", more_memory(needed), algorithm("hilb")),
        )


def decide_cells(job: Job, tally: Tally, seed: int, watch: Watch) -> tuple[Algorithm, str | None, AnyPlan]:
    """The groups of a job whose cells are counted, the algorithm that formed them, and why if the job left it open."""
    rng = np.random.Generator(np.random.Philox(seed))
    algorithm, why = job.algorithm.chosen_for(tally, job.goal), job.algorithm.why(tally, job.goal)
    goal = algorithm.promised(job.goal, len(tally.quasi_domains))
    plan: AnyPlan
    if isinstance(algorithm, Bucketization):
        _require_dealt_here(job, tally)
        plan = dealt(algorithm, tally, goal, partial(deal_in_time, algorithm, tally, goal, rng, watch))
    else:
        decide = partial(decide_in_time, algorithm, tally, goal, rng, watch)
        plan = planned(algorithm, tally, goal, decide, job.data.missing)
    return algorithm, why, plan


def decide_or_tell(job: Job, tally: Tally, seed: int, watch: Watch) -> tuple[Algorithm, str | None, AnyPlan]:
    """The same; if nothing is found and leaving out more records is proposed, that was tried.

    With more room a search may end elsewhere: fewer records are left out than proposed, or no release is found.
    """
    try:
        return decide_cells(job, tally, seed, watch)
    except InfeasibleError as error:
        if error.proposed is None or watch.stopped:
            raise
        told = _tried(job, tally, seed, watch, error.proposed)
        if told is None:
            raise
        raise told from None


def _tried(job: Job, tally: Tally, seed: int, watch: Watch, proposed: int) -> InfeasibleError | None:
    """What to tell of a job that finds no release where so many records may be left out, as is proposed, or not so."""
    more = replace_job(job, goal=job.goal.leaving_out(proposed, tally.n_records))
    goal = job.algorithm.promised(job.goal, len(tally.quasi_domains))
    try:
        left_out = decide_cells(more, tally, seed, watch)[2].suppressed
    except InfeasibleError:
        return goal.infeasible(tally, proposed, enough=False)
    return None if left_out == proposed else goal.infeasible(tally, proposed, left_out=left_out)
