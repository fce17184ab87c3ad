"""The language server: what an editor shows while a manifest is written."""
