"""Koordinator: koord-scheduler, gangs and quotas by pod metadata."""
