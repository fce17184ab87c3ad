"""kube-scheduler: fields of its configuration by release, and its strict decoder over our files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.targets.kubernetes.scheduler.fields import ARGS, CONFIGURATION, NOT_IN, SINCE, Spec
from scripts.upstream.go import run_program

MODULE = "k8s.io/kube-scheduler"

PROGRAM = r"""package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	v1 "k8s.io/kube-scheduler/config/v1"
	"sigs.k8s.io/yaml"
)

func fields(kind reflect.Type, at string, found map[string]bool) {
	for kind.Kind() == reflect.Ptr || kind.Kind() == reflect.Slice {
		kind = kind.Elem()
	}
	if kind.Kind() != reflect.Struct || !strings.Contains(kind.PkgPath(), "kube-scheduler") {
		return
	}
	for i := 0; i < kind.NumField(); i++ {
		name := strings.Split(kind.Field(i).Tag.Get("json"), ",")[0]
		if name == "" {
			for j := 0; j < kind.Field(i).Type.NumField(); j++ {
				inner := strings.Split(kind.Field(i).Type.Field(j).Tag.Get("json"), ",")[0]
				found[at+inner] = true
			}
			continue
		}
		found[at+name] = true
		fields(kind.Field(i).Type, at+name+".", found)
	}
}

func main() {
	var texts map[string]string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	known := scheme.KnownTypes(v1.SchemeGroupVersion)
	lists := map[string]map[string]bool{}
	for name, kind := range known {
		if name == "KubeSchedulerConfiguration" || strings.HasSuffix(name, "Args") {
			lists[name] = map[string]bool{}
			fields(kind, "", lists[name])
		}
	}
	refused := map[string]string{}
	for name, text := range texts {
		var made v1.KubeSchedulerConfiguration
		if err := yaml.UnmarshalStrict([]byte(text), &made); err != nil {
			refused[name] = err.Error()
			continue
		}
		for _, profile := range made.Profiles {
			for _, each := range profile.PluginConfig {
				kind, ok := known[each.Name+"Args"]
				if !ok || each.Args.Raw == nil {
					continue
				}
				args := reflect.New(kind).Interface()
				if err := yaml.UnmarshalStrict(each.Args.Raw, args); err != nil {
					refused[name] = each.Name + ": " + err.Error()
				}
			}
		}
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"fields": lists, "refused": refused})
}
"""


def ask(minor: int, texts: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """`fields` of kube-scheduler 1.`minor` by type, and `refused` texts by name. Raises NoSourceError."""
    found: dict[str, dict[str, object]] = run_program(PROGRAM, MODULE, f"v0.{minor}.0", dict(texts))
    return found


_HEAD = frozenset({"apiVersion", "kind"})
"""Every args may have them; our table leaves them out."""


def differences(minor: int, fields: Mapping[str, object]) -> Iterator[str]:
    """Our table against the types of a release: what is missing in it, and what it has too much."""
    ours = {
        "KubeSchedulerConfiguration": CONFIGURATION,
        **{f"{name}Args": spec for name, spec in ARGS.items()},
    }
    for kind, listed in sorted(fields.items()):
        there = frozenset(listed) if isinstance(listed, dict) else frozenset()
        here = frozenset(_paths(ours.get(kind, {}), minor))
        known = {path for path in there if _reached(path, here)}
        yield from (f"new in 1.{minor}: {kind}.{path}" for path in sorted(known - here - _HEAD))
        yield from (
            f"not in 1.{minor}: {kind}.{path}" for path in sorted(here - there) if _typed(path, there)
        )


def _paths(spec: Spec, minor: int, at: str = "") -> Iterator[str]:
    inner = spec[0] if isinstance(spec, list) else spec
    for name, below in inner.items() if isinstance(inner, dict) else ():
        if SINCE.get(name, 0) <= minor and "v1" not in NOT_IN.get(name, ()):
            yield f"{at}{name}"
            yield from _paths(below, minor, f"{at}{name}.")


def _reached(path: str, here: frozenset[str]) -> bool:
    """Whether our table says anything below the field's parent."""
    above = path.rpartition(".")[0]
    return not above or any(each.startswith(f"{above}.") for each in here)


def _typed(path: str, there: frozenset[str]) -> bool:
    """Whether the release's own types go as deep; those of other packages are not listed."""
    above = path.rpartition(".")[0]
    return not above or any(each.startswith(f"{above}.") for each in there)
