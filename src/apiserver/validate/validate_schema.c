/* SPDX-License-Identifier: Apache-2.0 */
/* Validates custom objects against the schema of their definition: types, required members, enumerations,
 * bounds, patterns, formats, and combinations of schemas. CEL rules (x-kubernetes-validations) are not
 * evaluated. */
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/keyed_list.h"
#include "apiserver/kind/schema_budget.h"
#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"
#include "util/text/byte.h"

/* The costs in steps. NODE_STEPS: looking up what a schema says about one value. COMPLAINT_STEPS: one
 * reported error, so that the budget ends after a few thousand errors. SHOWN_STEPS: each unit of
 * ki_as_schema_weight() of the value that the error shows; showing it also costs memory. */
enum { DEPTH_MAX = 64, NODE_STEPS = 25, COMPLAINT_STEPS = 20000, SHOWN_STEPS = 16, BYTES_PER_STEP = 8 };

static bool charge(struct ki_as_check *check, const struct ki_as_path *path, size_t steps)
{
    assert(check->budget != NULL);
    return ki_as_schema_charge(check->budget, path, steps);
}

/* Charges another error. False if the budget does not allow it. */
static bool charge_complaint(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value)
{
    if (check->is_quiet)
        return charge(check, path, 1);
    return charge(check, path, COMPLAINT_STEPS) &&
           charge(check, path, SHOWN_STEPS * ki_as_schema_weight(value));
}

/* "spec.size in body …", in the words of the schema library that Kubernetes uses. */
KI_PRINTF(4, 5)
static void complain(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                     const char *format, ...)
{
    char field[KI_AS_PATH_BYTES];
    char detail[KI_AS_PATH_BYTES + 1024];
    if (!charge_complaint(check, path, value))
        return;
    ki_as_path_write(path, field);
    int len = snprintf(detail, sizeof(detail), "%s in body ", field);
    assert(len > 0 && (size_t)len < sizeof(detail));
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(detail + len, sizeof(detail) - (size_t)len, format, arguments);
    va_end(arguments);
    ki_as_cut_at_character(detail);
    ki_as_check_invalid(check, path, value, detail);
}

static void check_value(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                        const json_t *value);

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "object",   [JSON_ARRAY] = "array", [JSON_STRING] = "string",
        [JSON_INTEGER] = "integer", [JSON_REAL] = "number", [JSON_TRUE] = "boolean",
        [JSON_FALSE] = "boolean",   [JSON_NULL] = "null",
    };
    return names[json_typeof(value)];
}

/* The range must be checked first: converting a larger number to an integer is undefined behaviour. */
static bool is_integral(double number)
{
    const double end = 9223372036854775808.0; /* 2^63, the first number beyond int64_t */
    return number >= -end && number < end && number == (double)(int64_t)number;
}

static bool has_type(const json_t *value, const char *type)
{
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    if (strcmp(type, "integer") == 0 && json_is_real(value))
        return is_integral(json_real_value(value));
    return strcmp(type, type_name(value)) == 0;
}

static bool check_type(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                       const json_t *value)
{
    const char *type = ki_as_tree_text(schema, "type");
    if (json_is_null(value) && ki_as_tree_is_true(schema, "nullable"))
        return false;
    if (ki_as_tree_is_true(schema, "x-kubernetes-int-or-string")) {
        if (!json_is_integer(value) && !json_is_string(value))
            complain(check, path, value, "must be of type integer,string: \"%s\"", type_name(value));
        return true;
    }
    if (type[0] == 0 || has_type(value, type))
        return true;
    char *kind = ki_as_quoted(ki_str_of(type_name(value)));
    json_t *name = json_string(type_name(value));
    complain(check, path, name, "must be of type %s: %s", type, kind == NULL ? "" : kind);
    json_decref(name);
    ki_free(kind);
    return false;
}

static void check_enum(struct ki_as_check *check, const struct ki_as_path *path, const json_t *allowed,
                       const json_t *value)
{
    enum { SHOWN_MAX = 32 };
    const char *names[SHOWN_MAX + 1] = {NULL};
    size_t index = 0;
    size_t count = 0;
    json_t *one = NULL;
    if (!json_is_array(allowed))
        return;
    size_t weight = ki_as_schema_weight(value);
    (void)charge(check, path, weight);
    json_array_foreach(allowed, index, one)
    {
        if (!charge(check, path, weight) || json_equal(one, value))
            return;
        if (json_is_string(one) && count < SHOWN_MAX)
            names[count++] = json_string_value(one);
    }
    if (charge_complaint(check, path, value))
        ki_as_check_unsupported(check, path, value, names);
}

/* ---- numbers and strings ------------------------------------------------------------------------------- */

