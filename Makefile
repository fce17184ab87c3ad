# Everything runs in a local environment; nothing is installed outside this folder.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: plans demo test types tests extension test-extension test-cluster fuzz mutation bench bench-peers upstream golden compiled dist wheels release clean
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
# Tests start policykit thousands of times: without compiled modules each start compiles all that it imports.
export PYTHONDONTWRITEBYTECODE :=

demo: $(VENV)/.demo  ## install policykit and run its main job on examples/
	@$(BIN)/python scripts/demo.py

# A file of tests is run by one process, so that what its tests share is made once. tests/conftest.py orders them.
ON_ALL_PROCESSORS := -n auto --dist loadfile --no-loadscope-reorder

test:  ## style, types, tests
	@$(MAKE) --silent --jobs=2 $(VENV)/.dev $(VENV)/.tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory --jobs=2 types tests

# mypy uses one processor only: the tests run beside it.
types:
	$(BIN)/mypy

tests:
	$(BIN)/python -m pytest $(ON_ALL_PROCESSORS)

test-extension: $(VENV)/.dev $(VENV)/.tools  ## every test again, with the extension, where it can be compiled
	@if $(HAS_LIBYAML); then \
	  $(BIN)/python extension/build.py \
	  && POLICYKIT_EXTENSION=1 $(BIN)/python -m pytest $(ON_ALL_PROCESSORS); \
	else \
	  echo 'No C compiler or no header yaml.h here: nothing is tested with the extension.'; \
	fi

HAS_LIBYAML = printf '\043include <yaml.h>\n' | $${CC:-cc} -E - >/dev/null 2>&1

extension: $(VENV)/.dev  ## compile the extension in this checkout; needs a C compiler and libyaml's header
	$(BIN)/python extension/build.py

LIMIT ?=
test-cluster: $(VENV)/.dev  ## a real control plane, built once with Go; ends within LIMIT seconds, if given
	$(BIN)/python -m tests.cluster.run $(LIMIT)

bench: $(VENV)/.dev  ## speed beside yamllint and PyYAML, ratios and instruction counts printed
	$(BIN)/python -m scripts.bench

bench-peers: $(VENV)/.dev  ## kube-linter, kube-score, kubeconform and policykit on one large tree
	$(BIN)/python -m scripts.bench_peers

MINUTES ?= 10
fuzz: $(VENV)/.dev  ## property tests with new examples each time, then broken manifests for MINUTES
	POLICYKIT_FUZZ=1 $(BIN)/python -m pytest tests -q
	$(BIN)/python -m scripts.fuzz --minutes $(MINUTES) --seed $$(date +%s)

plans: $(VENV)/.dev  ## 2,000 random pairs of policies: their plans, held against a simulation
	POLICYKIT_PLAN_PAIRS=2000 $(BIN)/python -m pytest tests/plan/test_simulation.py -q -n auto

mutation: $(VENV)/.dev  ## faults put into clean manifests, and how many of each kind lint finds
	$(BIN)/python -m tests.mutation

golden: $(VENV)/.dev  ## rewrite golden files; read the diff before committing it
	$(BIN)/python -m pytest tests -q -k golden --update-golden

upstream: $(VENV)/.dev  ## compare with the systems themselves at each release; needs Go and the module registry, CLONES optional
	$(BIN)/python -m scripts.upstream $(CLONES)

compiled: $(VENV)/.dev  ## rewrite what is compiled from profiles/ and the rules, and exported to schemas/
	$(BIN)/python -m scripts.compile_rules
	$(BIN)/python -m scripts.compile_cards
	$(BIN)/python -m scripts.compile_kinds
	$(BIN)/python -m scripts.export_policy_schema
	$(BIN)/python -m scripts.export_release_page
	$(BIN)/python -m scripts.export_policy_reference

dist: $(VENV)/.release  ## wheel and sdist of what is committed: built twice, compared, checked, installed
	$(BIN)/python -m scripts.release

wheels: $(VENV)/.release  ## wheels with the extension, into dist/; needs a C compiler and libyaml's header, or cibuildwheel
	$(BIN)/python -m scripts.wheels

release: $(VENV)/.release  ## the same for a new VERSION, which it writes here and into the changelog
	@test -n "$(VERSION)" || { echo 'say which: make release VERSION=0.2.0'; exit 1; }
	$(BIN)/python -m scripts.release "$(VERSION)"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.release: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	@touch $@

# kustomize and Helm, which tests run policykit with. Without Go those tests are skipped, and say so.
$(VENV)/.tools: tests/tools.sh $(VENV)/bin/python
	@sh tests/tools.sh $(abspath $(VENV)/tools)
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist policykit/manifests/_*.so
