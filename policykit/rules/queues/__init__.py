"""Queues and quotas of all systems."""
