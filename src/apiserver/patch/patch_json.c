/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 6902 with JSON pointers (RFC 6901). As in Kubernetes, an index may count from the end: "/a/-1". */
#include <assert.h>
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/patch/patch.h"
#include "apiserver/patch/patch_parts.h"
#include "apiserver/value/decode.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

/* A few bytes of the patch are enough for a copy, and copies of copies grow exponentially. So the total size
 * of copies is limited, as in Kubernetes. STEPS_MAX limits the depth checks,
 * because each move visits the moved values again. */
enum { OPERATIONS_MAX = 10000, COPIED_BYTES_MAX = 3 * 1024 * 1024, STEPS_MAX = 10 * 1000 * 1000 };

/* The target of an operation: `key` in `parent`, an object or array. The root has no parent. */
struct place {
    json_t *parent;
    char *key;
    size_t level; /* number of enclosing objects and arrays */
};

struct patcher {
    json_t *root;
    const char *name; /* of the operation */
    size_t copied_bytes;
    size_t steps;
    struct ki_as_failure *failure;
};

/* "~1" is a slash, "~0" a tilde. Works in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != 0; from++) {
        if (from[0] == '~' && (from[1] == '0' || from[1] == '1'))
            *to++ = *++from == '1' ? '/' : '~';
        else
            *to++ = *from;
    }
    *to = 0;
}

/* The index that `key` names in an array of `size` elements; with `is_end`, the end is valid, too.
 * -1 if it is invalid. */
static long index_of(const char *key, size_t size, bool is_end)
{
    if (is_end && strcmp(key, "-") == 0)
        return (long)size;
    char *end = NULL;
    bool is_number = (key[0] >= '0' && key[0] <= '9') || (key[0] == '-' && key[1] != 0);
    long index = is_number ? strtol(key, &end, 10) : -1;
    if (!is_number || *end != 0)
        return -1;
    if (index < 0)
        index += (long)size + (is_end ? 1 : 0);
    return index < 0 || (size_t)index > (is_end ? size : size - 1) || (size == 0 && !is_end) ? -1 : index;
}

static json_t *child(json_t *parent, const char *key)
{
    if (!json_is_array(parent))
        return json_object_get(parent, key);
    long index = index_of(key, json_array_size(parent), false);
    return index < 0 ? NULL : json_array_get(parent, (size_t)index);
}

/* Finds the object or array that contains the target of a pointer.
 * The caller frees `place->key`, also after a failure. */
static int find_place(struct patcher *patcher, const char *pointer, struct place *place)
{
    assert(place->key == NULL && place->parent == NULL);
    if (pointer[0] == 0)
        return 0;
    size_t bytes = strlen(pointer) + 1;
    place->key = ki_malloc(bytes);
    char *copy = ki_malloc(bytes);
    if (place->key == NULL || copy == NULL) {
        ki_free(copy);
        return ki_as_fail_no_memory(patcher->failure);
    }
    memcpy(copy, pointer, bytes);
    json_t *at = pointer[0] == '/' ? patcher->root : NULL;
    char *part = copy + 1;
    place->level = 1;
    for (char *slash = strchr(part, '/'); slash != NULL && at != NULL; slash = strchr(part, '/')) {
        *slash = 0;
        unescape(part);
        at = child(at, part);
        part = slash + 1;
        place->level++;
    }
    unescape(part);
    memcpy(place->key, part, strlen(part) + 1);
    ki_free(copy);
    place->parent = at;
    if (json_is_object(at) || json_is_array(at))
        return 0;
    return ki_as_patch_refuse(patcher->failure,
                              "%s operation does not apply: doc is missing path: \"%s\": missing value",
                              patcher->name, pointer);
}

