"""Volcano's scheduler configuration and objects."""
