"""Kueue's objects as values, written and read."""
