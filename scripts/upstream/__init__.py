"""Compares the tables of releases, and what gen writes, with the systems themselves: `make upstream`.

Go modules are taken at the tag of each release, from the module registry only, and built in a
temporary folder. Of systems whose code is no module, a clone is read, never built.
"""
