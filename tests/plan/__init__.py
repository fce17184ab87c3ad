"""Plans of a change, held against a simulation that shares no code with them."""
