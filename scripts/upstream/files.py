"""Every configuration that gen writes for a release, and those in the cases of rules."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ROOT / "profiles"
CASES = ROOT / "tests" / "rules"


def generated(profile: str, stated: str, version: str) -> dict[str, str]:
    """Texts that gen writes for a profile with another release, by path."""
    text = (PROFILES / f"{profile}.yaml").read_text(encoding="utf-8")
    if stated not in text:
        raise ValueError(f"{profile} does not state {stated}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policykit.yaml").write_text(text.replace(stated, version), encoding="utf-8")
        command = [sys.executable, "-m", "policykit", "gen", "-p", "policykit.yaml", "-o", "out"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        paths = sorted((folder / "out").rglob("*.y*ml"))
        return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in paths}


def cases() -> dict[str, str]:
    """Manifests of the rules' cases, by file and name."""
    found = {}
    for path in sorted(CASES.glob("*/cases/*.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        for kind in ("bad", "good"):
            for case in data.get(kind) or ():
                found[f"{path.stem}: {case['name']}"] = str(case["manifest"])
    return found


def queue_files(texts: Mapping[str, str]) -> dict[str, str]:
    """YuniKorn's queues: files of their own, and entries of ConfigMaps."""
    return {
        f"{name}{where}": yaml.safe_dump(data) if isinstance(data, dict) else data
        for name, text in texts.items()
        for where, data in _embedded(text)
        if _mapping(data).get("partitions")
    }


def scheduler_files(texts: Mapping[str, str]) -> dict[str, str]:
    """KubeSchedulerConfigurations in v1."""
    wanted = ("kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration")
    return {
        f"{name}{where}": yaml.safe_dump(made)
        for name, text in texts.items()
        for where, data in _embedded(text)
        if (made := _mapping(data)) and (made.get("apiVersion"), made.get("kind")) == wanted
    }


def _mapping(data: object) -> dict[str, Any]:
    found = _loaded(data)[0] if isinstance(data, str) and _loaded(data) else data
    return found if isinstance(found, dict) else {}


def _embedded(text: str) -> Iterator[tuple[str, Any]]:
    """Each document, and each text in it as it is written: entries of ConfigMaps and of Helm values."""
    for number, data in enumerate(_loaded(text)):
        if isinstance(data, dict):
            yield f"#{number}", data
            yield from _texts(data, f"#{number}")


def _texts(data: dict[str, Any], at: str) -> Iterator[tuple[str, str]]:
    for key, inner in data.items():
        if isinstance(inner, dict):
            yield from _texts(inner, f"{at}.{key}")
        elif isinstance(inner, str) and "\n" in inner:
            yield f"{at}.{key}", inner


def _loaded(text: str) -> list[Any]:
    try:
        return list(yaml.safe_load_all(text))
    except yaml.YAMLError:
        return []
