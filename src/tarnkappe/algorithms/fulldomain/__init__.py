"""Full-domain generalisation: every value of a column is recoded to the same level."""
