"""The exact searches agree with checking every node, and prune only where that is proved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from grids import some
from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.best_first import BestFirst
from tarnkappe.algorithms.fulldomain.flash import Flash
from tarnkappe.algorithms.fulldomain.genetic import LevelGenetic
from tarnkappe.algorithms.fulldomain.incognito import Incognito
from tarnkappe.algorithms.fulldomain.lattice import Lattice
from tarnkappe.algorithms.fulldomain.mingen import MinGen
from tarnkappe.algorithms.fulldomain.ola import OLA
from tarnkappe.algorithms.fulldomain.samarati import Samarati
from tarnkappe.algorithms.fulldomain.search import Search, cuts_at
from tarnkappe.algorithms.fulldomain.top_down import TopDown
from tarnkappe.algorithms.recoding import recode
from tarnkappe.criteria import Criterion, all_criteria
from tarnkappe.criteria.alpha_k_anonymity import AlphaKAnonymity
from tarnkappe.criteria.average_risk import AverageRisk
from tarnkappe.criteria.base import Scope
from tarnkappe.criteria.beta_likeness import BetaLikeness
from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
from tarnkappe.criteria.delta_disclosure import DeltaDisclosure
from tarnkappe.criteria.delta_presence import DeltaPresence
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.epsilon_m_anonymity import EpsilonMAnonymity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.k_e_anonymity import KEAnonymity
from tarnkappe.criteria.k_indistinguishability import KIndistinguishability
from tarnkappe.criteria.k_map import KMap
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.criteria.max_risk import MaxRisk
from tarnkappe.criteria.personalized_privacy import PersonalizedPrivacy
from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.criteria.xy_linkability import XYLinkability
from tarnkappe.criteria.xy_privacy import XYPrivacy
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.metrics import all_metrics, metric_named
from tarnkappe.plan import Plan, suppress_leftovers
from tarnkappe.tally import Domain, Tally, count_cells, with_population
from tarnkappe.taxonomy.tree import Taxonomy
from twins import with_twins

EXACT: tuple[type[FullDomainSearch], ...] = (Flash, OLA, Incognito, BestFirst)
RNG = np.random.default_rng(0)


#: Metrics that a search can go by without a target.
METRICS = sorted(n for n, m in all_metrics().items() if n != "classification" and m.measures_boxes())


def random_tree(rng: np.random.Generator, column: str) -> Taxonomy:
    """A taxonomy of two to nine leaves, some of it ragged."""
    groups: dict[str, object] = {}
    for g in range(rng.integers(1, 4)):
        leaves = [f"{column}{g}.{i}" for i in range(rng.integers(1, 4))]
        deep = rng.random() < 0.3
        groups[f"{column}{g}"] = {f"{column}{g}'": leaves} if deep else leaves
    return Taxonomy.from_nested(groups)


def random_tally(rng: np.random.Generator, n_columns: int = 3, *, public: bool = False) -> Tally:
    """A small table with a disease, the person each record is about, and what each wants to hide."""
    quasi = [Domain(f"q{j}", random_tree(rng, f"q{j}")) for j in range(n_columns)]
    n = int(rng.integers(4, 60))
    m = int(rng.integers(2, 6))
    values = np.arange(m, dtype=np.float64) * 3
    disease = Domain("disease", Taxonomy.from_nested({"ill": [f"d{i}" for i in range(m)]}), values)
    person = Domain("person", Taxonomy.from_nested([f"p{i}" for i in range(n)]), aside=True)
    guard = Domain("guard", Taxonomy.from_nested(["d0", "d1"]), aside=True)
    codes = [rng.choice(d.size, n, p=rng.dirichlet(np.full(d.size, 0.7))) for d in quasi]
    secret = np.where(rng.random(n) < 0.4, codes[0] % m, rng.integers(0, m, n))
    aside = [rng.integers(0, max(n // 2, 1), n), rng.integers(0, 2, n)]
    tally = count_cells(codes, [secret, *aside], quasi, [disease, person, guard])[0]
    if not public:
        return tally
    others = [np.concatenate([c, rng.integers(0, d.size, 2 * n)]) for c, d in zip(codes, quasi, strict=True)]
    return with_population(tally, count_cells(others, [], quasi, [])[0])[0]


def plain_optimum(tally: Tally, goal: Goal, metric: str) -> float | None:
    """The best score over all nodes, each recoded, settled, published and scored by itself."""
    best = None
    ruler = metric_named(metric)
    for node in product(*(range(d.taxonomy.height + 1) for d in tally.quasi_domains)):
        settled = suppress_leftovers(tally, recode(tally, cuts_at(tally, node)), goal)
        if settled is not None and settled.n_groups:
            score = ruler.score(Plan.of(tally, goal, settled))
            better = best is None or (score < best if ruler.goal == "minimise" else score > best)
            best = score if better else best
    return best


def score_of(algorithm: FullDomainSearch, tally: Tally, goal: Goal) -> float | None:
    try:
        grouping = algorithm.decide(tally, goal, rng=np.random.default_rng(1))
    except InfeasibleError:
        return None
    score = metric_named(algorithm.metric).score(Plan.of(tally, goal, grouping))
    assert grouping.notes["score"] == pytest.approx(score, abs=1e-9)
    return score


#: Every criterion that full-domain searches accept, with parameters that some of the small tables satisfy.
CRITERIA: tuple[Criterion, ...] = (
    KAnonymity(3),
    LDiversity("disease", 2),
    EntropyLDiversity("disease", 1.7),
    RecursiveCLDiversity("disease", 2.0, 2),
    FrequencyLDiversity("disease", 1.6),
    TCloseness("disease", 0.25),
    TCloseness("disease", 0.2, "ordered"),
    TCloseness("disease", 0.3, "hierarchical"),
    AlphaKAnonymity("disease", 0.6, 2),
    BetaLikeness("disease", 1.0, "basic"),
    BetaLikeness("disease", 2.0),
    ConfidenceBounding("disease", {"d0": 0.5}),
    DeltaDisclosure("disease", 1.5),
    DeltaDisclosure("disease", 1.0, "skipped"),
    EpsilonMAnonymity("disease", 1.0, 2),
    KEAnonymity("disease", 2, 3.0),
    MaxRisk(0.4),
    KIndistinguishability(3),
    AverageRisk(0.2),
    LKCPrivacy(2, 2, 0.8, "disease"),
    PersonalizedPrivacy("disease", "guard", 0.6),
    XYAnonymity("person", 2),
    XYAnonymity("person", 3, ("q0", "q1")),
    XYLinkability("disease", 0.7),
    XYLinkability("disease", 0.6, "d0", ("q1",), "person"),
    XYPrivacy("person", 2, "disease", 0.8),
    KMap(4),
    DeltaPresence(0.6),
    DeltaPresence(0.9, 0.05),
)


def test_every_criterion_is_among_them():
    """But for those whose own test file shows that releases of every algorithm keep them."""
    mechanisms = {name for name, cls in all_criteria().items() if cls.scope == "mechanism"}
    of_centres = {"security-ratio"}  # full-domain generalisation publishes none
    # Beyond groups, of surveys, of values that tell, and of a method.
    own = {"key-anonymity", "n-t-closeness", "estimated-k-map", "weighted-k-map", "individual-risk"}
    own |= {"ff-anonymity", "quasi-sensitive", "m-confidentiality"}
    assert {c.name for c in CRITERIA} >= all_criteria().keys() - mechanisms - of_centres - set(with_twins()) - own


def goals(seed: int) -> Iterator[Goal]:
    for i, criterion in enumerate(CRITERIA):
        limit = (0.0, 0.15, 1.0)[(seed + i) % 3]
        yield Goal([criterion], limit)
        if (seed + i) % 4 == 0:
            yield Goal([KAnonymity(2), criterion], limit)


@pytest.mark.parametrize("seed", range(2))
def test_exact_searches_agree(seed: int):
    """The same optimum for every criterion, with and without suppression, by one metric after the other."""
    for i, goal in enumerate(goals(seed)):
        tally = random_tally(np.random.default_rng([seed, i]), public=goal.needs_population)
        metric = METRICS[(seed + i) % len(METRICS)]
        expected = score_of(MinGen(metric=metric), tally, goal)
        for cls in EXACT:
            found = score_of(cls(metric=metric), tally, goal)
            assert found == pytest.approx(expected, abs=1e-9), (cls.name, metric, goal)


@pytest.mark.parametrize("seed", some(range(6), every=2))
@pytest.mark.parametrize("metric", METRICS)
def test_checking_every_node_finds_the_optimum(metric: str, seed: int):
    tally = random_tally(np.random.default_rng([7, seed]))
    for limit in (0.0, 0.3):
        goal = Goal([KAnonymity(2), LDiversity("disease", 2)], limit)
        expected = plain_optimum(tally, goal, metric)
        assert score_of(MinGen(metric=metric), tally, goal) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_nodes_are_checked_as_releases_are(criterion: Criterion):
    """Class tables and their statistics say the same as recoding the table and settling it."""
    for seed, limit in enumerate((0.0, 0.2, 0.7)):
        goal = Goal([criterion], limit)
        tally = random_tally(np.random.default_rng([8, seed]), public=goal.needs_population)
        assert score_of(MinGen(metric="lm"), tally, goal) == pytest.approx(plain_optimum(tally, goal, "lm"), abs=1e-9)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 162))
def test_exact_searches_agree_on_many_tables(seed: int):
    test_exact_searches_agree(seed)


class TestInvalidPruning:
    """Entropy l-diversity, which is monotone but not absorbing: generalising may force *more* suppression."""

    # Ten records: at level 0 the first class is diverse and the second is not; pooled, nothing is.
    tree = Taxonomy.from_nested({"all": ["a", "b"]})
    disease = Domain("disease", Taxonomy.from_nested(["flu", "hiv"]))

    def tally(self) -> Tally:
        values = [0] * 4 + [1] * 6
        secrets = [0, 1, 0, 1] + [0] * 6
        return count_cells([np.array(values)], [np.array(secrets)], [Domain("q", self.tree)], [self.disease])[0]

    goal = Goal([FrequencyLDiversity("disease", 2.0)], 0.6)

    def test_a_general_node_fails_and_a_special_one_does_not(self):
        search = Search(self.tally(), self.goal, metric_named("lm"))
        special, general = search.check((0,)), search.check((1,))
        assert special.ok
        assert special.suppressed == 6
        assert not general.ok
        assert not general.rules_out_below

    def test_pruning_as_if_it_were_absorbing_misses_the_optimum(self):
        """If it relied on monotony alone, Flash would never look at the only release there is."""
        search = Search(self.tally(), self.goal, metric_named("lm"))
        search.__dict__["failure_spreads"] = True
        Flash().run(search, RNG)
        assert search.best is None

    @pytest.mark.parametrize("cls", [*EXACT, Samarati, MinGen, LevelGenetic])
    def test_it_is_not_used(self, cls: type[FullDomainSearch]):
        grouping = cls().decide(self.tally(), self.goal, rng=np.random.default_rng(0))
        assert grouping.suppressed == 6

    def test_without_suppression_failure_spreads(self):
        assert Search(self.tally(), Goal([FrequencyLDiversity("disease", 2.0)]), metric_named("lm")).failure_spreads
        assert not Search(self.tally(), self.goal, metric_named("lm")).failure_spreads
        assert Search(self.tally(), Goal([LDiversity("disease", 2)], 0.5), metric_named("lm")).failure_spreads


class TestPatients:
    """Incognito's table of six patients: birth date, sex and postcode."""

    rows = (
        ("1/21/76", "M", "53715"),
        ("4/13/86", "F", "53715"),
        ("2/28/76", "M", "53703"),
        ("1/21/76", "M", "53703"),
        ("4/13/86", "F", "53706"),
        ("2/28/76", "F", "53706"),
    )
    minimal = "(0, 1, 2) (1, 0, 2) (1, 1, 0)"

    def tally(self) -> Tally:
        trees = (
            Taxonomy.from_nested(["1/21/76", "2/28/76", "4/13/86"]),
            Taxonomy.from_nested({"Person": ["M", "F"]}),
            Taxonomy.from_nested({"537**": {"5371*": ["53715"], "5370*": ["53703", "53706"]}}),
        )
        codes = [np.array([t.leaves.index(r[j]) for r in self.rows]) for j, t in enumerate(trees)]
        return count_cells(codes, [], [Domain(n, t) for n, t in zip("BSZ", trees, strict=True)], [])[0]

    @pytest.mark.parametrize("cls", [Incognito, OLA])
    def test_minimal_nodes(self, cls: type[FullDomainSearch]):
        grouping = cls().decide(self.tally(), Goal([KAnonymity(2)]), rng=RNG)
        assert grouping.notes["minimal nodes"] == self.minimal

    def test_all_satisfying_nodes(self):
        search = Search(self.tally(), Goal([KAnonymity(2)]), metric_named("loss"))
        MinGen().run(search, RNG)
        good = sorted(node for node, found in search.checked.items() if found.ok)
        assert good == [(0, 1, 2), (1, 0, 2), (1, 1, 0), (1, 1, 1), (1, 1, 2)]

    def test_parts(self):
        """Which nodes survive with two of the three columns, as printed in the paper."""
        tops = (1, 1, 2)
        goal = Goal([KAnonymity(2)])
        search = Search(self.tally(), goal, metric_named("loss"))

        def minimal(i: int, j: int) -> list[tuple[int, int]]:
            good = []
            for a, b in product(range(tops[i] + 1), range(tops[j] + 1)):
                node = list(tops)
                node[i], node[j] = a, b
                if search.probe(tuple(node)).ok:
                    good.append((a, b))
            return [g for g in good if not any(o != g and o[0] <= g[0] and o[1] <= g[1] for o in good)]

        assert minimal(1, 2) == [(0, 2), (1, 0)]
        assert minimal(0, 1) == [(0, 1), (1, 0)]
        assert minimal(0, 2) == [(0, 2), (1, 0)]

    def test_samarati_finds_the_lowest_height(self):
        grouping = Samarati().decide(self.tally(), Goal([KAnonymity(2)]), rng=RNG)
        assert grouping.notes["height"] == 2
        assert grouping.notes["minimal nodes"] == "(1, 1, 0)"


