"""ANGEL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.bucketization.batching import alike_batches, formed_batches
from tarnkappe.algorithms.bucketization.likeness import boxes_of_alike
from tarnkappe.arrays import Counts
from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.deals import Deal
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import algorithm, assignment, criterion, say
from tarnkappe.goal import Goal
from tarnkappe.params import param
from tarnkappe.publish.batches import Batches
from tarnkappe.publish.recoding import Recoding
from tarnkappe.tally import Tally, distinct_rows

#: Fewer records than that in a bucket would publish quasi-identifiers as they are.
_FEWEST = 2


@dataclass(frozen=True)
class Angel(Bucketization):
    r"""Two partitions of the same records: batches by sensitive values, and buckets by quasi-identifiers.

    *Batches* satisfy what is asked about the sensitive values. *Buckets* are boxes of similar people, formed by Hilb
    without a look at the sensitive values. A record publishes the labels of its bucket and the number of its batch; a
    second table says how often each batch has each sensitive value.

    Whoever knows the quasi-identifiers of a person finds rows of one or more batches. What is then likely about the
    person is a mixture of the distributions of these batches, and a monotone criterion that holds for each of them
    holds for the mixture. So the boxes need not be large for the sake of the sensitive values: only as large as it
    takes that people are not found.

    A marginal is one more table, of some of the quasi-identifiers in smaller boxes, with the same numbers. The mixture
    argument holds for all tables together, because the batches are the same. Whoever joins them by number may tell more
    people apart, so a job that asks for k-anonymity and for marginals is refused.

    Where batches hold people who are alike (`alike`), how secrets depend on quasi-identifiers is kept best. The
    promise is the same: the mixture argument does not ask how batches were formed.

    Time is that of Hilb, or with ``alike: false`` linear in the records times the rounds of pooling batches.

    Differs from the paper in: batches are groups of Hilb. With ``alike: false`` they are dealt as Anatomize does where
    enough different values satisfy the goal, and else pooled from records dealt in turn by the order of their values.

    References
    ----------
    .. [TCXZ09] Tao, Chen, Xiao, Zhou, Zhang. "ANGEL: enhancing the utility of generalization for privacy preserving
       publication." TKDE 21(7), 2009.
    """

    name: ClassVar = "angel"
    title: ClassVar = "ANGEL"
    summary: ClassVar = (
        "Small boxes of quasi-identifiers, joined by a number to batches of sensitive values that keep the promise."
    )
    generalises: ClassVar = True
    publishes: ClassVar = Batches

    bucket_size: int | None = param(
        None,
        doc="Fewest records that share a box; what is asked about people, or the size of a batch, if not given.",
        ge=1,
    )
    alike: bool = param(
        True, doc="Put people into a batch whose quasi-identifiers are alike, instead of any.", kw_only=True
    )
    marginals: tuple[tuple[str, ...], ...] = param(
        (), doc="Quasi-identifiers of further tables with smaller boxes, such as [[age, sex], [zip]].", kw_only=True
    )

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        """Batches that satisfy what is asked about secrets, buckets that satisfy what is asked about people."""
        self.require_supported(tally, goal)
        self.require_published(tally, goal)
        secret, people = self._asked(goal)
        marginals = [self._places(tally, names) for names in self.marginals]
        if tally.has_ceilings:
            raise JobError(
                "E111",
                f"{self.name} cannot keep its buckets below the highest level of a column",
                hint=say("Remove  max_level,  or choose another algorithm:  {}", algorithm("mondrian")),
            )
        if self.alike:
            cell, size = alike_batches(tally, goal.about(secret), rng, self.watch)
        else:
            cell, size = formed_batches(tally, goal.about(secret), rng)
        published = np.bincount(cell, minlength=tally.n_cells).astype(np.int64)
        shared = Goal([KAnonymity(min(self._fewest(goal.about(secret)), len(cell)))])
        asked = goal.about(people) if people else shared
        if people and self.bucket_size is not None:
            asked = goal.about([*people, *shared.criteria])
        every = self._recoded(tally, published, range(len(tally.quasi_domains)), asked, rng)
        form = Batches(every, tuple(self._recoded(tally, published, places, shared, rng) for places in marginals))
        return Deal(cell, size, form, {"buckets": every.boxes.n_groups})

    def _asked(self, goal: Goal) -> tuple[list[Criterion], list[Criterion]]:
        """What is asked about secrets, and what about people."""
        secret = [c for c in goal.criteria if c.protects == {"secret"}]
        people = [c for c in goal.criteria if c.protects == {"identity"} and not c.columns]
        both = [c for c in goal.criteria if c not in secret and c not in people]
        if both:
            raise JobError(
                "E111",
                f"{self.name} forms groups of secrets apart from groups of people, and {both[0].name} is about both",
                hint="Ask for each by itself:\n- k-anonymity: {k: 5}\n- frequency-l-diversity: {column: NAME, l: 2}",
            )
        if not secret:
            raise JobError(
                "E111",
                f"{self.name} forms batches of sensitive values, and no criterion looks at any",
                hint=criterion("l-diversity", "LDiversity", column="NAME", l=3),
            )
        if people and self.marginals:
            raise JobError(
                "E111",
                f"{self.name} cannot promise {people[0].name} with marginals: joined by number they tell people apart",
                hint=say("{}   (without marginals)", algorithm("angel")),
            )
        return secret, people

    def _fewest(self, secret: Goal) -> int:
        """The fewest records of a bucket, where nothing else is asked."""
        return max(_FEWEST, secret.min_size) if self.bucket_size is None else self.bucket_size

    def _places(self, tally: Tally, names: Sequence[str]) -> list[int]:
        """Where the quasi-identifiers of a marginal stand."""
        known = [domain.name for domain in tally.quasi_domains]
        wrong = [name for name in names if name not in known]
        if wrong or not names or len(set(names)) < len(names):
            what = f"'{wrong[0]}' is no quasi-identifier{did_you_mean(wrong[0], known)}" if wrong else "one is empty"
            raise JobError("E110", f"'marginals': {what}", hint=assignment("marginals", [known[:1]]))
        return [known.index(name) for name in names]

    def _recoded(
        self, tally: Tally, published: Counts, places: Sequence[int], goal: Goal, rng: np.random.Generator
    ) -> Recoding:
        """Boxes of what is published, in some of the quasi-identifiers, that satisfy a goal about people."""
        cells = np.flatnonzero(published)
        domains = tuple(tally.quasi_domains[j] for j in places)
        columns = [tally.quasi[cells, j] for j in places]
        place, first = distinct_rows(columns, [d.size for d in domains])
        count = np.bincount(place, published[cells]).astype(np.int64)
        quasi = np.column_stack([column[first] for column in columns])
        alone = Tally(quasi, np.zeros((len(first), 0), np.int32), count, domains, ())
        if not goal.satisfied(goal.together(alone)).all():
            raise goal.infeasible(tally)
        groups = boxes_of_alike(alone, goal, rng, self.watch)
        box = np.full(tally.n_cells, -1, np.int32)
        box[cells] = groups.group[place]
        return Recoding(domains, box, groups.boxes(alone))
