/* SPDX-License-Identifier: Apache-2.0 */
/* names - every metric of the library: name, kind, labels, help.
 *
 *   From:     all code that counts: &ki_metric_workqueue_depth
 *   To:       metrics/metrics.h
 *   Not here: when a value changes; the code that changes it says so.
 *
 * A metric that client-go has too has the same name, labels and buckets, so that its dashboards can be
 * used.
 */
#ifndef KI_METRICS_NAMES_H
#define KI_METRICS_NAMES_H

#include "metrics/metrics.h"

/* X(name, kind, labels, help), sorted by name. metrics/names.c defines the words in capitals: INFORMER
 * stands for the labels name, group, version and resource; …_SECONDS is counted in nanoseconds; a histogram
 * names its buckets. */
/* clang-format off */
#define KI_METRIC_NAMES(X)                                                                                   \
    X(controller_active_workers, GAUGE, LABELS("controller"), "Reconciles in progress.")                     \
    X(controller_expectations_total, COUNTER, LABELS("controller", "result"),                                \
      "Writes that a key waited for the cache to see.")                                                      \
    X(controller_overdue_total, COUNTER, LABELS("controller"), "Reconciles that took longer than allowed.")  \
    X(controller_reconcile_duration_seconds, HISTOGRAM_SECONDS(request), LABELS("controller"),               \
      "Duration of a reconcile.")                                                                            \
    X(controller_reconcile_total, COUNTER, LABELS("controller", "result"), "Reconciles, by how they ended.") \
    X(event_recorder_events_total, COUNTER, LABELS("name", "result"),                                        \
      "Events that a program recorded, by what became of them.")                                             \
    X(event_recorder_queued, GAUGE, LABELS("name"), "Events that wait to be sent, or are being sent.")       \
    X(informer_bytes_read_total, COUNTER, INFORMER, "Bytes of lists and watches read.")                      \
    X(informer_errors_total, COUNTER, INFORMER_AND("reason"), "Failed lists and watches.")                   \
    X(informer_handler_duration_seconds, HISTOGRAM_SECONDS(handler), INFORMER_AND("handler"),                \
      "Duration of a handler's callback.")                                                                   \
    X(informer_index_failures_total, COUNTER, INFORMER, "Failures of index functions.")                      \
    X(informer_list_duration_seconds, HISTOGRAM_SECONDS(list), INFORMER,                                     \
      "Duration of a list, from the request to its last object.")                                            \
    X(informer_list_items_total, COUNTER, INFORMER, "Objects received in lists.")                            \
    X(informer_listener_backlog, GAUGE, INFORMER_AND("handler"), "Notifications waiting for a handler.")     \
    X(informer_listener_backlog_bytes, GAUGE, INFORMER_AND("handler"),                                       \
      "Memory held by the backlog of a handler, in bytes.")                                                  \
    X(informer_listener_coalesced_total, COUNTER, INFORMER_AND("handler"),                                   \
      "Notifications merged into a waiting one.")                                                            \
    X(informer_lists_total, COUNTER, INFORMER, "Lists started, including streamed lists.")                   \
    X(informer_processing_latency_seconds, HISTOGRAM_SECONDS(processing), INFORMER,                          \
      "Time to apply a batch of changes and queue it for the handlers.")                                     \
    X(informer_protobuf, GAUGE, INFORMER,                                                                    \
      "1 if the last list or watch was answered in protobuf, 0 if in JSON.")                                 \
    X(informer_queued_items, GAUGE, INFORMER, "Changes waiting to be applied to the store.")                 \
    X(informer_short_watches_total, COUNTER, INFORMER,                                                       \
      "Watches that ended within a second and without an event.")                                            \
    X(informer_store_age_seconds, GAUGE_SECONDS, INFORMER,                                                   \
      "Age of the store, as returned by ki_informer_age_ms(); +Inf before the first sync.")                  \
    X(informer_store_bytes, GAUGE, INFORMER, "Memory of the objects in the store, in bytes.")                \
    X(informer_store_objects, GAUGE, INFORMER, "Objects in the store.")                                      \
    X(informer_store_resource_version, GAUGE, INFORMER,                                                      \
      "Last 15 digits of the resource version of the store.")                                                \
    X(informer_transform_failures_total, COUNTER, INFORMER, "Failures of the transform function.")           \
    X(informer_unknown_fields_total, COUNTER, INFORMER,                                                      \
      "Fields of protobuf messages that this version does not know.")                                        \
    X(informer_watch_duration_seconds, HISTOGRAM_SECONDS(watch), INFORMER, "Lifetime of a watch.")           \
    X(informer_watch_events_total, COUNTER, INFORMER_AND("type"), "Events received by watches.")             \
    X(informer_watches_total, COUNTER, INFORMER, "Watches started.")                                         \
    X(leader_election_master_status, GAUGE, LABELS("name"), "1 while this process is the leader, else 0.")   \
    X(leader_election_slowpath_total, COUNTER, LABELS("name"),                                               \
      "Renewals of the lease that had to read it first.")                                                    \
    X(rest_client_dns_resolution_duration_seconds, HISTOGRAM_SECONDS(resolution), LABELS("host"),            \
      "Time to resolve the name of the host.")                                                               \
    X(rest_client_rate_limiter_duration_seconds, HISTOGRAM_SECONDS(request), LABELS("verb", "host"),         \
      "Time a request waited for the rate limiter.")                                                         \
    X(rest_client_request_duration_seconds, HISTOGRAM_SECONDS(request), LABELS("verb", "host"),              \
      "Duration of a request, until its response has ended.")                                                \
    X(rest_client_request_retries_total, COUNTER, LABELS("code", "verb", "host"), "Retried requests.")       \
    X(rest_client_request_size_bytes, HISTOGRAM(size), LABELS("verb", "host"),                               \
      "Size of request bodies.")                                                                             \
    X(rest_client_requests_total, COUNTER, LABELS("code", "method", "host"),                                 \
      "Requests, counting each attempt.")                                                                    \
    X(rest_client_response_size_bytes, HISTOGRAM(size), LABELS("verb", "host"),                              \
      "Size of response bodies.")                                                                            \
    X(workqueue_adds_total, COUNTER, LABELS("name"), "Items added, repeated ones not counted.")              \
    X(workqueue_depth, GAUGE, LABELS("name"), "Items waiting to be processed.")                              \
    X(workqueue_longest_running_processor_seconds, GAUGE_SECONDS, LABELS("name"),                            \
      "Time spent so far on the item that is being processed longest.")                                      \
    X(workqueue_queue_duration_seconds, HISTOGRAM_SECONDS(queue), LABELS("name"),                            \
      "Time an item waited before it was processed.")                                                        \
    X(workqueue_retries_total, COUNTER, LABELS("name"), "Items added again after a delay.")                  \
    X(workqueue_unfinished_work_seconds, GAUGE_SECONDS, LABELS("name"),                                      \
      "Time spent so far on all items that are being processed.")                                            \
    X(workqueue_work_duration_seconds, HISTOGRAM_SECONDS(queue), LABELS("name"),                             \
      "Time to process an item.")
/* clang-format on */

#define KI_METRIC_DECLARE(name, kind, labels, help) extern const ki_metric_desc ki_metric_##name;
KI_METRIC_NAMES(KI_METRIC_DECLARE)
#undef KI_METRIC_DECLARE

#endif
