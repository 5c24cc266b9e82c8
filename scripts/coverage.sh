#!/bin/sh
# Runs all tests with coverage instrumentation and reports which lines of src/ they reach.
set -eu
cd "$(dirname "$0")/.."

scripts/build.sh coverage
find build/coverage -name '*.gcda' -delete
ctest --preset coverage
gcovr --root . --filter src/ --object-directory build/coverage --txt build/coverage/report.txt
tail -n 3 build/coverage/report.txt
echo "line by line: build/coverage/report.txt"
