"""Tarnkappe releases microdata without exposing the people in it.

The ten lines most people need::

    import tarnkappe as tk

    job = tk.Job(
        quasi={"age": tk.numeric(), "zip": tk.prefix(4, 3, 2), "sex": tk.suppress()},
        identifiers=["name"], sensitive=["illness"], keep="rest",
        criteria=[tk.KAnonymity(5), tk.LDiversity("illness", 2)],
    )
    release = job.anonymize(frame)      # Polars, pandas or Arrow in, the same out
    release.verdicts, release.table     # the proof, and the table that may be shared

Names are imported when they are first used, so that ``import tarnkappe`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tarnkappe._version import __version__

if TYPE_CHECKING:
    from tarnkappe.algorithms.fulldomain.best_first import BestFirst
    from tarnkappe.algorithms.fulldomain.datafly import Datafly
    from tarnkappe.algorithms.fulldomain.flash import Flash
    from tarnkappe.algorithms.fulldomain.genetic import LevelGenetic
    from tarnkappe.algorithms.fulldomain.incognito import Incognito
    from tarnkappe.algorithms.fulldomain.mingen import MinGen
    from tarnkappe.algorithms.fulldomain.ola import OLA
    from tarnkappe.algorithms.fulldomain.samarati import Samarati
    from tarnkappe.algorithms.fulldomain.sdgs import Sdgs
    from tarnkappe.algorithms.fulldomain.top_down import TopDown
    from tarnkappe.algorithms.local.bottom_up_greedy import BottomUpGreedy
    from tarnkappe.algorithms.local.hilb import Hilb
    from tarnkappe.algorithms.local.iterated_local_recoding import IteratedLocalRecoding
    from tarnkappe.algorithms.local.k_member import KMember
    from tarnkappe.algorithms.local.lsh_rc import LSHRC
    from tarnkappe.algorithms.local.oka import OneKMeans
    from tarnkappe.algorithms.local.progressive_local_recoding import ProgressiveLocalRecoding
    from tarnkappe.algorithms.local.top_down_greedy import TopDownGreedy
    from tarnkappe.algorithms.microaggregation.blocks import BlockMDAV
    from tarnkappe.algorithms.microaggregation.condensation import Condensation
    from tarnkappe.algorithms.microaggregation.individual_sorting import IndividualSorting
    from tarnkappe.algorithms.microaggregation.k_ward import KWard
    from tarnkappe.algorithms.microaggregation.kanonymeans import KAnonyMeans
    from tarnkappe.algorithms.microaggregation.kanonymeans_star import KAnonyMeansStar
    from tarnkappe.algorithms.microaggregation.maximum_distance import MaximumDistance
    from tarnkappe.algorithms.microaggregation.mdav import MDAV
    from tarnkappe.algorithms.microaggregation.mdav_plus import MDAVPlus
    from tarnkappe.algorithms.microaggregation.mdav_star import MDAVStar
    from tarnkappe.algorithms.microaggregation.optimal_univariate import OptimalUnivariate
    from tarnkappe.algorithms.microaggregation.path import Path
    from tarnkappe.algorithms.microaggregation.r_gather import RGather
    from tarnkappe.algorithms.microaggregation.recursive_k_ward import RecursiveKWard
    from tarnkappe.algorithms.microaggregation.secure_k_ward import SecureKWard
    from tarnkappe.algorithms.microaggregation.single_axis import SingleAxis
    from tarnkappe.algorithms.microaggregation.tarn import Tarn
    from tarnkappe.algorithms.microaggregation.v_mdav import VMDAV
    from tarnkappe.algorithms.multidimensional.infogain_mondrian import InfoGainMondrian
    from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
    from tarnkappe.algorithms.multidimensional.mr_mondrian import MRMondrian
    from tarnkappe.algorithms.multidimensional.rothko_s import RothkoS
    from tarnkappe.algorithms.multidimensional.rothko_t import RothkoT
    from tarnkappe.algorithms.subtree.bug import BottomUpGeneralization
    from tarnkappe.algorithms.subtree.hdtds import HighDimensionalTds
    from tarnkappe.algorithms.subtree.iyengar import Iyengar
    from tarnkappe.algorithms.subtree.k_optimize import KOptimize
    from tarnkappe.algorithms.subtree.l_plus_optimize import LPlusOptimize
    from tarnkappe.algorithms.subtree.mr_bug import MRBUG
    from tarnkappe.algorithms.subtree.mr_tds import MRTDS
    from tarnkappe.algorithms.subtree.mu_argus import MuArgus
    from tarnkappe.algorithms.subtree.tdd import TopDownDisclosure
    from tarnkappe.algorithms.subtree.tds import TopDownSpecialization
    from tarnkappe.algorithms.subtree.tds_cluster import TdsForClusters
    from tarnkappe.criteria.alpha_k_anonymity import AlphaKAnonymity
    from tarnkappe.criteria.average_risk import AverageRisk
    from tarnkappe.criteria.beta_likeness import BetaLikeness
    from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
    from tarnkappe.criteria.delta_disclosure import DeltaDisclosure
    from tarnkappe.criteria.delta_presence import DeltaPresence
    from tarnkappe.criteria.differential_privacy import DifferentialPrivacy
    from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
    from tarnkappe.criteria.epsilon_m_anonymity import EpsilonMAnonymity
    from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
    from tarnkappe.criteria.k_anonymity import KAnonymity
    from tarnkappe.criteria.k_e_anonymity import KEAnonymity
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
    from tarnkappe.job import Job, numeric
    from tarnkappe.pipeline import run_job, verify
    from tarnkappe.release import Release
    from tarnkappe.taxonomy import (
        Taxonomy,
        dates,
        frequency,
        from_file,
        intervals,
        ordered,
        prefix,
        suppress,
        tree,
        value_set,
    )

_HOMES = {
    "AlphaKAnonymity": "criteria.alpha_k_anonymity",
    "AverageRisk": "criteria.average_risk",
    "BestFirst": "algorithms.fulldomain.best_first",
    "BetaLikeness": "criteria.beta_likeness",
    "BlockMDAV": "algorithms.microaggregation.blocks",
    "BottomUpGeneralization": "algorithms.subtree.bug",
    "BottomUpGreedy": "algorithms.local.bottom_up_greedy",
    "Condensation": "algorithms.microaggregation.condensation",
    "ConfidenceBounding": "criteria.confidence_bounding",
    "Datafly": "algorithms.fulldomain.datafly",
    "DeltaDisclosure": "criteria.delta_disclosure",
    "DeltaPresence": "criteria.delta_presence",
    "DifferentialPrivacy": "criteria.differential_privacy",
    "EntropyLDiversity": "criteria.entropy_l_diversity",
    "EpsilonMAnonymity": "criteria.epsilon_m_anonymity",
    "Flash": "algorithms.fulldomain.flash",
    "FrequencyLDiversity": "criteria.frequency_l_diversity",
    "HighDimensionalTds": "algorithms.subtree.hdtds",
    "Hilb": "algorithms.local.hilb",
    "Incognito": "algorithms.fulldomain.incognito",
    "IndividualSorting": "algorithms.microaggregation.individual_sorting",
    "InfoGainMondrian": "algorithms.multidimensional.infogain_mondrian",
    "IteratedLocalRecoding": "algorithms.local.iterated_local_recoding",
    "Iyengar": "algorithms.subtree.iyengar",
    "Job": "job",
    "KAnonyMeans": "algorithms.microaggregation.kanonymeans",
    "KAnonyMeansStar": "algorithms.microaggregation.kanonymeans_star",
    "KAnonymity": "criteria.k_anonymity",
    "KEAnonymity": "criteria.k_e_anonymity",
    "KMap": "criteria.k_map",
    "KMember": "algorithms.local.k_member",
    "KOptimize": "algorithms.subtree.k_optimize",
    "KWard": "algorithms.microaggregation.k_ward",
    "LDiversity": "criteria.l_diversity",
    "LKCPrivacy": "criteria.lkc_privacy",
    "LPlusOptimize": "algorithms.subtree.l_plus_optimize",
    "LSHRC": "algorithms.local.lsh_rc",
    "LevelGenetic": "algorithms.fulldomain.genetic",
    "MDAV": "algorithms.microaggregation.mdav",
    "MDAVPlus": "algorithms.microaggregation.mdav_plus",
    "MDAVStar": "algorithms.microaggregation.mdav_star",
    "MRBUG": "algorithms.subtree.mr_bug",
    "MRMondrian": "algorithms.multidimensional.mr_mondrian",
    "MRTDS": "algorithms.subtree.mr_tds",
    "MaxRisk": "criteria.max_risk",
    "MaximumDistance": "algorithms.microaggregation.maximum_distance",
    "MinGen": "algorithms.fulldomain.mingen",
    "Mondrian": "algorithms.multidimensional.mondrian",
    "MuArgus": "algorithms.subtree.mu_argus",
    "OLA": "algorithms.fulldomain.ola",
    "OneKMeans": "algorithms.local.oka",
    "OptimalUnivariate": "algorithms.microaggregation.optimal_univariate",
    "Path": "algorithms.microaggregation.path",
    "PersonalizedPrivacy": "criteria.personalized_privacy",
    "ProgressiveLocalRecoding": "algorithms.local.progressive_local_recoding",
    "RGather": "algorithms.microaggregation.r_gather",
    "RecursiveCLDiversity": "criteria.recursive_cl_diversity",
    "RecursiveKWard": "algorithms.microaggregation.recursive_k_ward",
    "Release": "release",
    "RothkoS": "algorithms.multidimensional.rothko_s",
    "RothkoT": "algorithms.multidimensional.rothko_t",
    "Samarati": "algorithms.fulldomain.samarati",
    "Sdgs": "algorithms.fulldomain.sdgs",
    "SecureKWard": "algorithms.microaggregation.secure_k_ward",
    "SingleAxis": "algorithms.microaggregation.single_axis",
    "TCloseness": "criteria.t_closeness",
    "Tarn": "algorithms.microaggregation.tarn",
    "Taxonomy": "taxonomy",
    "TdsForClusters": "algorithms.subtree.tds_cluster",
    "TopDown": "algorithms.fulldomain.top_down",
    "TopDownDisclosure": "algorithms.subtree.tdd",
    "TopDownGreedy": "algorithms.local.top_down_greedy",
    "TopDownSpecialization": "algorithms.subtree.tds",
    "VMDAV": "algorithms.microaggregation.v_mdav",
    "XYAnonymity": "criteria.xy_anonymity",
    "XYLinkability": "criteria.xy_linkability",
    "XYPrivacy": "criteria.xy_privacy",
    "dates": "taxonomy",
    "frequency": "taxonomy",
    "from_file": "taxonomy",
    "intervals": "taxonomy",
    "numeric": "job",
    "ordered": "taxonomy",
    "prefix": "taxonomy",
    "run_job": "pipeline",
    "suppress": "taxonomy",
    "tree": "taxonomy",
    "value_set": "taxonomy",
    "verify": "pipeline",
}

__all__ = [
    "LSHRC",
    "MDAV",
    "MRBUG",
    "MRTDS",
    "OLA",
    "VMDAV",
    "AlphaKAnonymity",
    "AverageRisk",
    "BestFirst",
    "BetaLikeness",
    "BlockMDAV",
    "BottomUpGeneralization",
    "BottomUpGreedy",
    "Condensation",
    "ConfidenceBounding",
    "Datafly",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "Flash",
    "FrequencyLDiversity",
    "HighDimensionalTds",
    "Hilb",
    "Incognito",
    "IndividualSorting",
    "InfoGainMondrian",
    "IteratedLocalRecoding",
    "Iyengar",
    "Job",
    "KAnonyMeans",
    "KAnonyMeansStar",
    "KAnonymity",
    "KEAnonymity",
    "KMap",
    "KMember",
    "KOptimize",
    "KWard",
    "LDiversity",
    "LKCPrivacy",
    "LPlusOptimize",
    "LevelGenetic",
    "MDAVPlus",
    "MDAVStar",
    "MRMondrian",
    "MaxRisk",
    "MaximumDistance",
    "MinGen",
    "Mondrian",
    "MuArgus",
    "OneKMeans",
    "OptimalUnivariate",
    "Path",
    "PersonalizedPrivacy",
    "ProgressiveLocalRecoding",
    "RGather",
    "RecursiveCLDiversity",
    "RecursiveKWard",
    "Release",
    "RothkoS",
    "RothkoT",
    "Samarati",
    "Sdgs",
    "SecureKWard",
    "SingleAxis",
    "TCloseness",
    "Tarn",
    "Taxonomy",
    "TdsForClusters",
    "TopDown",
    "TopDownDisclosure",
    "TopDownGreedy",
    "TopDownSpecialization",
    "XYAnonymity",
    "XYLinkability",
    "XYPrivacy",
    "__version__",
    "dates",
    "frequency",
    "from_file",
    "intervals",
    "numeric",
    "ordered",
    "prefix",
    "run_job",
    "suppress",
    "tree",
    "value_set",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tarnkappe' has no attribute '{name}'")
    return getattr(import_module(f"tarnkappe.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
