"""What is said where a policy states no release: which releases need other files."""

from __future__ import annotations

import pytest

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generate, Generated, Notice, Role
from policykit.generator.unstated_release import notices
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Releases, Version

KNOWN = Releases("Volcano", {8: 2, 9: 1, 10: 2})
CLUSTER = Cluster("c", (), targets={"volcano": TargetSettings("volcano")})


def writer(*, differs: tuple[int, ...] = (), refuses: tuple[int, ...] = ()) -> Generate:
    """Files that are others for some minor releases; a page that is another for each."""

    def write(cluster: Cluster) -> Generated:
        version = KNOWN.parse(cluster.targets["volcano"].version)
        if version.minor in refuses:
            raise PolicykitError(f"Volcano {version} has no queues")
        other = version.minor in differs
        files = (
            Artifact("conf.yaml", "old" if other else "new", Role.MANIFEST),
            Artifact("README.md", str(version), Role.PAGE),
        )
        said = (Notice("volcano", f"Volcano {version} cannot pack"),) if other else ()
        return Generated(files, said)

    return write


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (writer(), []),
        (
            writer(differs=(8, 9)),
            [
                "the policy states no release of Volcano, so the files are written for 1.10.2; Volcano 1.8 "
                "to 1.9 need others (with 1.8.2: Volcano 1.8.2 cannot pack). Set targets.volcano.version"
            ],
        ),
        (
            writer(refuses=(8,)),
            [
                "the policy states no release of Volcano, so the files are written for 1.10.2; Volcano 1.8 "
                "needs others (with 1.8.2: Volcano 1.8.2 has no queues). Set targets.volcano.version"
            ],
        ),
    ],
)
def test_releases_that_need_other_files(write: Generate, said: list[str]) -> None:
    found = notices("volcano", write, CLUSTER, KNOWN, write(CLUSTER))
    assert [notice.message for notice in found] == said


def test_the_newest_is_the_last_patch() -> None:
    assert KNOWN.newest == Version(1, 10, 2)
