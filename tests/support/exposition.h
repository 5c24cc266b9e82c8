/* SPDX-License-Identifier: Apache-2.0 */
/* exposition - reads the Prometheus text format 0.0.4 strictly, and fails the test at what is not of it.
 *
 *   From:     tests of metrics
 *   Not here: anything of src/metrics; it knows the format from its specification alone.
 */
#ifndef KI_TESTS_SUPPORT_EXPOSITION_H
#define KI_TESTS_SUPPORT_EXPOSITION_H

#include <stddef.h>

enum { EXPOSITION_LABELS_MAX = 8, EXPOSITION_TEXT_BYTES = 256 };

typedef struct exposition_sample {
    char family[EXPOSITION_TEXT_BYTES];
    char name[EXPOSITION_TEXT_BYTES]; /* the family's, or that with _bucket, _sum or _count behind it */
    char label_names[EXPOSITION_LABELS_MAX][EXPOSITION_TEXT_BYTES];
    char label_values[EXPOSITION_LABELS_MAX][EXPOSITION_TEXT_BYTES]; /* unescaped */
    size_t label_count;
    double value;
} exposition_sample;

typedef struct exposition {
    exposition_sample *samples;
    size_t count;
    size_t families;
} exposition;

/* Reads a whole text. Every family has HELP and TYPE once, in this order, before its samples, which stand
 * together; no sample twice; of a histogram the buckets rise in "le" and in count, end with +Inf, and that
 * equals _count. */
void exposition_read(exposition *out, const char *text);
void exposition_free(exposition *read);

/* The sample with this name whose labels are exactly `labels`: "a=1,b=2" in the order of the text, values
 * unescaped. NULL when there is none. */
const exposition_sample *exposition_find(const exposition *read, const char *name, const char *labels);

/* The value of the label, or NULL. */
const char *exposition_label(const exposition_sample *sample, const char *name);

#endif
