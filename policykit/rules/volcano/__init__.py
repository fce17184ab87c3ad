"""Volcano: its scheduler configuration, queues, jobs and PodGroups."""
