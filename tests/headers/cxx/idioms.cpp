// SPDX-License-Identifier: Apache-2.0
// How C++ programs use the C interface, in C++17 without warnings: every public struct zero-initialised,
// every callback type from a lambda, the macros. scripts/check_cxx.sh builds it with each compiler and
// standard, runs it, and checks that no struct and no callback type is missing.
#include <kinformer.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

#define REQUIRE(condition) require((condition), #condition, __LINE__)
void require(bool is_so, const char *condition, int line)
{
    if (is_so)
        return;
    std::fprintf(stderr, "idioms.cpp:%d: failed: %s\n", line, condition);
    std::abort();
}

template <typename T> void check_struct(const char *name)
{
    static const unsigned char zeros[sizeof(T)] = {};
    T value{};
    if (ki_struct_bytes(name) == sizeof(T) && std::memcmp(&value, zeros, sizeof(T)) == 0)
        return;
    std::fprintf(stderr, "idioms.cpp: %s is a different struct in the library\n", name);
    std::abort();
}
#define STRUCT(type) check_struct<type>(#type)

void structs_have_the_size_that_the_library_has()
{
    STRUCT(ki_allocator);
    STRUCT(ki_apiserver_loaded);
    STRUCT(ki_apiserver_options);
    STRUCT(ki_apiserver_request);
    STRUCT(ki_change);
    STRUCT(ki_client_options);
    STRUCT(ki_condition);
    STRUCT(ki_controller_options);
    STRUCT(ki_controller_status);
    STRUCT(ki_delta);
    STRUCT(ki_delta_queue_options);
    STRUCT(ki_deltas);
    STRUCT(ki_discovery_request);
    STRUCT(ki_error);
    STRUCT(ki_event);
    STRUCT(ki_factory_options);
    STRUCT(ki_factory_pending);
    STRUCT(ki_factory_resync);
    STRUCT(ki_fault);
    STRUCT(ki_feed_options);
    STRUCT(ki_fields);
    STRUCT(ki_handler);
    STRUCT(ki_informer_error);
    STRUCT(ki_informer_options);
    STRUCT(ki_informer_status);
    STRUCT(ki_json);
    STRUCT(ki_json_iter);
    STRUCT(ki_json_writer_options);
    STRUCT(ki_leader_options);
    STRUCT(ki_limiter_functions);
    STRUCT(ki_list_options);
    STRUCT(ki_list_watch);
    STRUCT(ki_lister);
    STRUCT(ki_log_field);
    STRUCT(ki_log_record);
    STRUCT(ki_metrics_options);
    STRUCT(ki_metrics_text);
    STRUCT(ki_object_list);
    STRUCT(ki_object_options);
    STRUCT(ki_owner);
    STRUCT(ki_parallelize_options);
    STRUCT(ki_predicate);
    STRUCT(ki_quantity);
    STRUCT(ki_record);
    STRUCT(ki_recorder_options);
    STRUCT(ki_recorder_stats);
    STRUCT(ki_registration_stats);
    STRUCT(ki_resource);
    STRUCT(ki_rest_answer);
    STRUCT(ki_rest_request);
    STRUCT(ki_result);
    STRUCT(ki_status);
    STRUCT(ki_status_cause);
    STRUCT(ki_store_options);
    STRUCT(ki_str);
    STRUCT(ki_str_list);
    STRUCT(ki_timestamp);
    STRUCT(ki_work_item);
    STRUCT(ki_workqueue_options);
    STRUCT(ki_workqueue_stats);
    STRUCT(ki_write);
    REQUIRE(ki_struct_bytes("ki_nothing") == 0);
}