static void check_number(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                         const json_t *value)
{
    assert(json_is_number(value));
    const json_t *low = json_object_get(schema, "minimum");
    const json_t *high = json_object_get(schema, "maximum");
    const json_t *step = json_object_get(schema, "multipleOf");
    double number = json_number_value(value);
    bool is_above = ki_as_tree_is_true(schema, "exclusiveMinimum");
    bool is_below = ki_as_tree_is_true(schema, "exclusiveMaximum");
    if (json_is_number(low) &&
        (number < json_number_value(low) || (is_above && number == json_number_value(low))))
        complain(check, path, value, "should be greater than %s%.15g", is_above ? "" : "or equal to ",
                 json_number_value(low));
    if (json_is_number(high) &&
        (number > json_number_value(high) || (is_below && number == json_number_value(high))))
        complain(check, path, value, "should be less than %s%.15g", is_below ? "" : "or equal to ",
                 json_number_value(high));
    if (json_is_number(step) && json_number_value(step) > 0) {
        double times = number / json_number_value(step);
        if (times > -1e15 && times < 1e15 && times != (double)(long long)times)
            complain(check, path, value, "should be a multiple of %.15g", json_number_value(step));
    }
}

static void check_pattern(struct ki_as_check *check, const struct ki_as_path *path, const char *pattern,
                          const json_t *value)
{
    enum ki_as_pattern_result result =
        ki_as_schema_match(check->budget, path, pattern, ki_as_json_str(value));
    if (result == KI_AS_PATTERN_DIFFERS)
        complain(check, path, value, "should match '%s'", pattern);
    else if (result == KI_AS_PATTERN_OUT_OF_MEMORY)
        ki_as_check_no_memory(check);
}

static size_t count_characters(ki_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ki_byte_is_continuation(text.ptr[i]) ? 0 : 1;
    return count;
}

static void check_string(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                         const json_t *value)
{
    assert(json_is_string(value));
    if (!charge(check, path, json_string_length(value) / BYTES_PER_STEP))
        return;
    size_t count = count_characters(ki_as_json_str(value));
    int64_t low = ki_as_tree_integer(schema, "minLength", 0);
    int64_t high = ki_as_tree_integer(schema, "maxLength", INT64_MAX);
    const char *pattern = ki_as_tree_text(schema, "pattern");
    if ((int64_t)count < low)
        complain(check, path, value, "should be at least %lld chars long", (long long)low);
    if ((int64_t)count > high && charge_complaint(check, path, NULL))
        ki_as_check_too_long(check, path, high);
    if (pattern[0] != 0)
        check_pattern(check, path, pattern, value);
}

static void check_format(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                         const json_t *value)
{
    const char *format = ki_as_tree_text(schema, "format");
    if (format[0] == 0 || ki_as_is_of_format(format, value))
        return;
    char *shown = ki_as_value_text(value);
    complain(check, path, value, "must be of type %s: %s", format, shown == NULL ? "" : shown);
    ki_free(shown);
}

/* ---- lists and objects --------------------------------------------------------------------------------- */

/* Compares an element of a set with all elements before it. */
static void check_unique(struct ki_as_check *check, const struct ki_as_path *path, const json_t *list,
                         size_t index)
{
    assert(index < json_array_size(list));
    const json_t *element = json_array_get(list, index);
    if (!charge(check, path, (index + 1) * ki_as_schema_weight(element)))
        return;
    for (size_t i = 0; i < index; i++) {
        if (json_equal(json_array_get(list, i), element)) {
            if (charge_complaint(check, path, element))
                ki_as_check_duplicate(check, KI_AS_ELEMENT(path, index), element);
            return;
        }
    }
}

/* Checks that no two elements of a list of type "map" have the same keys. */
static void check_keyed(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                        const json_t *list)
{
    const json_t *names = json_object_get(schema, "x-kubernetes-list-map-keys");
    struct ki_as_identity identity = {0};
    struct ki_as_keyed_list known = {0};
    size_t index = 0;
    json_t *element = NULL;
    if (json_array_size(names) == 0 || json_array_size(names) > KI_AS_KEYS_MAX ||
        !charge(check, path, ki_as_schema_weight(list)))
        return;
    for (; identity.keys.count < json_array_size(names); identity.keys.count++)
        identity.keys.names[identity.keys.count] = ki_as_json_str(json_array_get(names, identity.keys.count));
    if (ki_as_keyed_list_init(&known, &identity, list, 0) < 0) {
        ki_as_check_no_memory(check);
        return;
    }
    json_array_foreach(list, index, element)
    {
        long first = json_is_object(element) ? ki_as_keyed_list_find(&known, element) : -1;
        if (first >= 0 && (size_t)first < index && charge_complaint(check, path, element))
            ki_as_check_duplicate(check, KI_AS_ELEMENT(path, index), element);
    }
    ki_as_keyed_list_fini(&known);
}

