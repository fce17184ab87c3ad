"""Pods that start together or not at all."""
