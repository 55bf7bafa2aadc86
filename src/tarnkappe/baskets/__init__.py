"""Sets of items: whoever knows a few items of a person finds at least k persons who have them."""

from tarnkappe.baskets.anonymize import ItemsRelease, anonymize_items, run_items
from tarnkappe.baskets.audit import audit_items, verify_items

__all__ = [
    "ItemsRelease",
    "anonymize_items",
    "audit_items",
    "run_items",
    "verify_items",
]
