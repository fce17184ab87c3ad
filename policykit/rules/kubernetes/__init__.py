"""Kubernetes' own scheduler, priorities and gangs."""
