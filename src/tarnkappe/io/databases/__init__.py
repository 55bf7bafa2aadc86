"""Tables in databases, as the source and the target of a job: PostgreSQL, DuckDB and SQLite."""

from tarnkappe.io.databases.address import Address, is_database, require_table

__all__ = ["Address", "is_database", "require_table"]
