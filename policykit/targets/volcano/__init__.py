"""Volcano: scheduler configuration and queues, written and read."""
