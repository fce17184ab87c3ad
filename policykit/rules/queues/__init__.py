"""Queues and quotas of Volcano, YuniKorn and Koordinator, in one vocabulary."""
