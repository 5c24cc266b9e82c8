/* SPDX-License-Identifier: Apache-2.0 */
/* metrics - what the library counts and measures, as text for Prometheus.
 *
 * One ki_metrics serves any number of clients, informers and queues of a program. It is written in the
 * Prometheus text format 0.0.4: serve it with KI_METRICS_CONTENT_TYPE, alone or together with metrics of the
 * program. Names are those of client-go where it has one (workqueue_depth, rest_client_requests_total), so
 * dashboards can be reused; a prefix avoids clashes with names that the program already uses.
 *
 * Counting costs one atomic addition and never waits, not even while the text is being written.
 * Threads: any, for all calls.
 */
#ifndef KI_METRICS_H
#define KI_METRICS_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

typedef struct ki_metrics ki_metrics;

/** The Content-Type of the text. */
#define KI_METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/** Zero means default. Texts are copied. */
typedef struct ki_metrics_options {
    const char *prefix;  /* of all names, such as "myprogram_": letters, digits, _ and :, not beginning with a
                          * digit. NULL: none */
    size_t children_max; /* sets of label values per name; 0: 1,000,000 */
    size_t bytes_max;    /* of the text that ki_metrics_render() returns; 0: no limit */
    uint64_t reserved[4];
} ki_metrics_options;

/**
 * Makes metrics; they are empty until a client or a queue uses them.
 *
 * Returns:   the metrics, or NULL with KI_ERR_INVALID (a bad prefix), KI_ERR_NO_MEMORY, or
 *            KI_ERR_WOULD_DEADLOCK in an index function.
 * Ownership: the caller frees it. `options` may be NULL.
 */
KI_API KI_NODISCARD ki_metrics *ki_metrics_new(const ki_metrics_options *options, ki_error *err);

/** Drops the caller's reference. Clients and queues that use the metrics keep counting; the last of them
 * frees the memory. Not for those of ki_client_metrics(). NULL is allowed. */
KI_API void ki_metrics_free(ki_metrics *metrics);

/**
 * Receives the text of one metric: whole lines, borrowed for the call, with HELP, TYPE and samples. More than
 * about 64 KiB of samples are split over several calls. `name` is the metric's name with the prefix, so that
 * the callback can skip some.
 *
 * Returns: 0 to continue, any other value to stop.
 */
typedef int (*ki_metrics_write_cb)(ki_str name, ki_str text, void *user);

/**
 * Calls `callback` with the text of every metric that has a sample, sorted by name; samples are sorted by
 * their labels. No lock is held during a call, and only one piece is in memory at a time: with thousands of
 * informers the whole text is some hundred megabytes. The callback may free the metrics, or the client that
 * they belong to; the remaining metrics are still written.
 *
 * Returns: 0, the value that the callback stopped with, KI_ERR_NO_MEMORY (the text is then incomplete),
 *          KI_ERR_INVALID.
 */
KI_API KI_NODISCARD int ki_metrics_write(const ki_metrics *metrics, ki_metrics_write_cb callback,
                                         ki_error *err, void *user);

/** Text that the caller owns. Zeroed, it is empty. */
typedef struct ki_metrics_text {
    char *bytes; /* NUL-terminated */
    size_t len;
    uint64_t reserved[2];
} ki_metrics_text;

/**
 * The whole text in one piece.
 *
 * Returns:   0, or as ki_metrics_write(), or KI_ERR_TOO_LARGE: longer than bytes_max.
 * Ownership: the caller frees the text with ki_metrics_text_fini(). Untouched on failure.
 */
KI_API KI_NODISCARD int ki_metrics_render(const ki_metrics *metrics, ki_metrics_text *out_text,
                                          ki_error *err);

/** Frees the text and zeroes the struct. NULL and a zeroed struct are allowed. */
KI_API void ki_metrics_text_fini(ki_metrics_text *text);

/**
 * How many times something could not be counted because memory ran out or children_max was reached.
 * The text lacks these counts.
 */
KI_API uint64_t ki_metrics_refused(const ki_metrics *metrics);

KI_EXTERN_C_END

#endif
