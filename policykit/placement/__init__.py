"""Where pods can land, which pools the policy gives them, and what their placement lacks."""
