"""Volcano's objects: queues, Jobs, HyperNodes, and labels and annotations of nodes and namespaces."""
