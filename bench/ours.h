/* SPDX-License-Identifier: Apache-2.0 */
/* ours - the library's decoders as contenders: the same fields, mixed in the same order as the references do.
 *
 *   From:     bench/documents.c   (the bytes)
 *   To:       bench_decode.c
 */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "reference.h"

/* What every object is made with. Ends the program when memory is out. */
enum ours_plan {
    OURS_WHOLE,    /* everything but managedFields */
    OURS_PROJECTED /* node name, phase, pod IP, labels */
};

/* Sets what the functions below make, and the size of the pieces that they feed. */
void ours_set(enum ours_plan plan, size_t piece_bytes);
void ours_fini(void);

/* End to end: frame, check, project, extract metadata, one allocation an object. */
bool ours_decode(const char *data, size_t length, struct reference_result *result);
bool ours_decode_watch(const char *data, size_t length, struct reference_result *result);

/* The same, and the fields of every object are read from it, as the references do. */
bool ours_list(const char *data, size_t length, struct reference_result *result);
bool ours_watch(const char *data, size_t length, struct reference_result *result);

/* Decodes one list of `objects` items in a single document, fed as it is made of the same few hundred pods
 * over and over. */
bool ours_long_list(uint64_t objects, double *out_seconds);

/* Finds where every item ends and checks all of RFC 8259 on the way, keeps nothing. */
bool ours_check(const char *data, size_t length, struct reference_result *result);

/* Finds where every item ends, by nesting and strings alone. */
bool ours_split(const char *data, size_t length, struct reference_result *result);

/* Memory that the objects of one list document take, by the allocator's own account, and how many
 * allocations it was. */
struct ours_memory {
    uint64_t objects;
    uint64_t allocations;
    uint64_t bytes;
};
bool ours_measure_memory(const char *data, size_t length, struct ours_memory *memory);

#endif
