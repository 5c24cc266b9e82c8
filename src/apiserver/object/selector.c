/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/object/selector.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/object/selector_parts.h"
#include "util/alloc.h"
#include "util/sorted.h"

struct ki_as_requirement *ki_as_requirements_add(struct ki_as_requirements *requirements)
{
    assert(requirements->count <= requirements->capacity);
    if (requirements->count == requirements->capacity) {
        size_t capacity = requirements->capacity == 0 ? 4 : requirements->capacity * 2;
        void *items = ki_realloc(requirements->items, capacity * sizeof(*requirements->items));
        if (items == NULL)
            return NULL;
        requirements->items = items;
        requirements->capacity = capacity;
    }
    struct ki_as_requirement *item = &requirements->items[requirements->count++];
    *item = (struct ki_as_requirement){0};
    return item;
}

int ki_as_requirement_add_value(struct ki_as_requirement *requirement, ki_str value)
{
    assert(requirement->values != NULL || requirement->value_count == 0);
    size_t at = 0;
    while (at < requirement->value_count && ki_str_compare(requirement->values[at], value) < 0)
        at++;
    if (at < requirement->value_count && ki_str_equal(requirement->values[at], value))
        return 0;
    size_t count = requirement->value_count;
    if ((count & (count - 1)) == 0) { /* the capacity is the next power of two */
        ki_str *values = ki_realloc(requirement->values, (count == 0 ? 1 : count * 2) * sizeof(*values));
        if (values == NULL)
            return KI_ERR_NO_MEMORY;
        requirement->values = values;
    }
    memmove(requirement->values + at + 1, requirement->values + at, (count - at) * sizeof(ki_str));
    requirement->values[at] = value;
    requirement->value_count++;
    return 0;
}

bool ki_as_parse_integer(ki_str text, int64_t *out)
{
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    size_t i = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+') ? 1 : 0;
    if (i == text.len)
        return false;
    int64_t value = 0;
    for (; i < text.len; i++) {
        int digit = text.ptr[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(is_negative ? -digit : digit), &value))
            return false;
    }
    *out = value;
    return true;
}

static void requirements_fini(struct ki_as_requirements *requirements)
{
    for (size_t i = 0; i < requirements->count; i++)
        ki_free(requirements->items[i].values);
    ki_free(requirements->items);
}

void ki_as_selector_free(struct ki_as_selector *selector)
{
    if (selector == NULL)
        return;
    requirements_fini(&selector->labels);
    requirements_fini(&selector->fields);
    ki_free(selector->label_text);
    ki_free(selector->field_text);
    ki_free(selector);
}

static char *copy(ki_str text)
{
    char *bytes = ki_malloc(text.len + 1);
    if (bytes != NULL) {
        if (text.len > 0)
            memcpy(bytes, text.ptr, text.len);
        bytes[text.len] = 0;
    }
    return bytes;
}

static int parse(struct ki_as_selector *selector, ki_str labels, ki_str fields,
                 const struct ki_as_resource *resource, struct ki_as_failure *failure)
{
    selector->label_text = copy(labels);
    selector->field_text = copy(fields);
    if (selector->label_text == NULL || selector->field_text == NULL)
        return ki_as_fail_no_memory(failure);
    int rc = ki_as_parse_labels((ki_str){selector->label_text, labels.len}, &selector->labels, failure);
    if (rc < 0)
        return rc;
    return ki_as_parse_fields(selector->field_text, fields.len, resource, &selector->fields, failure);
}

int ki_as_selector_parse(ki_str labels, ki_str fields, const struct ki_as_resource *resource,
                         struct ki_as_selector **out, struct ki_as_failure *failure)
{
    assert(out != NULL && failure != NULL);
    struct ki_as_selector *selector = ki_calloc(1, sizeof(*selector));
    if (selector == NULL)
        return ki_as_fail_no_memory(failure);
    int rc = parse(selector, labels, fields, resource, failure);
    if (rc < 0) {
        ki_as_selector_free(selector);
        return rc;
    }
    if (selector->labels.count == 0 && selector->fields.count == 0) {
        ki_as_selector_free(selector);
        selector = NULL;
    }
    *out = selector;
    return 0;
}

/* ---- matching ------------------------------------------------------------------------------------------ */

static const ki_str *find_label(const struct ki_as_object *object, ki_str name)
{
    assert(object->label_count == 0 || object->labels != NULL);
    size_t low = 0;
    size_t high = object->label_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = ki_str_compare(object->labels[middle].name, name);
        if (order == 0)
            return &object->labels[middle].value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* A field that the object lacks counts as empty. */
static ki_str find_field(const struct ki_as_object *object, ki_str name)
{
    if (ki_str_equal(name, KI_STR("metadata.name")))
        return object->name;
    if (ki_str_equal(name, KI_STR("metadata.namespace")))
        return object->ns;
    for (size_t i = 0; i < object->field_count; i++) {
        if (ki_str_equal(object->fields[i].name, name))
            return object->fields[i].value;
    }
    return (ki_str){0};
}

/* `value` is NULL if the object lacks the label. */
static bool is_met(const struct ki_as_requirement *requirement, const ki_str *value)
{
    assert((requirement->op != KI_AS_IN && requirement->op != KI_AS_NOT_IN) || requirement->value_count > 0);
    int64_t number = 0;
    switch (requirement->op) {
    case KI_AS_IN:
        return value != NULL && ki_sorted_has(requirement->values, requirement->value_count, *value);
    case KI_AS_NOT_IN:
        return value == NULL || !ki_sorted_has(requirement->values, requirement->value_count, *value);
    case KI_AS_EXISTS:
        return value != NULL;
    case KI_AS_NOT_EXISTS:
        return value == NULL;
    case KI_AS_GREATER:
        return value != NULL && ki_as_parse_integer(*value, &number) && number > requirement->number;
    case KI_AS_LESS:
        return value != NULL && ki_as_parse_integer(*value, &number) && number < requirement->number;
    }
    return false;
}

bool ki_as_selector_matches(const struct ki_as_selector *selector, const struct ki_as_object *object)
{
    if (selector == NULL)
        return true;
    for (size_t i = 0; i < selector->fields.count; i++) {
        ki_str value = find_field(object, selector->fields.items[i].key);
        if (!is_met(&selector->fields.items[i], &value))
            return false;
    }
    for (size_t i = 0; i < selector->labels.count; i++) {
        if (!is_met(&selector->labels.items[i], find_label(object, selector->labels.items[i].key)))
            return false;
    }
    return true;
}

ki_str ki_as_selector_name(const struct ki_as_selector *selector)
{
    for (size_t i = 0; selector != NULL && i < selector->fields.count; i++) {
        const struct ki_as_requirement *field = &selector->fields.items[i];
        assert(field->value_count == 1);
        if (field->op == KI_AS_IN && ki_str_equal(field->key, KI_STR("metadata.name")))
            return field->values[0];
    }
    return (ki_str){0};
}