class TestLevels:
    """The highest level of a column is kept; the lowest one is what its domain begins with."""

    def tally(self, **limits: int) -> Tally:
        rng = np.random.default_rng(3)
        tree = Taxonomy.from_nested({"x": {"p": ["a", "b"], "q": ["c", "d"]}})
        domains = [Domain("u", tree, **limits), Domain("v", tree)]
        return count_cells([rng.integers(0, 4, 40) for _ in domains], [], domains, [])[0]

    @pytest.mark.parametrize("cls", [*EXACT, MinGen, Samarati, TopDown, LevelGenetic])
    def test_limits(self, cls: type[FullDomainSearch]):
        goal = Goal([KAnonymity(3)], 0.5)
        for highest in (2, 1, 0):
            grouping = cls().decide(self.tally(max_level=highest), goal, rng=np.random.default_rng(0))
            assert int(str(grouping.notes["levels"]).split(",")[0]) <= highest

    def test_limits_can_make_it_impossible(self):
        with pytest.raises(InfeasibleError):
            Flash().decide(self.tally(max_level=0), Goal([KAnonymity(40)]), rng=RNG)

    def test_the_lattice(self):
        assert Lattice.of(self.tally(max_level=1).quasi_domains) == Lattice((0, 0), (1, 2))
        lattice = Lattice((1, 0), (2, 2))
        assert (lattice.low, lattice.high, lattice.n_nodes) == ((1, 0), (2, 2), 6)
        assert sorted(lattice.successors((1, 2))) == [(2, 2)]
        assert sorted(lattice.predecessors((1, 2))) == [(1, 1)]
        assert lattice.heights.tolist() == [[1, 2, 3], [2, 3, 4]]