// Each of them converts from a lambda without captures.
struct callbacks {
    ki_apiserver_warning_cb of_apiserver_warning = [](const char *, void *) {};
    ki_apiserver_request_cb of_apiserver_request = [](const ki_apiserver_request *, void *) {};
    ki_change_cb of_change = [](const ki_change *, void *) { return 0; };
    ki_source_cb of_source = [](const ki_resource *, const char *, ki_list_watch *, ki_error *, void *) {
        return 0;
    };
    ki_write_gate_cb of_write_gate = [](const ki_write *, ki_error *, void *) { return 0; };
    ki_reconcile_cb of_reconcile = [](ki_request *, void *) { return ki_done(); };
    ki_map_cb of_map = [](const ki_object *, ki_key_emit *, void *) {};
    ki_delta_queue_cb of_delta_queue = [](const ki_deltas *, void *) { return 0; };
    ki_discovery_cb of_discovery = [](ki_resource *, const ki_error *, void *) {};
    ki_feed_error_cb of_feed_error = [](const ki_informer_error *, void *) {};
    ki_event_cb of_event = [](const ki_event *, void *) {};
    ki_handler_cb of_handler = [](void *) {};
    ki_filter_cb of_filter = [](const ki_object *, void *) { return 0; };
    ki_transform_cb of_transform = [](const ki_object **, void *) { return 0; };
    ki_tweak_cb of_tweak = [](ki_list_options *, void *) {};
    ki_release_cb of_release = [](void *) {};
    ki_informer_error_cb of_informer_error = [](ki_informer *, const ki_informer_error *, void *) {};
    ki_informer_status_cb of_informer_status = [](ki_informer *, const ki_informer_status *, void *) {};
    ki_leader_cb of_leader = [](ki_leader *, void *) {};
    ki_leader_change_cb of_leader_change = [](ki_leader *, const char *, void *) {};
    ki_log_cb of_log = [](const ki_log_record *, void *) {};
    ki_metrics_write_cb of_metrics_write = [](ki_str, ki_str, void *) { return 0; };
    ki_piece_cb of_piece = [](size_t, void *) { return 0; };
    ki_predicate_cb of_predicate = [](const ki_event *, const ki_predicate *, void *) { return 0; };
    ki_rest_cb of_rest = [](const ki_rest_answer *, void *) {};
    ki_attempt_cb of_attempt = [](ki_error *, void *) { return 0; };
    ki_key_cb of_key = [](const ki_object *, char *, size_t, void *) { return ki_str{}; };
    ki_index_cb of_index = [](const ki_object *, ki_index_emit *, void *) { return 0; };
    ki_walk_cb of_walk = [](const ki_object *, void *) { return 0; };
};

void options_are_set_by_member()
{
    ki_handler handler{};
    handler.on_add = [](const ki_event *event, void *user) {
        *static_cast<ki_change_type *>(user) = event->change_type;
    };
    ki_change_type seen{};
    ki_event event{};
    event.change_type = KI_CHANGE_ADDED;
    handler.on_add(&event, &seen);
    REQUIRE(seen == KI_CHANGE_ADDED);

    const char *keep[] = {"/spec/nodeName", KI_PATH_LABEL("app"), nullptr};
    ki_informer_options options{};
    options.keep = keep;
    options.watch_list = KI_WATCH_LIST_NEVER;
    ki_client_options client{};
    client.mode = KI_MODE_EVENT_LOOP;
    REQUIRE(options.keep[2] == nullptr && client.no_cluster == 0);
}

void texts_and_errors()
{
    ki_str text = KI_STR("default");
    char buffer[16];
    std::snprintf(buffer, sizeof(buffer), "%.*s", KI_STR_ARGS(text));
    REQUIRE(std::strcmp(buffer, "default") == 0);
    REQUIRE(ki_str_equal(text, ki_str_from(buffer, 7)) == 1 && ki_str_compare(text, ki_str_of("d")) > 0);
    REQUIRE(ki_version_number() == KI_VERSION_NUMBER);

    ki_error err{};
    ki_client_options nowhere{};
    nowhere.kubeconfig = "/nowhere";
    ki_client *client = ki_client_new(&nowhere, &err);
    ki_factory *factory = ki_factory_new(client, nullptr);
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, nullptr);
    ki_informer_add_handler(pods, nullptr, &err);
    REQUIRE(ki_factory_start(factory, &err) < 0 && err.code == KI_ERR_CONFIG);
    ki_factory_free(factory);
    ki_client_free(client);
}

} // namespace

int main()
{
    structs_have_the_size_that_the_library_has();
    REQUIRE(callbacks().of_filter(nullptr, nullptr) == 0);
    options_are_set_by_member();
    texts_and_errors();
    std::puts("idioms in C++: ok");
}
