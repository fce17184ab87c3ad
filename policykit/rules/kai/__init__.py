"""KAI-Scheduler: its queues, and fractions of cards."""
