"""The baseline of a file: the nearest one in its folder or above, up to the repository's root."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from policykit.errors import SourceError
from policykit.workspace.boundary import SMALL
from policykit.workspace.files import BASELINE, read, repository_root, shown_path, upwards

if TYPE_CHECKING:
    from policykit.linter.baseline import BaselineFile


def nearest_baselines(paths: Iterable[str]) -> dict[str, str]:
    """Absolute path of the baseline of each file that has one."""
    folders = {path: os.path.dirname(path) for path in paths}
    nearest = {folder: nearest_baseline(os.path.abspath(folder)) for folder in set(folders.values())}
    return {path: nearest[folder] for path, folder in folders.items() if nearest[folder]}


def nearest_baseline(folder: str) -> str:
    """Absolute path of the baseline for files in a folder; empty: there is none."""
    paths = (os.path.join(here, BASELINE) for here in upwards(folder))
    return next(filter(os.path.lexists, paths), "")


def default_place(folder: str) -> str:
    """Path at which the baseline for a folder is written: the nearest one, else in the repository's root."""
    return nearest_baseline(folder) or os.path.join(repository_root(folder) or os.getcwd(), BASELINE)


def load(path: str) -> BaselineFile:
    """Reads a baseline. Raises SourceError if the file cannot be read or is not a baseline."""
    from policykit.linter.baseline import BaselineFile, parse

    absolute = os.path.abspath(path)
    shown = shown_path(absolute)
    try:
        text = read(absolute, most=SMALL).decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    except SourceError as error:
        make = f"check the path, or make one with `policykit baseline -o {shown}`"
        raise SourceError(error.message, make, shown) from None
    return BaselineFile(absolute, shown, text, parse(text, shown))


def folder_of(path: str) -> str:
    """Absolute folder of a file."""
    return os.path.dirname(os.path.abspath(path))
