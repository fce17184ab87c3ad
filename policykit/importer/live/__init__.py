"""What live nodes have otherwise than a policy, and the commands that would settle it."""
