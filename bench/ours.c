/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "ours.h"

#include <kinformer.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "generate_pods.h"
#include "json/kernel.h"
#include "json/scan.h"
#include "reflector/body_decoder.h"

static ki_object_plan *plan;
static size_t piece;
static bool is_reading;

void ours_fini(void)
{
    ki_object_plan_free(plan);
    plan = NULL;
}

void ours_set(enum ours_plan which, size_t piece_bytes)
{
    static const char *const kept[] = {"/spec/nodeName", "/status/phase", "/status/podIP", "/metadata/labels",
                                       NULL};
    ki_error err = {0};
    ours_fini();
    plan = ki_object_plan_new(&KI_CORE_V1_PODS,
                              &(ki_object_options){.keep = which == OURS_PROJECTED ? kept : NULL}, &err);
    piece = piece_bytes;
    if (plan == NULL) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(EXIT_FAILURE);
    }
}

static void mix(struct reference_result *result, ki_str text)
{
    reference_mix(result, text.ptr, text.len);
}

static void mix_string(struct reference_result *result, const ki_object *object, ki_json string)
{
    ki_str text = {0};
    if (ki_object_text(object, string, &text) == 0) {
        mix(result, text);
    }
}

static void mix_object(struct reference_result *result, const ki_object *object)
{
    result->objects++;
    if (!is_reading) {
        return;
    }
    ki_json name = {0};
    ki_json value = {0};
    mix(result, ki_object_name(object));
    mix(result, ki_object_namespace(object));
    mix(result, ki_object_uid(object));
    mix(result, ki_object_resource_version(object));
    mix(result, ki_object_string(object, "/metadata/creationTimestamp"));
    ki_json_iter labels = ki_json_iterate(ki_object_labels(object));
    while (ki_json_next(&labels, &name, &value)) {
        mix_string(result, object, name);
        mix_string(result, object, value);
    }
    ki_owner owner = {0};
    for (size_t i = 0; ki_object_owner(object, i, &owner) == 0; i++) {
        mix(result, owner.uid);
    }
}

/* Returns false if the step is unexpected. */
static bool take_list_step(const ki_list_decoder *decoder, int step, struct reference_result *result)
{
    if (step == KI_LIST_METADATA) {
        mix(result, ki_buf_str(&decoder->kind));
        mix(result, ki_buf_str(&decoder->api_version));
    } else if (step == KI_LIST_OBJECT) {
        mix_object(result, decoder->decoded.object);
    }
    return step != KI_LIST_REFUSED;
}

static bool take_watch_step(const ki_watch_decoder *decoder, int step, struct reference_result *result)
{
    const ki_object *object = decoder->decoded.object;
    if (step == KI_WATCH_MORE || step == KI_WATCH_REFUSED) {
        return step != KI_WATCH_REFUSED;
    }
    mix(result, ki_buf_str(&decoder->type));
    mix(result, ki_object_kind(object));
    mix(result, ki_object_api_version(object));
    mix_object(result, object);
    return true;
}

static bool feed(ki_body_decoder *decoder, const char *bytes, size_t n, struct reference_result *result)
{
    size_t used = 0;
    for (size_t at = 0; at < n; at += used) {
        int step = ki_body_decoder_feed(decoder, (ki_str){bytes + at, n - at}, &used, NULL);
        if (step < 0 ||
            !(decoder->form == KI_BODY_JSON_LIST ? take_list_step(&decoder->as.json_list, step, result)
                                                 : take_watch_step(&decoder->as.json_watch, step, result))) {
            return false;
        }
    }
    return true;
}

static bool read_body(ki_body_form form, ki_str body, bool reads_objects, struct reference_result *result)
{
    ki_body_decoder decoder;
    ki_body_decoder_init(&decoder, form, plan);
    is_reading = reads_objects;
    bool is_read = true;
    for (size_t at = 0; is_read && at < body.len; at += piece) {
        is_read = feed(&decoder, body.ptr + at, body.len - at < piece ? body.len - at : piece, result);
    }
    is_read = is_read && ki_body_decoder_end(&decoder, NULL) == 0;
    ki_body_decoder_fini(&decoder);
    return is_read;
}

bool ours_list(const char *data, size_t length, struct reference_result *result)
{
    return read_body(KI_BODY_JSON_LIST, (ki_str){data, length}, true, result);
}

bool ours_decode(const char *data, size_t length, struct reference_result *result)
{
    return read_body(KI_BODY_JSON_LIST, (ki_str){data, length}, false, result);
}

bool ours_watch(const char *data, size_t length, struct reference_result *result)
{
    return read_body(KI_BODY_JSON_WATCH, (ki_str){data, length}, true, result);
}

