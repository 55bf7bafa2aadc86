"""What attacks need is said as options on the command line, and as arguments in Python."""

from __future__ import annotations

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.attacks.base import NEEDS
from tarnkappe.attacks.minimality import Minimality
from tarnkappe.attacks.proximity import Proximity
from tarnkappe.attacks.skewness import Skewness
from tarnkappe.errors import TarnkappeError
from tarnkappe.fixes import Fix

TABLE = pl.DataFrame(
    {"age": ["20-29"] * 4 + ["30-39"] * 4, "sex": ["f", "m"] * 4, "illness": ["flu", "gout", "ache", "flu"] * 2}
)
CALLED = {
    "no quasi-identifiers": ("homogeneity", {"sensitive": ["illness"]}),
    "nothing sensitive": ("homogeneity", {"quasi": ["age"]}),
    "nobody known": ("record-linkage", {"quasi": ["age"]}),
    "no other release": ("complementary-release", {"quasi": ["age"], "sensitive": ["illness"], "known": TABLE}),
    "no numbers": (Proximity(within=5), {"quasi": ["age"], "sensitive": ["illness"]}),
    "no such value": (Skewness(value="mumps"), {"quasi": ["age"], "sensitive": ["illness"]}),
    "no such guarded value": (Minimality(l=2, value="mumps"), {"quasi": ["age"], "sensitive": ["illness"]}),
}


@pytest.mark.parametrize("case", CALLED)
def test_fixes_of_attacks_are_arguments_where_they_are_called_from_python(case: str):
    what, given = CALLED[case]
    with pytest.raises(TarnkappeError) as caught:
        tk.attack(what, TABLE, **given)
    fix = str(caught.value).partition("Fix: ")[2]
    assert fix
    assert "--" not in fix
    assert "{" not in fix


def test_what_attacks_need_can_be_pasted_in_both_syntaxes():
    for _, fix in NEEDS.values():
        if isinstance(fix, Fix):
            assert str(fix).startswith("--")
            compile(f"f({fix.in_python})", "fix", "eval")
