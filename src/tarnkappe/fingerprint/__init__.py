"""Traceable copies: every recipient gets a release of their own, and a leaked one tells whose it was."""
