"""Volcano's objects beside its configuration: queues, PodGroups, HyperNodes, node groups."""
