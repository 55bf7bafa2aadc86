"""Compare algorithms and parameters: a declared grid of jobs, decided and measured, and the map of risk and loss."""
