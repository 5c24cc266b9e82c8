/* SPDX-License-Identifier: Apache-2.0 */
/* reference - other parsers, which do the same work as our decoder.
 *
 *   From:     reference_contender.h, http_keep.c
 *   To:       the parsers
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

/* Readable bytes that follow every document; simdjson reads ahead. */
#define REFERENCE_PADDING 64

struct reference_result {
    uint64_t checksum;
    uint64_t objects;
    uint64_t text_bytes;
};

/* Reads one document and adds to *result. Returns false if it cannot be parsed; then the result is
 * meaningless. One thread at a time: parsers keep their buffers between calls. */
typedef bool (*reference_cb)(const char *data, size_t length, struct reference_result *result);

bool reference_memcpy(const char *data, size_t length, struct reference_result *result);

bool reference_jansson_list(const char *data, size_t length, struct reference_result *result);
bool reference_jansson_watch(const char *data, size_t length, struct reference_result *result);

bool reference_cjson_list(const char *data, size_t length, struct reference_result *result);
bool reference_cjson_watch(const char *data, size_t length, struct reference_result *result);

bool reference_simdjson_list(const char *data, size_t length, struct reference_result *result);
bool reference_simdjson_watch(const char *data, size_t length, struct reference_result *result);
/* Only counts the items: the cost of finding the end of each one. */
bool reference_simdjson_split(const char *data, size_t length, struct reference_result *result);
/* The code path that simdjson has chosen for this CPU. */
const char *reference_simdjson_implementation(void);

/* Calls `read` for each line of a watch. Returns false if `read` does, or if the last line has no newline. */
static inline bool reference_lines(const char *data, size_t length,
                                   bool (*read)(const char *line, size_t length,
                                                struct reference_result *result),
                                   struct reference_result *result)
{
    const char *end = data + length;
    while (data < end) {
        const char *newline = (const char *)memchr(data, '\n', (size_t)(end - data));
        if (newline == NULL || !read(data, (size_t)(newline - data), result)) {
            return false;
        }
        data = newline + 1;
    }
    return true;
}

/* Mixes one text into the result. The products of a text do not depend on each other, so that the checksum
 * costs little compared with the fastest parser; one step per text makes the order of texts matter. */
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
