/* SPDX-License-Identifier: Apache-2.0 */
/* Server-side apply: a manager sends all the fields it wants to set, and owns them from then on. */
#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/kind/prune.h"
#include "apiserver/patch/apply_parts.h"
#include "apiserver/patch/field_set.h"
#include "apiserver/patch/patch.h"
#include "apiserver/value/timestamp.h"
#include "apiserver/value/tree.h"

enum { PATH_BYTES_MAX = 64 * 1024 };

struct work {
    const struct ki_as_apply *apply;
    struct ki_as_shape shape;
    json_t *config;  /* without nulls, unknown fields, and fields that this subresource does not write */
    json_t *set;     /* the fields of config */
    json_t *entries; /* a copy of managedFields without the manager's own entry */
    json_t *had;     /* the fields of the manager's own entry; NULL if there is none */
    json_t *own_time;
    json_t *result;
    bool is_changed; /* whether the apply changed the object */
};

static void work_fini(struct work *work)
{
    json_t *const trees[] = {work->config, work->set, work->entries, work->had, work->own_time, work->result};
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
        json_decref(trees[i]);
}

/* ---- the applied configuration ------------------------------------------------------------------------- */

/* The status is written only through its own subresource, which writes nothing else. */
static void restrict_config(struct work *work)
{
    assert(json_is_object(work->config));
    static const char *const kept[] = {"kind", "apiVersion", "metadata", "status"};
    const char *name = NULL;
    json_t *value = NULL;
    void *next = NULL;
    if (!work->apply->resource->has_status)
        return;
    if (work->apply->subresource[0] == 0) {
        (void)json_object_del(work->config, "status");
        return;
    }
    json_object_foreach_safe(work->config, next, name, value)
    {
        bool is_kept = false;
        for (size_t i = 0; i < 4; i++)
            is_kept = is_kept || strcmp(name, kept[i]) == 0;
        if (!is_kept)
            (void)json_object_del(work->config, name);
    }
    json_t *metadata = json_object_get(work->config, "metadata");
    json_object_foreach_safe(metadata, next, name, value)
    {
        if (strcmp(name, "name") != 0 && strcmp(name, "namespace") != 0 &&
            strcmp(name, "resourceVersion") != 0)
            (void)json_object_del(metadata, name);
    }
}

/* Maps themselves have no owner, only their members do. List elements, however, have owners. */
static void drop_dots(json_t *set, bool is_element)
{
    const char *entry = NULL;
    json_t *inner = NULL;
    if (!is_element && json_object_size(set) > 1)
        (void)json_object_del(set, ".");
    json_object_foreach(set, entry, inner)
    {
        drop_dots(inner, entry[0] == 'k');
    }
}

static int prepare_config(struct work *work)
{
    assert(work->config == NULL && work->set == NULL);
    const struct ki_as_apply *apply = work->apply;
    work->config = ki_as_json_copy(apply->config);
    if (work->config == NULL)
        return KI_ERR_NO_MEMORY;
    int rc = ki_as_prune_applied(apply->resource, work->config);
    if (rc < 0)
        return rc;
    restrict_config(work);
    rc = ki_as_field_set_of(work->shape, NULL, work->config, &work->set);
    if (rc == 0)
        drop_dots(work->set, false);
    return rc;
}

/* ---- conflicts ----------------------------------------------------------------------------------------- */

static bool is_own(const struct ki_as_apply *apply, const json_t *entry)
{
    return strcmp(ki_as_tree_text(entry, "manager"), apply->manager) == 0 &&
           strcmp(ki_as_tree_text(entry, "operation"), "Apply") == 0 &&
           strcmp(ki_as_tree_text(entry, "subresource"), apply->subresource) == 0;
}

static int prepare_entries(struct work *work)
{
    assert(work->entries == NULL && work->had == NULL);
    const json_t *there = ki_as_tree_at(work->apply->current, "metadata.managedFields");
    work->entries = json_is_array(there) ? ki_as_json_copy(there) : json_array();
    if (work->entries == NULL)
        return KI_ERR_NO_MEMORY;
    for (size_t i = json_array_size(work->entries); i-- > 0;) {
        json_t *entry = json_array_get(work->entries, i);
        if (!is_own(work->apply, entry) || work->had != NULL)
            continue;
        work->had = json_incref(json_object_get(entry, "fieldsV1"));
        work->own_time = json_incref(json_object_get(entry, "time"));
        (void)json_array_remove(work->entries, i);
    }
    return 0;
}

/* "kubectl" with subresource "scale" using apps/v1: how conflict messages name a manager. */
static json_t *manager_text(const json_t *entry)
{
    const char *subresource = ki_as_tree_text(entry, "subresource");
    bool is_update = strcmp(ki_as_tree_text(entry, "operation"), "Update") == 0;
    return json_sprintf("\"%s\"%s%s%s%s%s", ki_as_tree_text(entry, "manager"),
                        subresource[0] == 0 ? "" : " with subresource \"", subresource,
                        subresource[0] == 0 ? "" : "\"", is_update ? " using " : "",
                        is_update ? ki_as_tree_text(entry, "apiVersion") : "");
}

