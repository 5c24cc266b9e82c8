/* SPDX-License-Identifier: Apache-2.0 */
/* informer_metrics - the numbers of one informer, and of each of its handlers.
 *
 *   From:     reflector/reflector.c (io), informer/informer_run.c (dispatch), informer/registration.c
 *             (handler)
 *   To:       metrics/metrics.h
 *   Locks:    none for counting.
 *   Not here: what the status says; when something is counted.
 *
 * A zeroed one counts nothing.
 */
#ifndef KI_REFLECTOR_INFORMER_METRICS_H
#define KI_REFLECTOR_INFORMER_METRICS_H

#include <kinformer/list_watch.h>
#include <kinformer/resource.h>

#include "api/object/resource_version.h"
#include "metrics/names.h"

#define KI_REASON_COUNT_ONE(name, text) +1
enum { KI_REASON_COUNT = 0 KI_REASONS(KI_REASON_COUNT_ONE) };
#undef KI_REASON_COUNT_ONE

/* By what the server calls them. */
typedef enum ki_event_label {
    KI_EVENT_LABEL_ADDED = 0,
    KI_EVENT_LABEL_MODIFIED,
    KI_EVENT_LABEL_DELETED,
    KI_EVENT_LABEL_BOOKMARK,
    KI_EVENT_LABEL_ERROR,
    KI_EVENT_LABELS
} ki_event_label;

typedef struct ki_informer_metrics {
    ki_counter *bytes_read; /* io's, up to the blank line */
    ki_counter *lists;
    ki_counter *list_items;
    ki_counter *watches;
    ki_counter *short_watches;
    ki_counter *transform_failures;
    ki_counter *watch_events[KI_EVENT_LABELS];
    ki_counter *errors[KI_REASON_COUNT];
    ki_histogram *list_duration;
    ki_histogram *watch_duration;

    ki_counter *index_failures; /* dispatch's */
    ki_gauge *queued_items;
    ki_gauge *store_objects;
    ki_gauge *store_bytes;
    ki_gauge *store_resource_version;
    ki_histogram *processing_latency;
    ki_gauge *store_age; /* NULL unless ki_informer_metrics_follow_age() was called, as the next */
    const void *age_user;
} ki_informer_metrics;

/* `name` NULL: the plural. What cannot be counted for lack of memory is counted by ki_metrics_refused(). */
void ki_informer_metrics_init(ki_informer_metrics *cells, ki_metrics *metrics, const char *name,
                              const ki_resource *resource);

/* The age of the store is what `read` says, in nanoseconds: see ki_gauge_follow(). */
void ki_informer_metrics_follow_age(ki_informer_metrics *cells, ki_metrics *metrics, const char *name,
                                    const ki_resource *resource, int64_t (*read)(const void *user),
                                    const void *user);

/* Nothing is read afterwards. */
void ki_informer_metrics_fini(ki_informer_metrics *cells);

/* A version as a number: its last 15 digits, which a double holds exactly; 0 for none, -1 for what is no
 * number. */
int64_t ki_informer_metrics_version(const ki_resource_version *version);

typedef struct ki_handler_metrics {
    ki_gauge *backlog;
    ki_gauge *backlog_bytes;
    ki_counter *coalesced;
    ki_histogram *duration;
} ki_handler_metrics;

/* `handler` is the label: its name or number. */
void ki_handler_metrics_init(ki_handler_metrics *cells, ki_metrics *metrics, const char *name,
                             const ki_resource *resource, ki_str handler);
void ki_handler_metrics_fini(ki_handler_metrics *cells);

#endif
