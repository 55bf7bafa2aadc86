"""Bucketisation: quasi-identifiers and sensitive values are torn apart inside groups."""
