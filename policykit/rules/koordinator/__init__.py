"""Koordinator: its scheduler configuration, quotas, devices and QoS classes."""
