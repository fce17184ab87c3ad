#!/usr/bin/env bash
# What action.yml runs: installs policykit from its own folder, lints, and leaves outputs.
# Inputs come as POLICYKIT_*; words of a list are separated by spaces.
set -u

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "::error title=policykit::$("$python" --version) is too old: put actions/setup-python with 3.11 or newer before this step"
    exit 2
fi

venv=$RUNNER_TEMP/policykit
"$python" -m venv "$venv" && "$venv/bin/python" -m pip install --quiet "$GITHUB_ACTION_PATH" || exit 2

read -r -a paths <<<"$POLICYKIT_PATHS"
read -r -a more <<<"$POLICYKIT_ARGS"
options=(--format github --format "jsonl=$RUNNER_TEMP/policykit.jsonl")
[ -n "$POLICYKIT_POLICY" ] && options+=(--policy "$POLICYKIT_POLICY")
[ -n "$POLICYKIT_SARIF" ] && options+=(--format "sarif=$POLICYKIT_SARIF")

: >"$RUNNER_TEMP/policykit.jsonl"
"$venv/bin/policykit" lint "${options[@]}" ${more[@]+"${more[@]}"} -- "${paths[@]}"
code=$?

if [ "$POLICYKIT_CHECK_GENERATED" = true ]; then
    "$venv/bin/policykit" gen --check --all
    drift=$?
    [ "$drift" -gt "$code" ] && code=$drift
fi

{
    echo "findings=$(wc -l <"$RUNNER_TEMP/policykit.jsonl" | tr -d ' ')"
    echo "sarif=$([ -n "$POLICYKIT_SARIF" ] && [ -f "$POLICYKIT_SARIF" ] && echo "$POLICYKIT_SARIF")"
} >>"$GITHUB_OUTPUT"
exit "$code"
