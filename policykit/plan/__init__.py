"""The change from one policy to the next: what changes, who feels it, and a safe order of steps."""
