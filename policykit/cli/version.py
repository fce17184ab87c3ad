"""`policykit --version --verbose`: which installation this is."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from policykit import DISTRIBUTION, __file__, __version__, bundled, extension
from policykit.namedtuple import NamedTuple

_NAMESAKE = "policykit"
"""Another project's distribution, whose package has the same name as this one."""


class Installation(NamedTuple):
    """The running package, and the distributions installed in its environment."""

    version: str
    python: str
    interpreter: str
    package: str
    """Folder of the package."""
    in_checkout: bool
    extension: str
    """Whether the compiled extension is used, and why not."""
    distribution: str = ""
    """Version of this distribution in the environment, empty if it is not installed."""
    namesake: str = ""
    """Version of the other project's distribution, empty if it is not installed."""


def here() -> Installation:
    """The running installation."""
    package = os.path.dirname(os.path.abspath(__file__))
    return Installation(
        version=__version__,
        python=platform.python_version(),
        interpreter=sys.executable,
        package=package,
        in_checkout=bundled.path() == os.path.dirname(package),
        extension=extension.STATE,
        distribution=_installed(DISTRIBUTION),
        namesake=_installed(_NAMESAKE),
    )


def described(found: Installation) -> str:
    """The text of `--version --verbose`, one line per fact."""
    lines = [
        f"policykit {found.version}",
        f"distribution: {DISTRIBUTION} {found.distribution or 'is not installed in this environment'}",
        f"python: {found.python}, {found.interpreter}",
        f"package: {found.package}, {'in a checkout' if found.in_checkout else 'installed'}",
        f"extension: {found.extension}",
    ]
    if found.namesake:
        lines.append(
            f"warning: {_NAMESAKE} {found.namesake} is also installed here, another project whose package "
            f"has the same name: install {DISTRIBUTION} into a separate environment"
        )
    return "".join(f"{line}\n" for line in lines)


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
