"""The same people again: a ledger of releases, and releases that stay safe when they are put side by side."""