static int add_causes(json_t *causes, const json_t *paths, const json_t *entry)
{
    json_t *manager = manager_text(entry);
    size_t index = 0;
    json_t *path = NULL;
    int rc = manager == NULL ? KI_ERR_NO_MEMORY : 0;
    json_array_foreach(paths, index, path)
    {
        json_t *cause =
            json_pack("{s:s, s:o, s:O}", "reason", "FieldManagerConflict", "message",
                      json_sprintf("conflict with %s", json_string_value(manager)), "field", path);
        if (rc < 0)
            json_decref(cause);
        else if (json_array_append_new(causes, cause) < 0)
            rc = KI_ERR_NO_MEMORY;
    }
    json_decref(manager);
    return rc;
}

/* Finds the conflicts with one manager. They become causes; if `causes` is NULL, the fields are removed from
 * the set of that manager instead. */
static int contest_with(struct work *work, json_t *entry, const json_t *wanted, json_t *causes)
{
    assert(wanted != NULL);
    ki_buf path;
    json_t *owned = json_object_get(entry, "fieldsV1");
    json_t *set = json_object();
    json_t *paths = json_array();
    struct ki_as_contest contest = {wanted, owned, work->config, work->apply->current, work->shape};
    ki_buf_init(&path, PATH_BYTES_MAX);
    int rc =
        set == NULL || paths == NULL ? KI_ERR_NO_MEMORY : ki_as_apply_contest(&contest, &path, set, paths);
    ki_buf_fini(&path);
    if (rc == 0 && causes == NULL)
        ki_as_field_set_subtract(owned, set);
    else if (rc == 0)
        rc = add_causes(causes, paths, entry);
    json_decref(set);
    json_decref(paths);
    return rc;
}

static int contest_each(struct work *work, const json_t *wanted, json_t *causes)
{
    size_t index = 0;
    json_t *entry = NULL;
    int rc = 0;
    json_array_foreach(work->entries, index, entry)
    {
        if (rc == 0)
            rc = contest_with(work, entry, wanted, causes);
    }
    return rc;
}

/* A single conflict is written on one line; several are grouped by manager. */
static int append_causes(ki_buf *text, const json_t *causes)
{
    const char *last = "";
    size_t index = 0;
    json_t *cause = NULL;
    int rc = 0;
    bool is_one = json_array_size(causes) == 1;
    json_array_foreach(causes, index, cause)
    {
        const char *message = ki_as_tree_text(cause, "message"); /* "conflict with …" */
        const char *manager = message + strlen("conflict");
        if (rc == 0 && strcmp(last, message) != 0) {
            rc = ki_buf_append_str(text, ki_str_of(is_one       ? "conflict"
                                                   : index == 0 ? "conflicts"
                                                                : "\nconflicts"));
            rc = rc < 0 ? rc : ki_buf_append_str(text, ki_str_of(manager));
            rc = rc < 0 ? rc : ki_buf_append_byte(text, ':');
        }
        last = message;
        rc = rc < 0 ? rc : ki_buf_append_str(text, ki_str_of(is_one ? " " : "\n- "));
        rc = rc < 0 ? rc : ki_buf_append_str(text, ki_str_of(ki_as_tree_text(cause, "field")));
    }
    return rc;
}

static int fail_conflict(struct ki_as_failure *failure, json_t *causes)
{
    assert(json_array_size(causes) > 0);
    ki_buf text;
    size_t count = json_array_size(causes);
    ki_buf_init(&text, (size_t)1024 * 1024);
    int rc = append_causes(&text, causes);
    json_t *details = json_pack("{s:O}", "causes", causes);
    if (rc == 0 && details != NULL)
        rc = ki_as_fail(failure, 409, "Conflict", details, "Apply failed with %zu conflict%s: %.*s", count,
                        count == 1 ? "" : "s", (int)text.len, text.data);
    else {
        json_decref(details);
        rc = ki_as_fail_no_memory(failure);
    }
    ki_buf_fini(&text);
    return rc;
}

/* Adds a cause for each conflict, except for fields in `allowed` (may be NULL). */
static int find_causes(struct work *work, const json_t *allowed, json_t *causes)
{
    json_t *wanted = ki_as_json_copy(work->set);
    if (wanted != NULL && allowed != NULL)
        ki_as_field_set_subtract(wanted, allowed);
    int rc = wanted == NULL || causes == NULL ? KI_ERR_NO_MEMORY : contest_each(work, wanted, causes);
    json_decref(wanted);
    return rc;
}

