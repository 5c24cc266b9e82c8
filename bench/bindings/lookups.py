# SPDX-License-Identifier: Apache-2.0
"""Two texts of the pod with an IP, from Python: with a call for each step, and with ki_store_copy_one_n().

  python3 lookups.py LIBRARY DECLARATIONS
"""
import sys
import time

import cffi

OBJECTS, LOOKUPS, ROUNDS = 10_000, 50_000, 5
TARGET = 0.8

ffi = cffi.FFI()
with open(sys.argv[2], encoding="utf-8") as declarations:
    ffi.cdef("typedef void *va_list;" + declarations.read())
c = ffi.dlopen(sys.argv[1])

pods = c.ki_resource_find(c.ki_str_of(b"pods"), ffi.NULL)  # cffi cannot read KI_CORE_V1_PODS of a loaded library
store = c.ki_store_new(ffi.NULL, ffi.NULL)
assert c.ki_store_add_index_path(store, b"ip", b"/status/podIPs/*/ip") == 0
addresses = [b"10.0.%d.%d" % (i // 256, i % 256) for i in range(OBJECTS)]
for i, address in enumerate(addresses):
    json = (b'{"metadata":{"namespace":"ns","name":"pod-%d"},"spec":{"nodeName":"node-%d"},'
            b'"status":{"podIPs":[{"ip":"%s"}]}}' % (i, i % 100, address))
    pod = c.ki_object_new(pods, c.ki_str_from(json, len(json)), ffi.NULL, ffi.NULL)
    assert c.ki_store_put(store, pod) == 0
    c.ki_object_unref(pod)


def by_four_calls(ip):
    found = c.ki_store_get_one_n(store, b"ip", ip, len(ip))
    ns = c.ki_object_namespace(found)
    node = c.ki_object_string(found, b"/spec/nodeName")
    texts = ffi.unpack(ns.ptr, ns.len), ffi.unpack(node.ptr, node.len)
    c.ki_object_unref(found)
    return texts


pointers = [ffi.new("char[]", pointer) for pointer in (b"/metadata/namespace", b"/spec/nodeName")]
array = ffi.new("const char *[]", pointers)
copied = ffi.new("ki_str[2]")
buffer = ffi.new("char[256]")
fields = ffi.new("ki_fields *", {"pointers": array, "texts": copied, "count": 2, "buffer": buffer,
                                 "buffer_bytes": 256})
copied_ns, copied_node = copied[0], copied[1]


def by_one_call(ip):
    assert c.ki_store_copy_one_n(store, b"ip", ip, len(ip), fields) == 0
    return ffi.string(copied_ns.ptr), ffi.string(copied_node.ptr)


def nanoseconds(lookup):
    begun = time.process_time()
    read = sum(len(node) + len(ns) for ns, node in (lookup(addresses[i * 7919 % OBJECTS]) for i in range(LOOKUPS)))
    return (time.process_time() - begun) / LOOKUPS * 1e9, read


one = four = float("inf")
for _ in range(ROUNDS):
    ns, read = nanoseconds(by_one_call)
    other_ns, other_read = nanoseconds(by_four_calls)
    assert read == other_read > LOOKUPS
    one, four = min(one, ns), min(four, other_ns)
c.ki_store_free(store)
print(f"Python: two texts by an index, ns each: {one:.0f} with one call, {four:.0f} with four")
is_met = one / four <= TARGET
print(f"{'met' if is_met else 'MISSED':6} {'Python: one call, times four':64} {one / four:9.2f} <= {TARGET:.2f}")
sys.exit(0 if is_met else 1)
