"""What a long phase says about how far it has come."""

from __future__ import annotations

import pytest

from tarnkappe.cli import progress


def test_the_rate_counts_from_the_first_records(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.Working() as working:
        working("read")
        for seconds, done in ((100, 0), (110, 20_000_000), (120, 40_000_000)):  # a minute and more of preparations
            clock[0] = seconds
            working.step(done, 100_000_000)
    said = capsys.readouterr().err
    assert "20%, 2.0 million records/s, 40 s left" in said
    assert "40%, 2.0 million records/s, 30 s left" in said
    assert "0%, 0.0" not in said
