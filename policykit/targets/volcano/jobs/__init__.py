"""Volcano Jobs, and what carries a Job's spec: written, read and patched."""
