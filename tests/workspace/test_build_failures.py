"""Which failed builds of kustomize are mistakes."""

import pytest

from policykit.linter.input_file import FileEntry, Kustomization
from policykit.workspace.build_failures import mistake_in_build

FAILURE = "no matches for Id Deployment.v1.apps/web.[noNs]; failed to find unique target for patch"


@pytest.mark.parametrize("resources", [(), ("job.yaml",)], ids=["post-renderer", "with resources"])
def test_patch_without_its_object(resources: tuple[str, ...]) -> None:
    """A kustomization with nothing to patch is applied to a rendered chart."""
    listed = tuple(FileEntry(("resources", 0), f"/nowhere/{name}") for name in resources)
    tree = Kustomization(
        "/nowhere/kustomization.yaml", listed, (FileEntry(("patches", 0), "/nowhere/p.yaml"),)
    )
    assert (mistake_in_build(tree, FAILURE) is not None) is bool(resources)
