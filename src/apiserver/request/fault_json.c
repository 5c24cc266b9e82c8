/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as /debug/faults has them. */
#include <stdio.h>
#include <string.h>

#include "apiserver/request/fault.h"
#include "apiserver/request/fault_reach.h"
#include "apiserver/value/tree.h"

/* ---- reading ------------------------------------------------------------------------------------------- */

static int read_word(const json_t *word, uint32_t *out, struct ki_as_failure *failure)
{
    if (!json_is_string(word))
        return ki_as_fail_bad_request(failure, "on: must be a word or a list of words");
    uint32_t found = ki_as_fault_on_of(ki_as_json_str(word));
    if (found == 0)
        return ki_as_fail_bad_request(failure,
                                      "on: \"%s\" is no kind of request; there are list, streamed-list, "
                                      "watch, get, write, discovery, any",
                                      json_string_value(word));
    *out |= found;
    return 0;
}

static int read_on(const json_t *tree, uint32_t *out, struct ki_as_failure *failure)
{
    const json_t *one;
    size_t i;
    if (tree == NULL)
        return 0;
    if (!json_is_array(tree))
        return read_word(tree, out, failure);
    if (json_array_size(tree) == 0)
        return ki_as_fail_bad_request(failure, "on: the list is empty; without `on` it is all that can be");
    json_array_foreach(tree, i, one)
    {
        if (read_word(one, out, failure) < 0)
            return -1;
    }
    return 0;
}

static const struct ki_as_fault_field *field_of(const char *name)
{
    for (size_t i = 0; i < KI_AS_FAULT_FIELDS; i++)
        if (strcmp(name, ki_as_fault_fields[i].name) == 0)
            return &ki_as_fault_fields[i];
    return NULL;
}

static void set_number(ki_fault *fault, const struct ki_as_fault_field *field, uint64_t number)
{
    char *at = (char *)fault + field->offset;
    uint32_t narrow = (uint32_t)number;
    if (field->bytes == sizeof(number))
        memcpy(at, &number, sizeof(number));
    else
        memcpy(at, &narrow, sizeof(narrow));
}

/* Any member but action and on. */
static int read_member(const char *name, const json_t *value, ki_fault *fault, struct ki_as_failure *failure)
{
    if (strcmp(name, "path") == 0) {
        fault->path = json_string_value(value);
        return fault->path != NULL ? 0 : ki_as_fail_bad_request(failure, "path: must be a text");
    }
    const struct ki_as_fault_field *field = field_of(name);
    if (field == NULL)
        return ki_as_fail_bad_request(failure, "%.100s: there is no such field of a fault", name);
    if (!ki_as_fault_uses(fault->action, field))
        return ki_as_fail_bad_request(failure, "%s: \"%s\" does not use it", name,
                                      ki_apiserver_fault_name(fault->action));
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number > field->max)
        return ki_as_fail_bad_request(failure, "%s: must be a number from 0 to %llu", name,
                                      (unsigned long long)field->max);
    set_number(fault, field, (uint64_t)number);
    return 0;
}

/* The message lists the actions. */
static int fail_action(const char *action, struct ki_as_failure *failure)
{
    char names[256];
    size_t at = 0;
    for (uint32_t i = KI_FAULT_CLOSE; i <= KI_FAULT_NO_BOOKMARKS && at < sizeof(names); i++)
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", at > 0 ? ", " : "",
                               ki_apiserver_fault_name(i));
    return ki_as_fail_bad_request(failure, "action: there is no \"%.100s\"; there are %s", action, names);
}

/* Borrows the path from `tree`. */
static int read_fault(json_t *tree, ki_fault *out, struct ki_as_failure *failure)
{
    ki_fault fault = {0};
    ki_error err = {0};
    const char *name;
    json_t *value;
    const char *action = json_string_value(json_object_get(tree, "action"));
    if (action == NULL)
        return ki_as_fail_bad_request(failure, "action: which? As in {\"action\": \"reset\"}");
    fault.action = ki_as_fault_action_of(ki_str_of(action));
    if (fault.action == 0)
        return fail_action(action, failure);
    if (read_on(json_object_get(tree, "on"), &fault.on, failure) < 0)
        return -1;
    json_object_foreach(tree, name, value)
    {
        bool is_read = strcmp(name, "action") == 0 || strcmp(name, "on") == 0;
        if (!is_read && read_member(name, value, &fault, failure) < 0)
            return -1;
    }
    if (ki_apiserver_fault_check(&fault, &err) < 0)
        return ki_as_fail_bad_request(failure, "%s", err.message);
    *out = fault;
    return 0;
}

static int add(struct ki_as_faults *faults, const ki_fault *fault, struct ki_as_failure *failure)
{
    ki_error err = {0};
    int rc = ki_as_faults_add(faults, fault, &err);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_as_fail_no_memory(failure);
    return rc < 0 ? ki_as_fail_bad_request(failure, "%s", err.message) : 0;
}

int ki_as_faults_add_json(struct ki_as_faults *faults, const json_t *tree, struct ki_as_failure *failure)
{
    ki_fault fault;
    size_t count = json_is_array(tree) ? json_array_size(tree) : 1;
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < count; i++) {
            json_t *one = json_is_array(tree) ? json_array_get(tree, i) : (json_t *)tree;
            if (read_fault(one, &fault, failure) < 0)
                return -1;
            if (round == 1 && add(faults, &fault, failure) < 0)
                return -1;
        }
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static json_t *on_json(uint32_t on)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < KI_AS_FAULT_KINDS; i++)
        if ((on & 1U << i) != 0)
            (void)json_array_append_new(names, json_string(ki_as_fault_on_name(i)));
    return names;
}

json_t *ki_as_fault_json(const ki_fault *fault, uint64_t used)
{
    json_t *tree = json_pack("{s:s, s:o, s:s*}", "action", ki_apiserver_fault_name(fault->action), "on",
                             on_json(fault->on), "path", fault->path);
    for (size_t i = 0; i < KI_AS_FAULT_FIELDS; i++) {
        const struct ki_as_fault_field *field = &ki_as_fault_fields[i];
        json_int_t number = (json_int_t)ki_as_fault_number(fault, field);
        if (ki_as_fault_uses(fault->action, field))
            (void)json_object_set_new(tree, field->name, json_integer(number));
    }
    (void)json_object_set_new(tree, "used", json_integer((json_int_t)used));
    return tree;
}