def test_tradeoff_weighs_suppression():
    """With suppression nearly free more is suppressed, with generalisation nearly free nothing is."""
    suppressed = []
    for tradeoff in (0.02, 0.5, 0.98):
        total = 0
        for seed in range(8):
            tally = random_tally(np.random.default_rng([5, seed]))
            total += Flash(tradeoff=tradeoff).decide(tally, Goal([KAnonymity(3)], 0.9), rng=RNG).suppressed
        suppressed.append(total)
    assert suppressed[0] > suppressed[1] > suppressed[2]


@pytest.mark.parametrize("tradeoff", [0.0, 0.1, 0.8, 1.0])
def test_the_tradeoff_keeps_bounds_valid(tradeoff: float):
    for seed in range(10):
        tally = random_tally(np.random.default_rng([6, seed]))
        goal = Goal([KAnonymity(3)], 0.6)
        found = []
        for cls in (MinGen, Flash, BestFirst):
            try:
                found.append(cls(tradeoff=tradeoff).decide(tally, goal, rng=RNG).notes["score"])
            except InfeasibleError:
                found.append(None)
        assert found[1:] == pytest.approx([found[0]] * 2, abs=1e-12)


def test_more_combinations_than_keys():
    """Keys that do not fit 64 bits are hashed, and tuples compared."""
    rng = np.random.default_rng(2)
    tree = Taxonomy.from_nested({f"g{g}": [f"{g}.{i}" for i in range(40)] for g in range(10)})
    domains = [Domain(f"q{j}", tree) for j in range(9)]
    few = rng.integers(0, 400, (30, 9))
    rows = few[rng.integers(0, 30, 300)]
    tally = count_cells(list(rows.T), [], domains, [])[0]
    goal = Goal([KAnonymity(12)], 0.2)
    search = Search(tally, goal, metric_named("gcp"))
    assert not search.tables._exact
    grouping = TopDown(metric="gcp").decide(tally, goal, rng=RNG)
    assert Plan.of(tally, goal, grouping).sizes.min() >= 12


