"""PK2: requests, quotas and limits of cards."""
