/* SPDX-License-Identifier: Apache-2.0 */
/* exposition - a strict parser of the Prometheus text format 0.0.4, which fails the test if a text violates
 * it.
 *
 *   From:     tests of metrics
 *   Not here: anything from src/metrics; it is written from the specification of the format.
 */
#ifndef KI_TESTS_SUPPORT_EXPOSITION_H
#define KI_TESTS_SUPPORT_EXPOSITION_H

#include <kinformer/metrics.h>
#include <stdbool.h>
#include <stddef.h>

enum { EXPOSITION_LABELS_MAX = 8, EXPOSITION_TEXT_BYTES = 256 };

typedef struct exposition_sample {
    char family[EXPOSITION_TEXT_BYTES];
    char name[EXPOSITION_TEXT_BYTES]; /* the family's name, possibly followed by _bucket, _sum or _count */
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

/* Reads a whole text. Every family must have HELP and TYPE once, in this order, before its samples, which
 * must be adjacent; no sample may occur twice; the buckets of a histogram must increase in "le" and in count
 * and end with +Inf, which must equal _count. */
void exposition_read(exposition *out, const char *text);
void exposition_free(exposition *read);

/* The same for the output of ki_metrics_render(). */
void exposition_render(exposition *out, ki_metrics *metrics);

/* The sample with this name whose labels are exactly `labels`: "a=1,b=2" in the order of the text, values
 * unescaped. NULL if there is none. */
const exposition_sample *exposition_find(const exposition *read, const char *name, const char *labels);

/* The value of the label, or NULL. */
const char *exposition_label(const exposition_sample *sample, const char *name);

/* Whether ki_metrics_render() writes this line, which ends with a newline. */
bool exposition_has(ki_metrics *metrics, const char *line);

#endif
