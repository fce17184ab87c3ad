"""Requests, quotas and limits of cards."""
