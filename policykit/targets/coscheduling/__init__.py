"""The coscheduling plugin of kubernetes-sigs/scheduler-plugins."""
