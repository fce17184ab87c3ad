#!/bin/sh
# Builds kustomize, Helm 3 and Helm 4 into a folder, and fetches the published schemas of report
# formats: a few minutes, once. What cannot be had is told and left out.
set -u
folder=$1
mkdir -p "$folder"
command -v go >/dev/null || { echo "no Go here: tests with kustomize and Helm will be skipped"; exit 0; }

build() {
    name=$1 module=$2
    [ -x "$folder/$name" ] && return
    echo "building $name from $module"
    if GOBIN="$folder/build" go install "$module" 2>"$folder/$name.log"; then
        mv "$folder/build/"* "$folder/$name" && rmdir "$folder/build"
        rm "$folder/$name.log"
    else
        tail -n 3 "$folder/$name.log"
        echo "$name could not be built: its tests will be skipped"
    fi
}

build kustomize sigs.k8s.io/kustomize/kustomize/v5@v5.8.2
build helm3 helm.sh/helm/v3/cmd/helm@v3.22.0
build helm4 helm.sh/helm/v4/cmd/helm@v4.3.1

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