bool ours_decode_watch(const char *data, size_t length, struct reference_result *result)
{
    return read_body(KI_BODY_JSON_WATCH, (ki_str){data, length}, false, result);
}

bool ours_long_list(uint64_t objects, double *out_seconds)
{
    enum { DIFFERENT = 500 };
    const struct pod_collection pods = {GENERATE_PODS_SEED, DIFFERENT};
    struct reference_result result = {0};
    struct text items[DIFFERENT] = {0};
    struct text start = {0};
    pods_append_list_start(&start, &pods, DIFFERENT);
    for (uint64_t i = 0; i < DIFFERENT; i++) {
        pods_append_item(&items[i], &pods, i);
    }
    is_reading = false;
    double begin = bench_now_seconds();
    ki_body_decoder decoder;
    ki_body_decoder_init(&decoder, KI_BODY_JSON_LIST, plan);
    bool is_read = feed(&decoder, start.data, start.length, &result);
    for (uint64_t i = 0; is_read && i < objects; i++) {
        const struct text *item = &items[i % DIFFERENT];
        is_read =
            (i == 0 || feed(&decoder, ",", 1, &result)) && feed(&decoder, item->data, item->length, &result);
    }
    is_read = is_read && feed(&decoder, "]}", 2, &result) && ki_body_decoder_end(&decoder, NULL) == 0;
    ki_body_decoder_fini(&decoder);
    *out_seconds = bench_now_seconds() - begin;
    text_fini(&start);
    for (size_t i = 0; i < DIFFERENT; i++) {
        text_fini(&items[i]);
    }
    return is_read && result.objects == objects;
}

/* Returns the offset of the first item in a list document. */
static size_t first_item(const char *data, size_t length)
{
    static const char items[] = "\"items\":[";
    const char *found = memmem(data, length, items, sizeof(items) - 1);
    return found == NULL ? length : (size_t)(found - data) + sizeof(items) - 1;
}

bool ours_check(const char *data, size_t length, struct reference_result *result)
{
    ki_json_scanner scanner;
    ki_json_scanner_init(&scanner, NULL);
    for (size_t at = first_item(data, length); at < length; at++) {
        size_t used = 0;
        ki_json_scan_begin(&scanner, NULL);
        if (ki_json_scan(&scanner, data + at, length - at, &used) != 1) {
            return false;
        }
        at += used;
        result->objects++;
        if (data[at] != ',') {
            return true;
        }
    }
    return false;
}

bool ours_split(const char *data, size_t length, struct reference_result *result)
{
    const ki_json_kernel *kernel = ki_json_kernel_best();
    for (size_t at = first_item(data, length); at < length; at++) {
        size_t used = kernel->skip_container(data + at, length - at);
        if (used == 0) {
            return false;
        }
        at += used;
        result->objects++;
        if (data[at] != ',') {
            return true;
        }
    }
    return false;
}

static struct ours_memory *account;

static void *count_allocate(size_t size, void *user)
{
    (void)user;
    account->allocations++;
    return malloc(size);
}

static void *count_reallocate(void *memory, size_t size, void *user)
{
    (void)user;
    return realloc(memory, size);
}

static void count_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

static bool measure_items(ki_list_decoder *decoder, const char *data, size_t length,
                          struct ours_memory *memory)
{
    size_t used = 0;
    bool is_warm = false;
    for (size_t at = 0; at < length; at += used) {
        uint64_t before = memory->allocations;
        int step = ki_list_decoder_feed(decoder, data + at, length - at, &used, NULL);
        if (step < 0) {
            return false;
        }
        /* The decoder's own buffers are not part of an object; they are allocated once the first object is
         * complete. */
        if (step != KI_LIST_OBJECT || !is_warm) {
            memory->allocations = before;
            is_warm = is_warm || step == KI_LIST_OBJECT;
            continue;
        }
        memory->objects++;
        memory->bytes += malloc_usable_size(decoder->decoded.object) + sizeof(size_t);
    }
    return true;
}

bool ours_measure_memory(const char *data, size_t length, struct ours_memory *memory)
{
    const ki_allocator counting = {
        .allocate = count_allocate, .reallocate = count_reallocate, .release = count_release};
    account = memory;
    if (ki_set_allocator(&counting) < 0) {
        return false;
    }
    ki_list_decoder decoder;
    ki_list_decoder_init(&decoder, plan);
    bool is_read = measure_items(&decoder, data, length, memory);
    ki_list_decoder_fini(&decoder);
    return ki_set_allocator(NULL) == 0 && is_read;
}
