"""The change from one policy to the next: what changes, who is affected, and a safe order of steps."""
