#!/bin/sh
# Files that a script writes are as that script would write them now.
set -eu
cd "$(dirname "$0")/.."
python3 scripts/generate_resources.py --check
python3 scripts/generate_apiserver_resources.py --check
python3 scripts/generate_schemas.py --check
