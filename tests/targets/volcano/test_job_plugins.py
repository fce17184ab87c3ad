import pytest

from policykit.targets.volcano.job_plugins import check, roles
from policykit.targets.volcano.versions import Release

NOT_KNOWN = "job plugins: env, hcclrank, mpi, pytorch, ray, ssh, svc, tensorflow"


@pytest.mark.parametrize(
    ("name", "arguments", "have", "expected"),
    [
        pytest.param("svc", ["--publish-not-ready-addresses=true"], None, [], id="switch"),
        pytest.param("svc", ["--disable-network-policy"], None, [], id="bare-switch"),
        pytest.param("pytorch", ["--master=m", "--worker=w", "-port=1"], None, [], id="flags"),
        pytest.param("env", [], (1, 8, 2), [], id="no-arguments"),
        pytest.param(
            "quux",
            [],
            None,
            [(("quux",), "Volcano has no job plugin quux", NOT_KNOWN)],
            id="unknown",
        ),
        pytest.param(
            "pytorh",
            [],
            None,
            [(("pytorh",), "Volcano has no job plugin pytorh", "did you mean pytorch?")],
            id="misspelt",
        ),
        pytest.param(
            "ray",
            [],
            (1, 12, 4),
            [
                (
                    ("ray",),
                    "Volcano 1.12.4 has no job plugin ray (added in 1.13)",
                    "remove it or upgrade Volcano",
                )
            ],
            id="too-new",
        ),
        pytest.param(
            "pytorch",
            ["--wait-master-enabled"],
            (1, 13, 3),
            [
                (
                    ("pytorch", 0),
                    "Volcano 1.13.3 has no argument --wait-master-enabled of job plugin pytorch "
                    "(added in 1.14)",
                    "remove it or upgrade Volcano",
                )
            ],
            id="flag-too-new",
        ),
        pytest.param(
            "mpi",
            ["--port=22", "master=m"],
            None,
            [(("mpi", 1), "argument 'master=m' of job plugin mpi is not of the form --name=value", "")],
            id="form",
        ),
        pytest.param(
            "mpi",
            ["--mastr=m"],
            None,
            [
                (
                    ("mpi", 0),
                    "job plugin mpi has no argument --mastr",
                    "did you mean --master?",
                )
            ],
            id="no-such-flag",
        ),
        pytest.param(
            "env",
            ["--x=1"],
            None,
            [(("env", 0), "job plugin env has no argument --x", "")],
            id="none",
        ),
        pytest.param(
            "mpi",
            ["--port=ssh", "--master"],
            None,
            [
                (("mpi", 0), "argument --port of job plugin mpi is 'ssh', not a whole number", ""),
                (("mpi", 1), "argument --master of job plugin mpi has no value", ""),
            ],
            id="values",
        ),
        pytest.param(
            "svc",
            ["--disable-network-policy=yes"],
            None,
            [
                (
                    ("svc", 0),
                    "argument --disable-network-policy of job plugin svc is 'yes', not true or false",
                    "",
                )
            ],
            id="switch-value",
        ),
    ],
)
def test_check(
    name: str, arguments: list[str], have: Release | None, expected: list[tuple[object, str, str]]
) -> None:
    found = list(check({name: arguments}, have))
    assert [(each.path, each.message, each.help) for each in found] == expected


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("mpi", ["--master=launcher", "--port=22", "-worker=w"], {"master": "launcher", "worker": "w"}),
        ("mpi", [], {"master": "master"}),
        ("pytorch", [], {}),
        ("quux", ["--master=launcher"], {}),
    ],
    ids=["named", "default", "none-must-be", "unknown"],
)
def test_roles_name_tasks(name: str, arguments: list[str], expected: dict[str, str]) -> None:
    assert roles(name, arguments) == expected
