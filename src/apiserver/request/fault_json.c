/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON format of rules in /debug/faults. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/request/fault.h"
#include "apiserver/request/fault_reach.h"
#include "apiserver/value/tree.h"

/* ---- reading ------------------------------------------------------------------------------------------- */

/* A member whose value is a word or a list of words; each word stands for a bit. */
struct words {
    const char *name;
    uint32_t (*bit_of)(ki_str word);
    const char *unknown; /* message for an unknown word; lists the valid ones */
    const char *empty;   /* message for an empty list */
};

static const struct words on_words = {
    "on", ki_as_fault_on_of,
    "is not a kind of request; use list, streamed-list, watch, get, write, discovery or any",
    "omit `on` to match all requests"};
static const struct words method_words = {"method", ki_as_fault_method_of,
                                          "is not a method; use GET, POST, PUT, PATCH or DELETE",
                                          "omit `method` to match all methods"};

static int read_word(const struct words *words, const json_t *word, uint32_t *out,
                     struct ki_as_failure *failure)
{
    if (!json_is_string(word))
        return ki_as_fail_bad_request(failure, "%s: must be a string or a list of strings", words->name);
    uint32_t found = words->bit_of(ki_as_json_str(word));
    if (found == 0)
        return ki_as_fail_bad_request(failure, "%s: \"%.100s\" %s", words->name, json_string_value(word),
                                      words->unknown);
    *out |= found;
    return 0;
}

static int read_words(const struct words *words, const json_t *tree, uint32_t *out,
                      struct ki_as_failure *failure)
{
    const json_t *one;
    size_t i;
    if (!json_is_array(tree))
        return read_word(words, tree, out, failure);
    if (json_array_size(tree) == 0)
        return ki_as_fail_bad_request(failure, "%s: the list is empty; %s", words->name, words->empty);
    json_array_foreach(tree, i, one)
    {
        if (read_word(words, one, out, failure) < 0)
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
    assert(number <= field->max);
    assert(field->bytes == sizeof(uint64_t) || field->bytes == sizeof(uint32_t));
    char *at = (char *)fault + field->offset;
    uint32_t narrow = (uint32_t)number;
    if (field->bytes == sizeof(number))
        memcpy(at, &number, sizeof(number));
    else
        memcpy(at, &narrow, sizeof(narrow));
}

/* The text field called `name`; NULL if there is none. */
static const char **text_of(const char *name, ki_fault *fault)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"path", &fault->path},
                 {"userAgent", &fault->user_agent},
                 {"remote", &fault->remote},
                 {"subresource", &fault->subresource}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(name, texts[i].name) == 0)
            return texts[i].text;
    return NULL;
}

/* Reads a member other than the action. */
static int read_member(const char *name, const json_t *value, ki_fault *fault, struct ki_as_failure *failure)
{
    assert(fault->action != 0);
    const char **text = text_of(name, fault);
    if (strcmp(name, "on") == 0)
        return read_words(&on_words, value, &fault->on, failure);
    if (strcmp(name, "method") == 0)
        return read_words(&method_words, value, &fault->methods, failure);
    if (text != NULL) {
        *text = json_string_value(value);
        return *text != NULL ? 0 : ki_as_fail_bad_request(failure, "%s: must be a string", name);
    }
    const struct ki_as_fault_field *field = field_of(name);
    if (field == NULL)
        return ki_as_fail_bad_request(failure, "%.100s: unknown field of a fault", name);
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
    return ki_as_fail_bad_request(failure, "action: \"%.100s\" is unknown; use one of %s", action, names);
}

/* Borrows the texts from `tree`. */
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
    json_object_foreach(tree, name, value)
    {
        if (strcmp(name, "action") != 0 && read_member(name, value, &fault, failure) < 0)
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
    assert(faults != NULL && failure != NULL);
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

static json_t *words_json(uint32_t bits, const char *(*name_of)(uint32_t bit))
{
    json_t *names = json_array();
    for (uint32_t i = 0; bits >> i != 0; i++)
        if ((bits & 1U << i) != 0)
            (void)json_array_append_new(names, json_string(name_of(i)));
    return names;
}

json_t *ki_as_fault_json(const ki_fault *fault, uint64_t used)
{
    json_t *tree =
        json_pack("{s:s, s:o, s:s*, s:s*, s:s*, s:s*}", "action", ki_apiserver_fault_name(fault->action),
                  "on", words_json(fault->on, ki_as_fault_on_name), "path", fault->path, "userAgent",
                  fault->user_agent, "remote", fault->remote, "subresource", fault->subresource);
    if (fault->methods != 0)
        (void)json_object_set_new(tree, "method", words_json(fault->methods, ki_as_fault_method_name));
    for (size_t i = 0; i < KI_AS_FAULT_FIELDS; i++) {
        const struct ki_as_fault_field *field = &ki_as_fault_fields[i];
        json_int_t number = (json_int_t)ki_as_fault_number(fault, field);
        if (ki_as_fault_uses(fault->action, field))
            (void)json_object_set_new(tree, field->name, json_integer(number));
    }
    (void)json_object_set_new(tree, "used", json_integer((json_int_t)used));
    return tree;
}
