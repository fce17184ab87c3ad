#!/bin/sh
# Builds kustomize, Helm 3 and Helm 4 into a folder, and fetches the published schemas of report
# formats: a few minutes, once. What cannot be had is told and left out.
set -u
mkdir -p "$1"
folder=$(cd "$1" && pwd)
command -v go >/dev/null || { echo "no Go here: tests with kustomize and Helm will be skipped"; exit 0; }

# One module requires all three programs, so that what they share, as all of client-go, is compiled once. Compiling
# takes longer than all that tests do with them: nothing is optimised, and nothing is written for debuggers.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" && go mod init tools 2>/dev/null
for module in sigs.k8s.io/kustomize/kustomize/v5@v5.8.2 helm.sh/helm/v3@v3.22.0 helm.sh/helm/v4@v4.3.1; do
    go get "$module" 2>/dev/null
done

build() {
    name=$1 package=$2
    [ -x "$folder/$name" ] && return
    echo "building $name from $package"
    CGO_ENABLED=0 go build -mod=mod -gcflags='all=-N -l -dwarf=false' -ldflags='-s -w' -o "$folder/$name" "$package" \
        2>log && return
    tail -n 3 log
    echo "$name could not be built: its tests will be skipped"
}

build kustomize sigs.k8s.io/kustomize/kustomize/v5
build helm3 helm.sh/helm/v3/cmd/helm
build helm4 helm.sh/helm/v4/cmd/helm

# A file of a module, as it was published; nothing is built.
schema() {
    name=$1 module=$2 path=$3
    [ -f "$folder/schemas/$name" ] && return
    mkdir -p "$folder/schemas"
    found=$(cd "$folder/schemas" && go mod download -json "$module" 2>/dev/null | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    if [ -n "$found" ] && [ -f "$found/$path" ]; then
        cp "$found/$path" "$folder/schemas/$name" && chmod u+w "$folder/schemas/$name"
    else
        echo "$name could not be had from $module: its test will be skipped"
    fi
}

schema sarif.go github.com/owenrumney/go-sarif/v3@v3.3.1 pkg/report/v210/sarif/schema.go
schema rdjson.json github.com/reviewdog/reviewdog@v0.21.2 proto/rdf/jsonschema/DiagnosticResult.json
