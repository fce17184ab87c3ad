#!/bin/sh
# Builds kustomize, Helm 3 and Helm 4 into a folder: a few minutes, once. A tool that cannot be
# built is told and left out.
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
