/* SPDX-License-Identifier: Apache-2.0 */
/* reference - what other parsers need for the work our decoder does.
 *
 *   From:     bench/documents.c   (the bytes)
 *   To:       the benchmarks' tables (bench.h).
 *   Not here: timing.
 *
 * Every reference reads the same fields of the same bytes and mixes them into a checksum in the same
 * order, so equal checksums mean that all of them did the whole work:
 *
 *   list   kind and apiVersion of the list; of each item name, namespace, uid, resourceVersion,
 *          creationTimestamp, every label's key and value, the uid of every owner
 *   watch  of each line type, kind and apiVersion of the object, then the same fields
 */
#ifndef BENCH_REFERENCE_H
#define BENCH_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Readable bytes every document has after its end; simdjson reads ahead. */
#define REFERENCE_PADDING 64

struct reference_result {
    uint64_t checksum;
    uint64_t objects;
    uint64_t text_bytes;
};

/* Works through one document and adds to *result. Returns false when it cannot be parsed; the result
 * then means nothing. One thread at a time: parsers keep their buffers between calls. */
typedef bool (*reference_cb)(const char *data, size_t length, struct reference_result *result);

bool reference_memcpy(const char *data, size_t length, struct reference_result *result);

bool reference_jansson_list(const char *data, size_t length, struct reference_result *result);
bool reference_jansson_watch(const char *data, size_t length, struct reference_result *result);

bool reference_cjson_list(const char *data, size_t length, struct reference_result *result);
bool reference_cjson_watch(const char *data, size_t length, struct reference_result *result);

bool reference_simdjson_list(const char *data, size_t length, struct reference_result *result);
bool reference_simdjson_watch(const char *data, size_t length, struct reference_result *result);
/* Only counts the items: the cost of finding where each one ends. */
bool reference_simdjson_split(const char *data, size_t length, struct reference_result *result);
/* The code path simdjson chose for this processor. */
const char *reference_simdjson_implementation(void);

/* Mixes one text into the result. The products of a text do not wait for each other, so that the
 * checksum stays small beside the fastest parser; one step per text keeps the order of texts. */
static inline void reference_mix(struct reference_result *result, const char *text, size_t length)
{
    uint64_t sum = length;
    uint64_t factor = 0x9e3779b97f4a7c15U;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, 8);
        sum += word * factor;
        factor += 0x5851f42d4c957f2eU;
    }
    uint64_t tail = 0;
    for (; i < length; i++) {
        tail = tail << 8 | (unsigned char)text[i];
    }
    sum += tail * factor;
    result->checksum = (result->checksum ^ sum ^ sum >> 32) * 0xff51afd7ed558ccdU;
    result->text_bytes += length;
}

#ifdef __cplusplus
}
#endif

#endif
