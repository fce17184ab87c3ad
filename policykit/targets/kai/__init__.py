"""KAI-Scheduler: groups the pods of known kinds by itself."""