def test_gap_of_a_search_that_ends_early():
    tally = random_tally(np.random.default_rng(11), n_columns=5)
    goal = Goal([KAnonymity(5)], 0.1)
    best = MinGen().decide(tally, goal, rng=RNG).notes["score"]
    early = BestFirst(checks=8).decide(tally, goal, rng=RNG).notes
    assert not early["optimal"]
    assert early["bound"] <= best <= early["score"]
    assert early["gap"] == pytest.approx(early["score"] - early["bound"])
    late = BestFirst().decide(tally, goal, rng=RNG).notes
    assert late["optimal"]
    assert late["gap"] == 0


@pytest.mark.parametrize("cls", [TopDown, LevelGenetic, Samarati])
def test_heuristics_are_never_better_than_the_optimum(cls: type[FullDomainSearch]):
    close = 0
    for seed in range(20):
        tally = random_tally(np.random.default_rng([9, seed]))
        goal = Goal([KAnonymity(3)], 0.1)
        best, found = score_of(Flash(), tally, goal), score_of(cls(), tally, goal)
        assert (best is None) == (found is None)
        if best is not None:
            assert found >= best - 1e-12
            close += found <= best + 0.1
    assert close >= 12


def test_the_classification_metric():
    """The optimum by the classification metric agrees with scoring every node's plan."""
    for seed in range(8):
        tally = random_tally(np.random.default_rng([12, seed]))
        goal = Goal([KAnonymity(3)], 0.2)
        ruler = metric_named("classification", "disease")
        plans = []
        for node in product(*(range(d.taxonomy.height + 1) for d in tally.quasi_domains)):
            settled = suppress_leftovers(tally, recode(tally, cuts_at(tally, node)), goal)
            if settled is not None and settled.n_groups:
                plans.append(ruler.score(Plan.of(tally, goal, settled)))
        for cls in (Flash, OLA):
            algorithm = cls(metric="classification", target="disease")
            try:
                found = algorithm.decide(tally, goal, rng=RNG).notes["score"]
            except InfeasibleError:
                found = None
            assert found == (pytest.approx(min(plans)) if plans else None)


def test_a_target_without_its_metric_is_refused():
    with pytest.raises(JobError, match="need each other"):
        Flash(target="disease")
    with pytest.raises(JobError, match="need each other"):
        Flash(metric="classification")


def test_an_unknown_metric_is_refused():
    with pytest.raises(JobError, match=r"there is no metric 'los'.*did you mean 'loss'"):
        Flash(metric="los")


def test_every_scope_is_accepted():
    scopes: set[Scope] = {c.scope for c in all_criteria().values()}
    assert scopes - {"mechanism", "method"} <= Flash.scopes  # those that only an algorithm of their own can keep


def test_metrics_of_centres_are_refused():
    with pytest.raises(JobError, match="does not measure"):
        MinGen(metric="sse")
