"""PK6: Koordinator: its scheduler configuration, quotas, devices and classes of pods."""
