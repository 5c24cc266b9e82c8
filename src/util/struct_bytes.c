/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of all public structs, for bindings. scripts/check_headers.sh checks that none is missing. */
#include <kinformer.h>
#include <string.h>

#define ROW(name)                                                                                            \
    {                                                                                                        \
#name, sizeof(name)                                                                                  \
    }

static const struct row {
    const char *name;
    size_t bytes;
} rows[] = {
    ROW(ki_allocator),
    ROW(ki_apiserver_loaded),
    ROW(ki_apiserver_options),
    ROW(ki_apiserver_request),
    ROW(ki_change),
    ROW(ki_client_options),
    ROW(ki_condition),
    ROW(ki_controller_options),
    ROW(ki_controller_status),
    ROW(ki_delta),
    ROW(ki_delta_queue_options),
    ROW(ki_deltas),
    ROW(ki_discovery_request),
    ROW(ki_error),
    ROW(ki_event),
    ROW(ki_factory_options),
    ROW(ki_factory_pending),
    ROW(ki_factory_resync),
    ROW(ki_fault),
    ROW(ki_feed_options),
    ROW(ki_fields),
    ROW(ki_handler),
    ROW(ki_informer_error),
    ROW(ki_informer_options),
    ROW(ki_informer_status),
    ROW(ki_json),
    ROW(ki_json_iter),
    ROW(ki_json_writer_options),
    ROW(ki_leader_options),
    ROW(ki_limiter_functions),
    ROW(ki_list_options),
    ROW(ki_list_watch),
    ROW(ki_lister),
    ROW(ki_log_field),
    ROW(ki_log_record),
    ROW(ki_metrics_options),
    ROW(ki_metrics_text),
    ROW(ki_object_list),
    ROW(ki_object_options),
    ROW(ki_owner),
    ROW(ki_parallelize_options),
    ROW(ki_predicate),
    ROW(ki_quantity),
    ROW(ki_record),
    ROW(ki_recorder_options),
    ROW(ki_recorder_stats),
    ROW(ki_registration_stats),
    ROW(ki_resource),
    ROW(ki_rest_answer),
    ROW(ki_rest_request),
    ROW(ki_result),
    ROW(ki_status),
    ROW(ki_status_cause),
    ROW(ki_store_options),
    ROW(ki_str),
    ROW(ki_str_list),
    ROW(ki_timestamp),
    ROW(ki_work_item),
    ROW(ki_workqueue_options),
    ROW(ki_workqueue_stats),
    ROW(ki_write),
};

size_t ki_struct_bytes(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].bytes;
    return 0;
}