static int contest_all(struct work *work, struct ki_as_failure *failure)
{
    json_t *allowed = NULL;
    json_t *causes = json_array();
    int rc = 0;
    if (!work->apply->is_forced) {
        rc = ki_as_apply_last_fields(work->apply, work->shape, &allowed);
        if (rc == 0)
            rc = find_causes(work, allowed, causes);
    }
    if (rc == 0 && json_array_size(causes) == 0)
        rc = contest_each(work, work->set, NULL);
    if (rc < 0)
        rc = ki_as_fail_no_memory(failure);
    else if (json_array_size(causes) > 0)
        rc = fail_conflict(failure, causes);
    json_decref(causes);
    json_decref(allowed);
    return rc;
}

/* ---- the result ---------------------------------------------------------------------------------------- */

/* Removes fields that this manager owned and no longer applies, and that no other manager owns. */
static int remove_left_over(struct work *work)
{
    assert(work->had != NULL && work->result != NULL);
    json_t *keep = ki_as_json_copy(work->set);
    size_t index = 0;
    json_t *entry = NULL;
    int rc = keep == NULL ? KI_ERR_NO_MEMORY : 0;
    json_array_foreach(work->entries, index, entry)
    {
        if (rc == 0)
            rc = ki_as_field_set_add(keep, json_object_get(entry, "fieldsV1"));
    }
    if (rc == 0)
        rc = ki_as_apply_remove(work->result, work->had, keep, work->shape);
    json_decref(keep);
    return rc;
}

/* The time is that of the manager's last change to the object;
 * an entry whose manager changed nothing has no time. */
static json_t *own_entry(const struct work *work)
{
    assert(work->set != NULL);
    const struct ki_as_apply *apply = work->apply;
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:s, s:O, s:s*}", "manager", apply->manager, "operation", "Apply",
                  "apiVersion", apply->resource->api_version, "fieldsType", "FieldsV1", "fieldsV1", work->set,
                  "subresource", apply->subresource[0] == 0 ? NULL : apply->subresource);
    char now[KI_AS_TIME_BYTES];
    ki_as_time_now(now);
    json_t *time = work->is_changed ? json_string(now) : json_incref(work->own_time);
    bool is_enough = entry != NULL && (time != NULL || !work->is_changed);
    if (is_enough && time != NULL)
        is_enough = json_object_set(entry, "time", time) == 0;
    json_decref(time);
    if (is_enough)
        return entry;
    json_decref(entry);
    return NULL;
}

/* The entry of the manager comes first: entries with operation Apply precede the others. */
static int record(struct work *work)
{
    json_t *metadata = NULL;
    for (size_t i = json_array_size(work->entries); i-- > 0;) {
        if (json_object_size(json_object_get(json_array_get(work->entries, i), "fieldsV1")) == 0)
            (void)json_array_remove(work->entries, i);
    }
    int rc = json_array_insert_new(work->entries, 0, own_entry(work));
    if (rc == 0)
        rc = ki_as_tree_object(work->result, "metadata", &metadata);
    if (rc == 0 && metadata != NULL)
        rc = json_object_set(metadata, "managedFields", work->entries);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

static int make_result(struct work *work)
{
    assert(work->result == NULL && work->entries != NULL);
    const json_t *current = work->apply->current;
    work->result = ki_as_json_copy(current != NULL ? current : work->config);
    if (work->result == NULL)
        return KI_ERR_NO_MEMORY;
    int rc = current == NULL ? 0 : ki_as_apply_merge(work->result, work->config, work->shape);
    if (rc == 0 && work->had != NULL)
        rc = remove_left_over(work);
    if (rc == 0)
        rc = ki_as_apply_last_write(work->apply, work->result);
    work->is_changed = current == NULL || !ki_as_json_equal(current, work->result);
    return rc < 0 ? rc : record(work);
}

int ki_as_patch_apply(const struct ki_as_apply *apply, json_t **out, struct ki_as_failure *failure)
{
    assert(apply->resource != NULL && apply->manager != NULL && apply->subresource != NULL);
    struct work work = {.apply = apply, .shape = ki_as_shape_of(apply->resource)};
    if (!json_is_object(apply->config))
        return ki_as_fail_bad_request(failure, "error decoding YAML: the configuration must be an object");
    if (json_array_size(ki_as_tree_at(apply->config, "metadata.managedFields")) > 0)
        return ki_as_fail_bad_request(failure, "metadata.managedFields must be nil");
    int rc = prepare_config(&work);
    if (rc == 0)
        rc = prepare_entries(&work);
    rc = rc < 0 ? ki_as_fail_no_memory(failure) : contest_all(&work, failure);
    if (rc == 0 && make_result(&work) < 0)
        rc = ki_as_fail_no_memory(failure);
    if (rc == 0)
        *out = json_incref(work.result);
    work_fini(&work);
    return rc;
}
