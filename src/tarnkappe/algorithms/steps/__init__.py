"""Steps that algorithms of several schemes share: median cuts, swaps, and cells as units of groups."""
