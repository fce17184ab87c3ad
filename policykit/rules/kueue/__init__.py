"""Kueue: its objects, and what workloads ask of it."""
