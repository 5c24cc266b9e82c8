/* SPDX-License-Identifier: Apache-2.0 */
/* metrics - what the library counts and measures, as text for Prometheus.
 *
 * One ki_metrics serves any number of clients, informers and queues of a program. What they count is written
 * in the Prometheus text format 0.0.4, to be served under KI_METRICS_CONTENT_TYPE, or to be put before or
 * behind text of the program's own. Names are those of client-go where it has one (workqueue_depth,
 * rest_client_requests_total), so that dashboards carry over; a prefix keeps them apart where a program has
 * such names already.
 *
 * Counting costs one atomic addition and never waits, also not for a writer of text.
 * Threads: any, for all calls.
 */
#ifndef KI_METRICS_H
#define KI_METRICS_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

typedef struct ki_metrics ki_metrics;

/** For the header Content-Type of an answer. */
#define KI_METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef struct ki_metrics_options {
    const char *prefix;  /* of all names, as "myprogram_": letters, digits, _ and :. NULL: none */
    size_t children_max; /* sets of label values per name; 0: 1,000,000 */
    size_t bytes_max;    /* of the text of ki_metrics_render(); 0: no limit */
    uint64_t reserved[4];
} ki_metrics_options;

/**
 * Returns:   metrics without a number in them, or NULL with KI_ERR_INVALID (a bad prefix), KI_ERR_NO_MEMORY.
 * Ownership: the caller frees it. `options` may be NULL.
 */
KI_API KI_NODISCARD ki_metrics *ki_metrics_new(const ki_metrics_options *options, ki_error *err);

/** NULL is allowed. Who was given the metrics may go on counting; the last one frees the memory. */
KI_API void ki_metrics_free(ki_metrics *metrics);

/**
 * Takes text of one metric, whole lines, borrowed for the call: its HELP and TYPE lines and its samples; with
 * more than about 64 KiB of samples, the rest in further calls. `name` is its name, prefix included, so that
 * the callback can leave some out.
 *
 * Returns: 0 to go on, anything else to stop.
 */
typedef int (*ki_metrics_write_cb)(ki_str name, ki_str text, void *user);

/**
 * Calls with the text of every metric that has a sample, sorted by name, and the samples by their labels. No
 * lock is held during a call, and no more than a piece is kept: with thousands of informers the whole is some
 * hundred megabytes.
 *
 * Returns: 0, what the callback has stopped with, KI_ERR_NO_MEMORY, KI_ERR_INVALID.
 */
KI_API KI_NODISCARD int ki_metrics_write(ki_metrics *metrics, ki_metrics_write_cb callback, void *user,
                                         ki_error *err);

/** Text in memory of its own; the zeroed one is empty. */
typedef struct ki_metrics_text {
    char *bytes; /* NUL-terminated */
    size_t len;
} ki_metrics_text;

/**
 * The same in one piece.
 *
 * Returns:   0, or as ki_metrics_write(), or KI_ERR_TOO_LARGE: longer than bytes_max.
 * Ownership: the caller ends the text with ki_metrics_text_fini(). Untouched on failure.
 */
KI_API KI_NODISCARD int ki_metrics_render(ki_metrics *metrics, ki_metrics_text *out_text, ki_error *err);

/** Takes a zeroed text as well, and leaves one. */
KI_API void ki_metrics_text_fini(ki_metrics_text *text);

/**
 * How often something is not counted because memory was out or children_max was reached: what should have
 * been counted there is missing in the text.
 */
KI_API uint64_t ki_metrics_refused(const ki_metrics *metrics);

KI_EXTERN_C_END

#endif
