"""Engines: where records are counted and rewritten. Two verbs each, `count` and `rewrite`."""
