/* SPDX-License-Identifier: Apache-2.0 */
/* ours - the library's decoders as contenders: they mix the same fields in the same order as the references.
 *
 *   From:     bench_decode.c
 *   To:       reflector/body_decoder.h, documents.h (the bytes)
 */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "reference.h"

/* The plan that every object is made with. Ends the program if out of memory. */
enum ours_plan {
    OURS_WHOLE,    /* everything but managedFields */
    OURS_PROJECTED /* node name, phase, pod IP, labels */
};

/* Sets the plan for the functions below, and the size of the pieces that they feed. */
void ours_set(enum ours_plan plan, size_t piece_bytes);
void ours_fini(void);

/* End to end: frame, check, project, extract metadata, one allocation per object. */
bool ours_decode(const char *data, size_t length, struct reference_result *result);
bool ours_decode_watch(const char *data, size_t length, struct reference_result *result);

/* Like ours_decode(), and reads the fields of every object from it, as the references do. */
bool ours_list(const char *data, size_t length, struct reference_result *result);
bool ours_watch(const char *data, size_t length, struct reference_result *result);

/* Decodes one list of `objects` items in a single document. The document is made of the same few hundred
 * pods, repeated, while it is fed. */
bool ours_long_list(uint64_t objects, double *out_seconds);

/* Finds the end of every item and checks all of RFC 8259; keeps nothing. */
bool ours_check(const char *data, size_t length, struct reference_result *result);

/* Finds the end of every item, only by nesting and strings. */
bool ours_split(const char *data, size_t length, struct reference_result *result);

/* The memory of the objects of one list document as the allocator reports it,
 * and the number of allocations. */
struct ours_memory {
    uint64_t objects;
    uint64_t allocations;
    uint64_t bytes;
};
bool ours_measure_memory(const char *data, size_t length, struct ours_memory *memory);

#endif