static json_t *get(const struct patcher *patcher, const struct place *place)
{
    return place->key == NULL ? patcher->root : child(place->parent, place->key);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

/* Whether a value inside `level` containers stays within the limits of levels and steps. */
static bool is_within(struct patcher *patcher, const json_t *value, size_t level)
{
    if (++patcher->steps > STEPS_MAX)
        return false;
    if (json_is_object(value)) {
        bool is_good = level < KI_AS_LEVELS_MAX;
        for (void *at = json_object_iter((json_t *)value); at != NULL && is_good;
             at = json_object_iter_next((json_t *)value, at))
            is_good = is_within(patcher, json_object_iter_value(at), level + 1);
        return is_good;
    }
    bool is_good = !json_is_array(value) || level < KI_AS_LEVELS_MAX;
    for (size_t i = 0; is_good && i < json_array_size(value); i++)
        is_good = is_within(patcher, json_array_get(value, i), level + 1);
    return is_good;
}

static int check_levels(struct patcher *patcher, const struct place *place, const json_t *value)
{
    assert((place->key == NULL) == (place->level == 0));
    if (is_within(patcher, value, place->level))
        return 0;
    if (patcher->steps > STEPS_MAX)
        return ki_as_patch_refuse(patcher->failure,
                                  "Unable to complete the %s, the patch moves more than %d values",
                                  patcher->name, STEPS_MAX);
    return ki_as_patch_refuse(patcher->failure,
                              "Unable to complete the %s, its result is nested deeper than %d levels",
                              patcher->name, KI_AS_LEVELS_MAX);
}

static int check_copied(struct patcher *patcher, const json_t *value)
{
    patcher->copied_bytes += json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
    if (patcher->copied_bytes <= COPIED_BYTES_MAX)
        return 0;
    return ki_as_patch_refuse(patcher->failure,
                              "Unable to complete the copy, the accumulated size increase of copy is %zu, "
                              "exceeding the limit %d",
                              patcher->copied_bytes, COPIED_BYTES_MAX);
}

/* ---- operations; each takes `value` -------------------------------------------------------------------- */

static int set_root(struct patcher *patcher, json_t *value)
{
    if (!json_is_object(value) && !json_is_array(value)) {
        json_decref(value);
        return ki_as_patch_refuse(patcher->failure, "%s operation value must be object or array",
                                  patcher->name);
    }
    json_decref(patcher->root);
    patcher->root = value;
    return 0;
}

static int add_below(struct patcher *patcher, const struct place *place, json_t *value)
{
    if (json_is_object(place->parent))
        return json_object_set_new(place->parent, place->key, value) < 0
                   ? ki_as_fail_no_memory(patcher->failure)
                   : 0;
    long index = index_of(place->key, json_array_size(place->parent), true);
    if (index < 0) {
        json_decref(value);
        return ki_as_patch_refuse(patcher->failure, "error in add for path: '%s': invalid index referenced",
                                  place->key);
    }
    int rc = json_array_insert_new(place->parent, (size_t)index, value);
    return rc < 0 ? ki_as_fail_no_memory(patcher->failure) : 0;
}

static int remove_at(struct patcher *patcher, const struct place *place)
{
    if (place->key == NULL || child(place->parent, place->key) == NULL)
        return ki_as_patch_refuse(patcher->failure,
                                  "%s operation does not apply: Unable to remove nonexistent key: %s: "
                                  "missing value",
                                  patcher->name, place->key == NULL ? "" : place->key);
    if (json_is_object(place->parent))
        (void)json_object_del(place->parent, place->key);
    else
        (void)json_array_remove(place->parent,
                                (size_t)index_of(place->key, json_array_size(place->parent), false));
    return 0;
}

static int replace_below(struct patcher *patcher, const struct place *place, json_t *value)
{
    /* Members need not exist, as in Kubernetes. */
    if (!json_is_object(place->parent) && child(place->parent, place->key) == NULL) {
        json_decref(value);
        return ki_as_patch_refuse(patcher->failure,
                                  "replace operation does not apply: doc is missing key: %s: missing "
                                  "value",
                                  place->key);
    }
    int rc = 0;
    if (json_is_object(place->parent))
        rc = json_object_set_new(place->parent, place->key, value);
    else
        rc = json_array_set_new(place->parent,
                                (size_t)index_of(place->key, json_array_size(place->parent), false), value);
    return rc < 0 ? ki_as_fail_no_memory(patcher->failure) : 0;
}

static int put(struct patcher *patcher, const struct place *place, json_t *value, bool is_replace)
{
    assert(place->key == NULL || json_is_object(place->parent) || json_is_array(place->parent));
    if (check_levels(patcher, place, value) < 0) {
        json_decref(value);
        return -1;
    }
    if (place->key == NULL)
        return set_root(patcher, value);
    return is_replace ? replace_below(patcher, place, value) : add_below(patcher, place, value);
}

/* A missing value equals null. */
static int test(struct patcher *patcher, const struct place *place, const json_t *value)
{
    const json_t *there = get(patcher, place);
    bool is_equal = there == NULL ? json_is_null(value) : json_equal(there, value);
    if (is_equal)
        return 0;
    return ki_as_patch_refuse(patcher->failure, "testing value %s failed: test failed",
                              place->key == NULL ? "" : place->key);
}

static int move_or_copy(struct patcher *patcher, const struct place *from, const char *path, bool is_move)
{
    json_t *there = get(patcher, from);
    if (there == NULL)
        return ki_as_patch_refuse(patcher->failure,
                                  "%s operation does not apply: doc is missing from path: missing value",
                                  patcher->name);
    if (!is_move && check_copied(patcher, there) < 0)
        return -1;
    json_t *value = is_move ? json_incref(there) : ki_as_json_copy(there);
    if (value == NULL)
        return ki_as_fail_no_memory(patcher->failure);
    struct place to = {0};
    int rc = is_move ? remove_at(patcher, from) : 0;
    if (rc == 0)
        rc = find_place(patcher, path, &to);
    if (rc == 0)
        rc = put(patcher, &to, value, false);
    else
        json_decref(value);
    ki_free(to.key);
    return rc;
}

/* ---- all operations ------------------------------------------------------------------------------------ */

static int apply_one(struct patcher *patcher, const json_t *operation, const struct place *place)
{
    const char *name = patcher->name;
    const json_t *value = json_object_get(operation, "value");
    if (strcmp(name, "remove") == 0)
        return remove_at(patcher, place);
    if (strcmp(name, "test") == 0 && value == NULL)
        return ki_as_patch_refuse(patcher->failure, "operation, missing value field: missing value");
    if (strcmp(name, "test") == 0)
        return test(patcher, place, value);
    json_t *copy = value == NULL ? json_null() : ki_as_json_copy(value);
    if (copy == NULL)
        return ki_as_fail_no_memory(patcher->failure);
    return put(patcher, place, copy, strcmp(name, "replace") == 0);
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

static int apply_operation(struct patcher *patcher, const json_t *operation)
{
    assert(json_is_object(operation));
    static const char *const with_from[] = {"move", "copy", NULL};
    static const char *const without[] = {"add", "remove", "replace", "test", NULL};
    const char *path = json_string_value(json_object_get(operation, "path"));
    const char *from = json_string_value(json_object_get(operation, "from"));
    patcher->name = ki_as_tree_text(operation, "op");
    bool has_from = is_one_of(patcher->name, with_from);
    if (!has_from && !is_one_of(patcher->name, without))
        return ki_as_patch_refuse(patcher->failure, "Unexpected kind: %s", patcher->name);
    if (path == NULL)
        return ki_as_patch_refuse(patcher->failure, "operation missing path field: missing value");
    if (has_from && from == NULL)
        return ki_as_patch_refuse(patcher->failure, "operation, missing from field: missing value");
    struct place place = {0};
    int rc = find_place(patcher, has_from ? from : path, &place);
    if (rc == 0)
        rc = has_from ? move_or_copy(patcher, &place, path, strcmp(patcher->name, "move") == 0)
                      : apply_one(patcher, operation, &place);
    ki_free(place.key);
    return rc;
}

static int check_patch(const json_t *patch, struct ki_as_failure *failure)
{
    size_t i = 0;
    json_t *operation = NULL;
    if (!json_is_array(patch))
        return ki_as_fail_bad_request(failure,
                                      "json: cannot unmarshal %s into Go value of type jsonpatch.Patch",
                                      ki_as_json_type_name(patch));
    json_array_foreach(patch, i, operation)
    {
        if (!json_is_object(operation))
            return ki_as_fail_bad_request(
                failure, "json: cannot unmarshal %s into Go value of type jsonpatch.Operation",
                ki_as_json_type_name(operation));
    }
    if (json_array_size(patch) > OPERATIONS_MAX)
        return ki_as_fail(
            failure, 413, "RequestEntityTooLarge", NULL,
            "Request entity too large: The allowed maximum operations in a JSON patch is %d, got %zu",
            OPERATIONS_MAX, json_array_size(patch));
    return 0;
}

int ki_as_patch_json(const json_t *current, const json_t *patch, json_t **out, struct ki_as_failure *failure)
{
    assert(out != NULL && failure != NULL);
    struct patcher patcher = {.failure = failure};
    size_t i = 0;
    json_t *operation = NULL;
    int rc = check_patch(patch, failure);
    if (rc < 0)
        return rc;
    patcher.root = ki_as_json_copy(current);
    if (patcher.root == NULL)
        return ki_as_fail_no_memory(failure);
    json_array_foreach(patch, i, operation)
    {
        if (rc == 0)
            rc = apply_operation(&patcher, operation);
    }
    if (rc < 0) {
        json_decref(patcher.root);
        return rc;
    }
    *out = patcher.root;
    return 0;
}
