"""Check a release of tables that belong together, whatever kind it is."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.baskets.audit import audit_items
from tarnkappe.bundling import BundleAudit, manifest_with
from tarnkappe.histograms.audit import audit_histogram
from tarnkappe.history.unique import audit_series
from tarnkappe.job.histogram import KEY as HISTOGRAM
from tarnkappe.job.items import KEY as ITEMS
from tarnkappe.job.masking import KEY as MASKING
from tarnkappe.job.series import KEY as SERIES
from tarnkappe.job.synthetic import KEY as SYNTHETIC
from tarnkappe.masking.audit import audit_masking
from tarnkappe.multirelational.published import KEY as JOINED
from tarnkappe.multirelational.published import audit_joined
from tarnkappe.synthetic.audit import audit_synthetic

#: How each kind is checked, by the key that only its manifest has.
_KINDS = {
    HISTOGRAM: audit_histogram,
    ITEMS: audit_items,
    JOINED: audit_joined,
    MASKING: audit_masking,
    SERIES: audit_series,
    SYNTHETIC: audit_synthetic,
}


def is_bundle(path: str | Path) -> bool:
    """Whether a folder, or a table with its manifest beside it, is a release of tables that belong together."""
    return any(manifest_with(path, key) is not None for key in _KINDS)


def audit_bundle(path: str | Path) -> BundleAudit | None:
    """Check a folder, or its first table with the manifest beside it; None if it is no such release."""
    for key, audit in _KINDS.items():
        if manifest_with(path, key) is not None:
            return audit(path)
    return None
