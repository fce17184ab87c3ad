#!/usr/bin/env bash
# Run by action.yml: installs policykit from the action's own folder, lints, and sets the outputs.
# Inputs are in POLICYKIT_*; items of a list are separated by white space.
set -u
checkout=$PWD action=$GITHUB_ACTION_PATH python=${PYTHON:-python3}

# The checkout is untrusted. No program is taken from it, and nothing that tells Python, pip or git what
# to run: neither through PATH nor through another variable.
set -f
IFS=: found=
for folder in $PATH; do
    case $folder in "$checkout" | "$checkout"/*) ;; /*) found=$found:$folder ;; esac
done
unset IFS
PATH=${found#:}
for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
    eval "value=\${$name-}"
    case $name=$value in
        POLICYKIT_* | PWD=*) ;;
        PYTHON* | *"$checkout" | *"$checkout"[/:]*) unset "$name" ;;
    esac
done
export POLICYKIT_CACHE_DIR=

refuse() {
    echo "::error title=policykit::$1"
    exit 2
}

case $POLICYKIT_SARIF in
    [.-]* | *[!A-Za-z0-9._-]*) refuse "the input sarif must be a file name without folders: letters, digits, dots, underscores and dashes" ;;
esac

# Until policykit runs, the current folder is an empty one. Python's -I keeps it off the module path.
own=$(mktemp -d "$RUNNER_TEMP/policykit.XXXXXX") && cd "$own" || exit 2
"$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    refuse "$("$python" --version 2>&1) is too old: put actions/setup-python with 3.11 or newer before this step"
"$python" -I -m venv venv && venv/bin/python -I -m pip install --quiet --no-cache-dir -- "$action" || exit 2

policykit() {
    "$own/venv/bin/python" -I -m policykit "$@" </dev/null
}

cd "$checkout" || exit 2
read -r -d '' -a paths <<<"$POLICYKIT_PATHS"
read -r -d '' -a more <<<"$POLICYKIT_ARGS"
options=(--format github --format "jsonl=$own/findings.jsonl")
[ -n "$POLICYKIT_POLICY" ] && options+=("--policy=$POLICYKIT_POLICY")
[ -n "$POLICYKIT_SARIF" ] && options+=(--format "sarif=$own/$POLICYKIT_SARIF")

: >"$own/findings.jsonl"
policykit lint "${options[@]}" ${more[@]+"${more[@]}"} -- ${paths[@]+"${paths[@]}"}
code=$?

if [ "$POLICYKIT_CHECK_GENERATED" = true ]; then
    policykit gen --check --all
    drift=$?
    [ "$drift" -gt "$code" ] && code=$drift
fi

if [ "${POLICYKIT_PLAN-}" = true ]; then
    policykit plan --all --format markdown >"$own/plan.md"
    planned=$?
    # 1 means that a merge alone is not enough: it is for people to read, and fails nothing.
    [ "$planned" -gt 1 ] && code=$planned
    cat "$own/plan.md" >>"$GITHUB_STEP_SUMMARY"
fi

{
    echo "plan=$([ -s "$own/plan.md" ] && echo "$own/plan.md")"
    echo "findings=$(wc -l <"$own/findings.jsonl" | tr -d ' ')"
    echo "sarif=$([ -n "$POLICYKIT_SARIF" ] && [ -f "$own/$POLICYKIT_SARIF" ] && echo "$own/$POLICYKIT_SARIF")"
} >>"$GITHUB_OUTPUT"
exit "$code"
