"""Kubernetes' own objects: priorities, quotas, ranges, autoscalers, gangs."""
