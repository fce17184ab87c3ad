"""Generated files: what targets hand over, and how a folder of them is written and checked."""
