"""Faults put into clean manifests, and how many of them the linter finds."""
