#!/bin/sh
# Checks that every public header compiles alone, as C11 and as C++17, with gcc and clang, without a warning, and
# kinformer.hpp as C++17 and C++20; that kinformer.h includes all of them, and that ki_struct_bytes() knows every struct.
set -eu
cd "$(dirname "$0")/.."

warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror'
failed=0

# $1 compiler, $2 language, $3 standard, $4 header. Included twice, to find a missing include guard.
compiles() {
    # shellcheck disable=SC2086  # a list of options
    printf '#include <%s>\n#include <%s>\n' "$4" "$4" | "$1" -x "$2" "-std=$3" $warnings -Iinclude -fsyntax-only -
}

for path in include/kinformer.h include/kinformer/*.h; do
    header=${path#include/}
    for language in 'gcc c c11' 'clang c c11' 'g++ c++ c++17' 'clang++ c++ c++17'; do
        # shellcheck disable=SC2086  # three words
        compiles $language "$header" || { echo "headers: $header does not compile alone: $language" >&2; failed=1; }
    done
    if [ "$header" != kinformer.h ] && ! grep -qxF "#include <$header>" include/kinformer.h; then
        echo "headers: kinformer.h does not include <$header>" >&2
        failed=1
    fi
done

for language in 'g++ c++ c++17' 'clang++ c++ c++17' 'g++ c++ c++20' 'clang++ c++ c++20'; do
    # shellcheck disable=SC2086  # three words
    compiles $language kinformer.hpp || { echo "headers: kinformer.hpp does not compile: $language" >&2; failed=1; }
done

for name in $(sed -nE 's/^(typedef )?struct (ki_[a-z_]+) \{.*/\2/p' include/kinformer/*.h); do
    if ! grep -qF "ROW($name)," src/util/struct_bytes.c; then
        echo "headers: src/util/struct_bytes.c does not have $name" >&2
        failed=1
    fi
done
exit $failed