static void check_list(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                       const json_t *value)
{
    assert(json_is_array(value));
    size_t size = json_array_size(value);
    int64_t low = ki_as_tree_integer(schema, "minItems", 0);
    int64_t high = ki_as_tree_integer(schema, "maxItems", INT64_MAX);
    const json_t *items = json_object_get(schema, "items");
    if ((int64_t)size < low)
        complain(check, path, value, "should have at least %lld items", (long long)low);
    if ((int64_t)size > high && charge_complaint(check, path, NULL))
        ki_as_check_too_many(check, path, size, high);
    bool is_set = ki_as_tree_is_true(schema, "uniqueItems") ||
                  strcmp(ki_as_tree_text(schema, "x-kubernetes-list-type"), "set") == 0;
    if (strcmp(ki_as_tree_text(schema, "x-kubernetes-list-type"), "map") == 0)
        check_keyed(check, path, schema, value);
    bool is_each = is_set || json_is_object(items);
    for (size_t i = 0; is_each && i < size && !check->budget->is_spent; i++) {
        if (is_set)
            check_unique(check, path, value, i);
        if (json_is_object(items))
            check_value(check, KI_AS_ELEMENT(path, i), items, json_array_get(value, i));
    }
}

static void check_object(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                         const json_t *value)
{
    assert(json_is_object(value));
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    size_t index = 0;
    json_t *name = NULL;
    const char *key = NULL;
    json_t *member = NULL;
    json_array_foreach(json_object_get(schema, "required"), index, name)
    {
        if (!charge(check, path, 1 + json_string_length(name) / BYTES_PER_STEP))
            return;
        if (json_is_string(name) && json_object_get(value, json_string_value(name)) == NULL &&
            charge_complaint(check, path, NULL))
            ki_as_check_required(check, KI_AS_MEMBER(path, json_string_value(name)), "");
    }
    json_object_foreach((json_t *)value, key, member)
    {
        if (!charge(check, path, 1 + strlen(key) / BYTES_PER_STEP))
            return;
        const json_t *property = json_object_get(properties, key);
        bool is_metadata =
            path == NULL && strcmp(key, "metadata") == 0; /* already checked, as for all kinds */
        if (json_is_object(property) && !is_metadata)
            check_value(check, KI_AS_MEMBER(path, key), property, member);
        else if (property == NULL && json_is_object(others))
            check_value(check, KI_AS_MEMBER(path, key), others, member);
    }
    int64_t high = ki_as_tree_integer(schema, "maxProperties", INT64_MAX);
    int64_t low = ki_as_tree_integer(schema, "minProperties", 0);
    if ((int64_t)json_object_size(value) > high && charge_complaint(check, path, NULL))
        ki_as_check_too_many(check, path, json_object_size(value), high);
    if ((int64_t)json_object_size(value) < low)
        complain(check, path, value, "should have at least %lld properties", (long long)low);
}

/* The number of schemas that the value satisfies. */
static size_t count_met(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schemas,
                        const json_t *value)
{
    size_t met = 0;
    for (size_t i = 0; i < json_array_size(schemas); i++) {
        struct ki_as_check inner = {.budget = check->budget, .is_quiet = true};
        check_value(&inner, path, json_array_get(schemas, i), value);
        met += inner.count == 0 ? 1 : 0;
    }
    assert(met <= json_array_size(schemas));
    return met;
}

static void check_combinations(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                               const json_t *value)
{
    const json_t *any = json_object_get(schema, "anyOf");
    const json_t *one = json_object_get(schema, "oneOf");
    const json_t *all = json_object_get(schema, "allOf");
    const json_t *not = json_object_get(schema, "not");
    for (size_t i = 0; i < json_array_size(all); i++)
        check_value(check, path, json_array_get(all, i), value);
    if (json_array_size(any) > 0 && count_met(check, path, any, value) == 0)
        complain(check, path, value, "must validate at least one schema (anyOf)");
    if (json_array_size(one) > 0 && count_met(check, path, one, value) != 1)
        complain(check, path, value, "must validate one and only one schema (oneOf)");
    if (json_is_object(not )) {
        struct ki_as_check inner = {.budget = check->budget, .is_quiet = true};
        check_value(&inner, path, not, value);
        if (inner.count == 0)
            complain(check, path, value, "must not validate the schema (not)");
    }
}

static void check_value(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                        const json_t *value)
{
    size_t depth = 0;
    for (const struct ki_as_path *at = path; at != NULL; at = at->parent)
        depth++;
    if (depth > DEPTH_MAX || !json_is_object(schema) || !charge(check, path, NODE_STEPS + depth) ||
        !check_type(check, path, schema, value))
        return;
    check_enum(check, path, json_object_get(schema, "enum"), value);
    check_format(check, path, schema, value);
    if (json_is_number(value))
        check_number(check, path, schema, value);
    else if (json_is_string(value))
        check_string(check, path, schema, value);
    else if (json_is_array(value))
        check_list(check, path, schema, value);
    else if (json_is_object(value))
        check_object(check, path, schema, value);
    check_combinations(check, path, schema, value);
}

void ki_as_check_schema_within(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                               const json_t *value)
{
    assert(check->budget != NULL);
    check_value(check, path, schema, value);
}

void ki_as_check_schema(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                        const json_t *value)
{
    assert(check->budget == NULL);
    struct ki_as_schema_budget budget = {0};
    check->budget = &budget;
    check_value(check, path, schema, value);
    check->budget = NULL;
    if (budget.is_spent)
        ki_as_check_given_up(check, KI_AS_PATH(budget.where),
                             "the object is too costly to validate against its schema");
    ki_as_schema_budget_fini(&budget);
}
