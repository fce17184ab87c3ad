"""Where pods may land, where the policy means them to, and what they lack for it."""
