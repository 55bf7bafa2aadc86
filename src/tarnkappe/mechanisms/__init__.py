"""Noise for differential privacy, drawn exactly: whole numbers only, so that no rounding of floats tells a value."""

from __future__ import annotations

from tarnkappe.mechanisms.choosing import choice_probabilities, choose
from tarnkappe.mechanisms.gaussian import epsilon_of, gaussian_noise, rho_of
from tarnkappe.mechanisms.geometric import bernoulli_exp, geometric_noise, granted_epsilon
from tarnkappe.mechanisms.laplace import laplace_on_grid

__all__ = [
    "bernoulli_exp",
    "choice_probabilities",
    "choose",
    "epsilon_of",
    "gaussian_noise",
    "geometric_noise",
    "granted_epsilon",
    "laplace_on_grid",
    "rho_of",
]
