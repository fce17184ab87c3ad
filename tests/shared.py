"""Where the shared facts and real manifests stand, when they stand beside the checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BESIDE = ROOT.parent / "shared"

SHARED: Path | None = _BESIDE if _BESIDE.is_dir() else None
"""The shared folder, or None on a machine that has only the checkout."""
