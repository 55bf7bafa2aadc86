from __future__ import annotations
import pytest
from checker import run_and_check
from hypothesis import HealthCheck, given, settings
from whole_jobs import Case, algorithm_variants, cases
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
@pytest.mark.parametrize("algorithm", algorithm_variants(), ids=str)
def test_any(algorithm):
    @given(cases(algorithm))
    @settings(max_examples=150, deadline=None, suppress_health_check=SLOW, print_blob=False)
    def check(case: Case) -> None:
        run_and_check(case)
    check()
