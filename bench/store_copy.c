/* SPDX-License-Identifier: Apache-2.0 */
#include "store_copy.h"

#include <kinformer/resources.h>
#include <kinformer/store.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { OBJECTS = 10000, LOOKUPS = 200000, ROUNDS = 5 };

static const char *const pointers[] = {"/metadata/namespace", "/spec/nodeName"};

static bool fill(ki_store *store)
{
    bool is_done = ki_store_add_index_path(store, "ip", "/status/podIPs/*/ip") == 0;
    for (int i = 0; i < OBJECTS && is_done; i++) {
        char json[256];
        int n = snprintf(
            json, sizeof(json),
            "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"pod-%d\"},\"spec\":{\"nodeName\":\"node-%d\"},"
            "\"status\":{\"podIPs\":[{\"ip\":\"10.0.%d.%d\"}]}}",
            i, i % 100, i / 256, i % 256);
        ki_object *pod = ki_object_new(&KI_CORE_V1_PODS, ki_str_from(json, (size_t)n), NULL, NULL);
        is_done = pod != NULL && ki_store_put(store, pod) == 0;
        (void)ki_object_unref(pod);
    }
    return is_done;
}

static size_t address_of(int i, char *text, size_t bytes)
{
    i = (int)((unsigned)i * 7919U % OBJECTS);
    return (size_t)snprintf(text, bytes, "10.0.%d.%d", i / 256, i % 256);
}

/* Each returns the bytes that it has copied. */
static size_t by_one_call(ki_store *store, ki_str address, char *buffer, size_t bytes)
{
    ki_str texts[2];
    ki_fields fields = {
        .pointers = pointers, .texts = texts, .count = 2, .buffer = buffer, .buffer_bytes = bytes};
    return ki_store_copy_one(store, "ip", address, &fields) == 0 ? texts[0].len + texts[1].len : 0;
}

static size_t by_three_calls(ki_store *store, ki_str address, char *buffer, size_t bytes)
{
    ki_object *pod = ki_store_get_one(store, "ip", address);
    ki_str ns = ki_object_namespace(pod);
    ki_str node = ki_object_string(pod, "/spec/nodeName");
    size_t len = ns.len + node.len;
    if (pod != NULL && len <= bytes) {
        memcpy(buffer, ns.ptr, ns.len);
        memcpy(buffer + ns.len, node.ptr, node.len);
    }
    (void)ki_object_unref(pod);
    return len;
}

/* Both include formatting the address, which costs the same. */
static double measure(ki_store *store, size_t (*copy)(ki_store *, ki_str, char *, size_t), size_t *out_copied)
{
    char address[32], buffer[128];
    double begun = bench_own_seconds();
    *out_copied = 0;
    for (int i = 0; i < LOOKUPS; i++) {
        size_t len = address_of(i, address, sizeof(address));
        *out_copied += copy(store, ki_str_from(address, len), buffer, sizeof(buffer));
    }
    return (bench_own_seconds() - begun) / LOOKUPS * 1e9;
}

bool store_copy_bench(bool *out_met)
{
    ki_store *store = ki_store_new(NULL, NULL);
    bool is_done = store != NULL && fill(store);
    double one = 0, three = 0;
    for (int round = 0; round < ROUNDS && is_done; round++) {
        size_t copied[2];
        double ns[2] = {measure(store, by_one_call, &copied[0]), measure(store, by_three_calls, &copied[1])};
        is_done = copied[0] == copied[1] && copied[0] > 0;
        one = round == 0 || ns[0] < one ? ns[0] : one;
        three = round == 0 || ns[1] < three ? ns[1] : three;
    }
    ki_store_free(store);
    if (is_done) {
        printf(
            "\ntwo fields by an index, with the text of the address, ns each\n%-34s %8.0f\n%-34s %8.0f\n\n",
            "ki_store_copy_one", one, "get_one, two reads, unref", three);
        *out_met &= bench_target("copy_one, times the calls that it replaces", one / three, "<=", 1.10);
    }
    return is_done;
}
