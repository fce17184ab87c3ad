"""Generated files: what targets return, and how it is bundled and compared with a folder."""
