"""Goals of every kind."""

from __future__ import annotations

from tarnkappe.criteria.alpha_k_anonymity import AlphaKAnonymity
from tarnkappe.criteria.average_risk import AverageRisk
from tarnkappe.criteria.beta_likeness import BetaLikeness
from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
from tarnkappe.criteria.delta_disclosure import DeltaDisclosure
from tarnkappe.criteria.delta_presence import DeltaPresence
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.epsilon_m_anonymity import EpsilonMAnonymity
from tarnkappe.criteria.estimated_k_map import EstimatedKMap
from tarnkappe.criteria.ff_anonymity import FFAnonymity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.k_e_anonymity import KEAnonymity
from tarnkappe.criteria.k_map import KMap
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.criteria.m_confidentiality import MConfidentiality
from tarnkappe.criteria.max_risk import MaxRisk
from tarnkappe.criteria.n_t_closeness import NTCloseness
from tarnkappe.criteria.personalized_privacy import PersonalizedPrivacy
from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.criteria.xy_linkability import XYLinkability
from tarnkappe.criteria.xy_privacy import XYPrivacy
from tarnkappe.goal import Goal

GOALS = {
    "k=1": Goal([KAnonymity(1)]),
    "k=2": Goal([KAnonymity(2)]),
    "k=5": Goal([KAnonymity(5)]),
    "k=5, 10 % suppressed": Goal([KAnonymity(5)], 0.1),
    "k=5, all may be suppressed": Goal([KAnonymity(5)], 1.0),
    "k=40": Goal([KAnonymity(40)]),
    "two k": Goal([KAnonymity(3), KAnonymity(7)]),
    "l=3": Goal([LDiversity("disease", 3)]),
    "k=4, l=3": Goal([KAnonymity(4), LDiversity("disease", 3)], 0.02),
    "entropy l=2.2": Goal([KAnonymity(4), EntropyLDiversity("disease", 2.2)], 0.05),
    "recursive (2, 2)": Goal([KAnonymity(4), RecursiveCLDiversity("disease", 2.0, 2)]),
    "recursive (3, 3)": Goal([RecursiveCLDiversity("disease", 3.0, 3)], 0.1),
    "frequency l=2": Goal([FrequencyLDiversity("disease", 2)]),
    "frequency l=2.5": Goal([KAnonymity(3), FrequencyLDiversity("disease", 2.5)], 0.1),
    "equal t=0.3": Goal([TCloseness("disease", 0.3)]),
    "k=3, equal t=0.2": Goal([KAnonymity(3), TCloseness("disease", 0.2)], 0.3),
    "k=5, ordered t=0.15": Goal([KAnonymity(5), TCloseness("disease", 0.15, "ordered")]),
    "k=5, hierarchical t=0.25": Goal([KAnonymity(5), TCloseness("disease", 0.25, "hierarchical")], 0.05),
    "k, l and t": Goal([KAnonymity(5), LDiversity("disease", 3), TCloseness("disease", 0.3)], 0.01),
    "two columns": Goal([KAnonymity(4), LDiversity("disease", 3), FrequencyLDiversity("income", 2)]),
    "two columns, t": Goal([TCloseness("disease", 0.3), TCloseness("income", 0.2, "ordered")], 0.1),
    "l, others known": Goal([KAnonymity(4), LDiversity("disease", 2, know_others=True)], 0.2),
    "both, others known": Goal(
        [FrequencyLDiversity("disease", 1.5, know_others=True), EntropyLDiversity("income", 1.5, know_others=True)]
    ),
    "t, others known": Goal([TCloseness("disease", 0.6, know_others=True)], 0.1),
    "max risk 0.2": Goal([MaxRisk(0.2)], 0.1),
    "(alpha, k)": Goal([AlphaKAnonymity("disease", 0.5, 4)], 0.05),
    "(alpha, k), one value": Goal([AlphaKAnonymity("disease", 0.3, 4, "value 1")], 0.05),
    "bounded confidence": Goal([KAnonymity(3), ConfidenceBounding("disease", {"value 0": 0.5, "value 2": 0.5}, 0.7)]),
    "(k, e)": Goal([KEAnonymity("income", 3, 6)]),
    "beta": Goal([KAnonymity(3), BetaLikeness("disease", 2)], 0.1),
    "delta": Goal([DeltaDisclosure("disease", 2)], 0.1),
    "delta, absent skipped": Goal([KAnonymity(3), DeltaDisclosure("disease", 1.5, "skipped")], 0.2),
    "(epsilon, m)": Goal([EpsilonMAnonymity("income", 1, 2)], 0.2),
    "guarding nodes": Goal([KAnonymity(2), PersonalizedPrivacy("disease", "guard", 0.6)], 0.3),
    "k-map=12": Goal([KMap(12)], 0.05),
    "k=2, k-map=15, l=2": Goal([KAnonymity(2), KMap(15), LDiversity("disease", 2)]),
    "presence at most 0.4": Goal([DeltaPresence(0.4)], 0.05),
    "presence 0.05 to 0.6": Goal([DeltaPresence(0.6, 0.05)]),
    "4 people": Goal([XYAnonymity("person", 4)], 0.05),
    "4 people by age": Goal([XYAnonymity("person", 4, ("age",))], 0.05),
    "linkability": Goal([KAnonymity(2), XYLinkability("disease", 0.5)], 0.1),
    "privacy of people": Goal([XYPrivacy("person", 3, "disease", 0.9)], 0.3),
    "LKC": Goal([LKCPrivacy(2, 5, 0.7, "disease")], 0.05),
    "k-map of a sample": Goal([EstimatedKMap(9, 0.4)], 0.05),
    "observable values": Goal([KAnonymity(2), FFAnonymity(("disease", "income"), ("value 1", "value 3"), 0.6)], 0.2),
    "(n, t)": Goal([KAnonymity(3), NTCloseness("disease", 30, 0.4)], 0.3),
    "guarded values": Goal([KAnonymity(3), MConfidentiality("disease", ("value 1",), 2)]),
    "average risk": Goal([KAnonymity(2), AverageRisk(0.1)], 0.05),
}

#: Goals that take different ways through an algorithm, for variants of which there are many.
SOME_GOALS = ("k=5, 10 % suppressed", "k=4, l=3", "k=3, equal t=0.2")
