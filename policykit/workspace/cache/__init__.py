"""Cache folder of earlier runs: results of files, whole reports, compiled policies, builds.

Anyone who can write to that folder can change what a run reports, and nothing else: entries are data that
is validated when read, and no path in them is ever opened.
"""
