"""koord-scheduler-config: the chart's or a given one, and what the policy makes of it."""
