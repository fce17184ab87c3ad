"""Nodes: labels, taints, join-time forms and what their daemons must tolerate."""
