"""Kueue: admits jobs by queue, beside whatever scheduler places them."""
