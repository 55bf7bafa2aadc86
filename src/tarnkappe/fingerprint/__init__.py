"""Traceable copies: every recipient gets a release of their own, and a leaked one tells whose it was."""

from tarnkappe.fingerprint.candidates import Candidates, Cluster, clusters
from tarnkappe.fingerprint.families import Family, framed, frameproof, meet, one_finer
from tarnkappe.fingerprint.genetic import Evolution, evolve
from tarnkappe.fingerprint.issuing import Copy, issue
from tarnkappe.fingerprint.joint import JointPrivacy, alignability, joint_privacy, unaligned_candidates
from tarnkappe.fingerprint.keys import Key
from tarnkappe.fingerprint.planning import Planned, plan_copies
from tarnkappe.fingerprint.poster import poster_plans
from tarnkappe.fingerprint.proof import check_proof, prove
from tarnkappe.fingerprint.register import Register
from tarnkappe.fingerprint.scheme import Scheme
from tarnkappe.fingerprint.selection import Objective, Selection, best_window
from tarnkappe.fingerprint.tracing import Suspect, Trace, trace

__all__ = [
    "Candidates",
    "Cluster",
    "Copy",
    "Evolution",
    "Family",
    "JointPrivacy",
    "Key",
    "Objective",
    "Planned",
    "Register",
    "Scheme",
    "Selection",
    "Suspect",
    "Trace",
    "alignability",
    "best_window",
    "check_proof",
    "clusters",
    "evolve",
    "framed",
    "frameproof",
    "issue",
    "joint_privacy",
    "meet",
    "one_finer",
    "plan_copies",
    "poster_plans",
    "prove",
    "trace",
    "unaligned_candidates",
]
