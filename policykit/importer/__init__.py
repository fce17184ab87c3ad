"""A policy from what exists: nodes, queues, scheduler configurations, generated folders."""
