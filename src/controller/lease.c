/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lease.h"

#include <assert.h>
#include <kinformer/json.h>

#include "controller/micro_time.h"
#include "json/write.h"

ki_str ki_lease_holder(const ki_object *lease)
{
    return ki_object_string(lease, "/spec/holderIdentity");
}

static int64_t number_at(const ki_object *lease, const char *pointer)
{
    int64_t number = 0;
    return ki_object_get_int64(lease, pointer, &number) == 0 ? number : 0;
}

int64_t ki_lease_duration_seconds(const ki_object *lease)
{
    return number_at(lease, "/spec/leaseDurationSeconds");
}

int64_t ki_lease_transitions(const ki_object *lease)
{
    return number_at(lease, "/spec/leaseTransitions");
}

static void write_spec(ki_json_writer *writer, const ki_object *lease, const ki_lease_record *record)
{
    ki_json acquired = ki_object_find(lease, "/spec/acquireTime");
    ki_json_write_object_begin(writer);
    if (record->holder.len > 0) {
        ki_json_write_name(writer, KI_STR("holderIdentity"));
        ki_json_write_string(writer, record->holder);
    }
    ki_json_write_name(writer, KI_STR("leaseDurationSeconds"));
    ki_json_write_int64(writer, record->duration_seconds);
    if (record->acquire_wall_ns != INT64_MIN) {
        ki_write_micro_time(writer, KI_STR("acquireTime"), record->acquire_wall_ns);
    } else if (ki_json_type_of(acquired) == KI_JSON_STRING) {
        ki_json_write_name(writer, KI_STR("acquireTime"));
        ki_json_write_value(writer, acquired);
    }
    ki_write_micro_time(writer, KI_STR("renewTime"), record->renew_wall_ns);
    ki_json_write_name(writer, KI_STR("leaseTransitions"));
    ki_json_write_int64(writer, record->transitions);
    ki_json_write_object_end(writer);
}

static void write_new(ki_json_writer *writer, const char *ns, const char *name)
{
    assert(ns != NULL && name != NULL);
    ki_json_write_name(writer, KI_STR("apiVersion"));
    ki_json_write_string(writer, KI_STR("coordination.k8s.io/v1"));
    ki_json_write_name(writer, KI_STR("kind"));
    ki_json_write_string(writer, KI_STR("Lease"));
    ki_json_write_name(writer, KI_STR("metadata"));
    ki_json_write_object_begin(writer);
    ki_json_write_name(writer, KI_STR("name"));
    ki_json_write_string(writer, ki_str_of(name));
    ki_json_write_name(writer, KI_STR("namespace"));
    ki_json_write_string(writer, ki_str_of(ns));
    ki_json_write_object_end(writer);
}

static void write_others(ki_json_writer *writer, const ki_object *lease)
{
    ki_json name, value;
    ki_json_iter members = ki_json_iterate(ki_json_of(ki_object_json(lease)));
    while (ki_json_next(&members, &name, &value)) {
        ki_str text = {0};
        if (ki_json_string_equals(name, KI_STR("spec")) || ki_object_text(lease, name, &text) < 0)
            continue;
        ki_json_write_name(writer, text);
        ki_json_write_value(writer, value);
    }
}

int ki_lease_write(const ki_object *lease, const char *ns, const char *name, const ki_lease_record *record,
                   ki_buf *out)
{
    assert(record != NULL && out != NULL);
    ki_json_writer *writer = ki_json_writer_new(NULL);
    ki_json_write_object_begin(writer);
    if (lease == NULL)
        write_new(writer, ns, name);
    else
        write_others(writer, lease);
    ki_json_write_name(writer, KI_STR("spec"));
    write_spec(writer, lease, record);
    ki_json_write_object_end(writer);
    return ki_json_writer_move(writer, out);
}
