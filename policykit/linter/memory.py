"""What files gave when they were linted before, by everything that it depends on."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from policykit.linter.engine import FileResult, Job
from policykit.pickles import DAMAGED, thawed

_MOST = 200_000
"""Entries kept: those not used for longest go first."""


class Memory:
    """Results by keys; a key is made of a file's bytes and of everything else that a result depends on.

    Results are kept as bytes, so that worker processes need not build what only the first one uses.
    """

    def __init__(self, known: Mapping[bytes, bytes], tool: bytes) -> None:
        """`known`: what an earlier run left; `tool`: what tells this version of policykit from others."""
        self._known = known
        self._used: dict[bytes, bytes] = {}
        self._tool = tool
        self._settings: dict[bytes, bytes] = {}
        self.new = 0
        """Results that were not known."""

    def key(self, job: Job, mark: bytes, raw: bytes) -> bytes:
        """Of a file under a setting; `mark` tells its policy and everything else that rules see."""
        setting = self._settings.get(mark)
        if setting is None:  # both may be long, and there are few settings
            digest = blake2b(self._tool, digest_size=20)
            digest.update(mark)
            setting = self._settings[mark] = digest.digest()
        where = (job.path, job.partial, job.namespace, job.look)
        about = (*where, job.fixes, job.today, job.plugins, setting)
        digest = blake2b(repr(about).encode("utf-8", errors="surrogatepass"), digest_size=20)
        digest.update(raw)
        return digest.digest()

    def recall(self, key: bytes) -> bytes | None:
        """The result as it was frozen; None: it is not known."""
        return self._known.get(key)

    def keep(self, key: bytes, frozen: bytes) -> None:
        """Keeps a result for the next run."""
        self.new += key not in self._known
        self._used[key] = frozen

    def entries(self) -> dict[bytes, bytes]:
        """What to leave to the next run: what was used last stands last."""
        old = {key: frozen for key, frozen in self._known.items() if key not in self._used}
        spare = max(0, _MOST - len(self._used))
        return {**dict([*old.items()][len(old) - spare if len(old) > spare else 0 :]), **self._used}


def result(raw: bytes) -> FileResult | None:
    """A result again; None where the bytes are none, or of another version's."""
    try:
        found = thawed(raw)
    except DAMAGED:
        return None
    return found if isinstance(found, FileResult) else None
