"""One file per kind of identifier: what it is called, what it sees, and what counts as evidence."""
