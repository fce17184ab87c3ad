"""`make test-cluster`: builds what is missing, then runs the tests of this folder, within a limit of time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

from tests.cluster.programs import build, definitions, folder, missing
from tests.shared import ROOT

_TESTS = 6 * 60
"""Seconds without which building is not worth its time: the tests could not run afterwards."""
_LEAST = 90
"""Seconds without which there is no use in starting."""
_END = 30
"""Seconds before the limit in which tests are stopped."""


def main(limit: str) -> int:
    """`limit`: seconds, empty for none. 0 where the programs or the time are not there: that is told."""
    until = time.time() + float(limit) if limit else None
    if until and until - time.time() < _LEAST:
        print("left out: `make test-cluster`, no time left")
        return 0
    if missing() and not shutil.which("go"):
        print(f"left out: `make test-cluster`. No Go to build {', '.join(missing())}, and none in {folder()}")
        return 0
    left = build(until - _TESTS if until else None)
    if left:
        print(f"left out: `make test-cluster`. Not built: {', '.join(left)}")
        return 0
    definitions()
    return _test(until)


def _test(until: float | None) -> int:
    """pytest in a group of its own, so that nothing of it outlives the limit."""
    command = [sys.executable, "-m", "pytest", "tests/cluster", "-q", "-rA", "--durations=5"]
    environment = {**os.environ, "POLICYKIT_CLUSTER": "1"}
    if until:
        # A run that is cut short must not hide a failure: the first one ends it.
        command.append("-x")
        environment["POLICYKIT_CLUSTER_UNTIL"] = str(until - 2 * _END)
    with subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True) as tests:
        try:
            return tests.wait(until - _END - time.time() if until else None)
        except subprocess.TimeoutExpired:
            print("\nleft out: the rest of `make test-cluster`, no time left")
            # As from a keyboard: pytest stops its programs.
            tests.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                tests.wait(_END)
            return 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(tests.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
