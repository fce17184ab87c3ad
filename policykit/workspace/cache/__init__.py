"""What earlier runs found, kept in a folder: results of files, whole reports, compiled policies, builds.

Whoever can write to that folder can change what a run reports, and nothing else: entries are data that
is checked as it is read, and no path in them is ever opened.
"""
