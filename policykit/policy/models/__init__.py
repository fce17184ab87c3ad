"""The policy's own types, one module per concept: what a key may hold and what it means."""
