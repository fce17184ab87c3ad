"""How live nodes differ from a policy, and the commands to fix them."""
