"""What holds pods besides the pools: scheduler, priority, quotas, queue, gang and topology."""
