"""Volcano's objects: queues, PodGroups, Jobs, HyperNodes, and labels and annotations of others."""
