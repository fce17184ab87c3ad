"""Patches that make a workload of each kind land where it should."""
