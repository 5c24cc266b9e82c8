#!/bin/sh
# Reads the public headers as other languages do, with cffi (Python), LuaJIT and bindgen (Rust), whichever are
# installed, and compares the sizes that they compute for each struct with ki_struct_bytes() of a library.
#
#   scripts/check_bindings.sh LIBRARY
set -eu
cd "$(dirname "$0")/.."
library=$(realpath "$1")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

scripts/declarations.sh >"$work/declarations"
sed -nE 's/^(typedef )?struct (ki_[a-z_]+) \{.*/\2/p' include/kinformer/*.h | sort >"$work/structs"
structs=$(wc -l <"$work/structs")
[ "$structs" -gt 0 ] || { echo "bindings: no struct found in include/" >&2; exit 1; }

with_cffi() {
    python3 - "$library" "$work" <<'END'
import sys
import cffi

library, work = sys.argv[1:]
ffi = cffi.FFI()
ffi.cdef("typedef void *va_list;" + open(work + "/declarations").read())
c = ffi.dlopen(library)
wrong = [name for name in open(work + "/structs").read().split()
         if ffi.sizeof(name if name != "ki_predicate" else "struct ki_predicate") != c.ki_struct_bytes(name.encode())]
text = c.ki_str_from(b"default/web", 7)
if wrong or ffi.unpack(text.ptr, text.len) != b"default":
    sys.exit("bindings: cffi has another layout of: " + " ".join(wrong))
END
}

with_luajit() {
    luajit - "$library" "$work" <<'END'
local library, work = arg[1], arg[2]
local ffi = require("ffi")
ffi.cdef(io.open(work .. "/declarations"):read("*a"))
local c = ffi.load(library)
for name in io.lines(work .. "/structs") do
    if ffi.sizeof(name) ~= tonumber(c.ki_struct_bytes(name)) then
        error("bindings: LuaJIT has another layout of " .. name)
    end
end
assert(ffi.string(c.ki_version()) ~= "")
END
}

# bindgen writes tests of the layouts, which contain the sizes.
with_bindgen() {
    bindgen include/kinformer.h -- -Iinclude >"$work/rust"
    for name in $(grep -hoE '\bki_[a-z0-9_]+\(' include/kinformer/*.h | tr -d '(' | sort -u); do
        grep -qF "$name" "$work/rust" || { grep -qE "KI_API .*\b$name\(" include/kinformer/*.h && echo "$name"; } || true
    done >"$work/missing"
    if [ -s "$work/missing" ]; then
        echo "bindings: bindgen does not have:" $(cat "$work/missing") >&2
        return 1
    fi
    python3 - "$library" "$work" <<'END'
import ctypes
import re
import sys

library, work = sys.argv[1:]
c = ctypes.CDLL(library)
c.ki_struct_bytes.restype = ctypes.c_size_t
sizes = dict(re.findall(r"size_of::<(ki_[a-z_]+)>\(\),\s+(\d+)usize", open(work + "/rust").read()))
wrong = [name for name in open(work + "/structs").read().split()
         if c.ki_struct_bytes(name.encode()) != int(sizes.get(name, 0))]
if wrong:
    sys.exit("bindings: bindgen has another layout of: " + " ".join(wrong))
END
}

failed=0
read_with() { # $1: a name, $2: the check; the rest: whether it is installed
    language=$1
    check=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        echo "bindings: $language is not installed: not checked"
    elif "$check"; then
        echo "bindings: $language reads the headers, $structs structs"
    else
        echo "bindings: $language cannot read the headers" >&2
        failed=1
    fi
}
read_with cffi with_cffi python3 -c 'import cffi'
read_with LuaJIT with_luajit luajit -v
read_with bindgen with_bindgen bindgen --version
exit $failed
