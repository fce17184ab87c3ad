"""Volcano's scheduler configuration: actions, plugins in tiers, and the arithmetic of their weights."""
