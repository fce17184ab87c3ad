"""YuniKorn: its own loader over our files, and what policykit says of the same files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from policykit.model.release import Version
from policykit.targets.yunikorn import validation
from scripts.upstream.go import NoSourceError, run_program

MODULE = "github.com/apache/yunikorn-core"
INTERFACE = "github.com/apache/yunikorn-scheduler-interface"
"""Its requirement, a draft of the same version, which the registry has not for every release."""

PROGRAM = r"""package main

import (
	"encoding/json"
	"os"

	"github.com/apache/yunikorn-core/pkg/common/configs"
)

func main() {
	var texts map[string]string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	refused := map[string]string{}
	for name, text := range texts {
		if _, err := configs.LoadSchedulerConfigFromByteArray([]byte(text)); err != nil {
			refused[name] = err.Error()
		}
	}
	json.NewEncoder(os.Stdout).Encode(refused)
}
"""


def ask(version: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Texts that a release refuses, with its reason. Raises NoSourceError."""
    refused: dict[str, str]
    try:
        refused = run_program(PROGRAM, MODULE, f"v{version}", dict(texts))
    except NoSourceError:
        refused = run_program(PROGRAM, MODULE, f"v{version}", dict(texts), INTERFACE)
    return refused


def disagreements(version: Version, texts: Mapping[str, str], refused: Mapping[str, str]) -> Iterator[str]:
    """Texts that only one of the two refuses."""
    for name, text in sorted(texts.items()):
        ours = validation.problems(next(yaml.safe_load_all(text)), version)
        if ours and name not in refused:
            yield f"{name}: YuniKorn {version} accepts it, policykit says: {ours[0].message}"
        elif name in refused and not ours:
            yield f"{name}: YuniKorn {version} refuses it: {refused[name]}"
