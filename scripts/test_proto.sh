#!/bin/sh
# Compares the protobuf decoder with Go's: the whole test data that k8s.io/api publishes, and random objects of every
# kind. Needs Go and its module proxy.
#
#   scripts/test_proto.sh [SEEDS [EACH]]     3 seeds, 100 objects of each kind
#   scripts/test_proto.sh --record           writes tests/fixtures/proto/*.rec.gz again
set -eu
cd "$(dirname "$0")/.."
folder=build/proto
mkdir -p "$folder"
(cd scripts/tables && go build -o ../../build/tables .)
published=$(cd scripts/tables && go mod download k8s.io/api && go list -m -f '{{.Dir}}' k8s.io/api)/testdata

if [ "${1-}" = --record ]; then
    build/tables random-small 7 4 tests/fixtures/proto/random.rec.gz
    build/tables published 7 "$published" tests/fixtures/proto/published.rec.gz
    exit 0
fi
scripts/build.sh release test_proto_records
compare() {
    KI_FIXTURES=$PWD/tests/fixtures KI_PROTO_RECORDS=$PWD/$1 build/release/test_proto_records
    rm -f "$1"
}
build/tables published 1 "$published" "$folder/published.rec"
compare "$folder/published.rec"
seed=1
while [ $seed -le "${1-3}" ]; do
    build/tables random $seed "${2-100}" "$folder/random.rec"
    compare "$folder/random.rec"
    seed=$((seed + 1))
done
