"""Evaluators: what a release is worth against an attack that no criterion speaks about."""

from tarnkappe.evaluate.isolation import Isolation, isolation
from tarnkappe.evaluate.joint import JointAnonymity, joint_anonymity

__all__ = ["Isolation", "JointAnonymity", "isolation", "joint_anonymity"]
