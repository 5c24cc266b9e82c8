/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/fault.h"

#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/list.h"
#include "util/random.h"
#include "util/thread.h"

/* A rule with no times left stays for /debug/faults to show, and matches nothing. */
struct rule {
    ki_list_node node;
    ki_fault fault;
    uint64_t used;
    char path[]; /* what fault.path points to, unless that is NULL */
};

struct ki_as_faults {
    ki_mutex mu;
    ki_list rules; /* guarded by mu, as all below */
    size_t count;
    ki_random random;
};

enum { RULES_MAX = 1000 };

struct ki_as_faults *ki_as_faults_new(uint64_t seed)
{
    struct ki_as_faults *faults = ki_calloc(1, sizeof(*faults));
    if (faults == NULL)
        return NULL;
    ki_mutex_init(&faults->mu);
    ki_list_init(&faults->rules);
    ki_random_init(&faults->random, seed);
    return faults;
}

void ki_as_faults_clear(struct ki_as_faults *faults)
{
    ki_list_node *node;
    ki_mutex_lock(&faults->mu);
    while ((node = ki_list_pop_front(&faults->rules)) != NULL)
        ki_free(KI_CONTAINER_OF(node, struct rule, node));
    faults->count = 0;
    ki_mutex_unlock(&faults->mu);
}

void ki_as_faults_free(struct ki_as_faults *faults)
{
    if (faults == NULL)
        return;
    ki_as_faults_clear(faults);
    ki_mutex_fini(&faults->mu);
    ki_free(faults);
}

static int check(const ki_fault *fault, ki_error *err)
{
    if (fault->action < KI_FAULT_CLOSE || fault->action > KI_FAULT_NO_BOOKMARKS)
        return ki_fail(err, KI_ERR_INVALID, "fault: there is no action %u", (unsigned)fault->action);
    if ((fault->on & ~(uint32_t)KI_FAULT_ANY) != 0)
        return ki_fail(err, KI_ERR_INVALID, "fault: on: unknown requests in %u", (unsigned)fault->on);
    if (fault->percent > 100)
        return ki_fail(err, KI_ERR_INVALID, "fault: percent: %u is more than 100", (unsigned)fault->percent);
    bool is_code = fault->code >= 200 && fault->code <= 599;
    if (fault->action == KI_FAULT_STATUS && !is_code)
        return ki_fail(err, KI_ERR_INVALID, "fault: code: %u is no status of HTTP", (unsigned)fault->code);
    return 0;
}

/* Rules that are spent are shown as long as there is room. */
static bool make_room_locked(struct ki_as_faults *faults) KI_REQUIRES(faults->mu);

static bool make_room_locked(struct ki_as_faults *faults)
{
    if (faults->count < RULES_MAX)
        return true;
    for (ki_list_node *node = ki_list_first(&faults->rules); node != NULL;
         node = ki_list_next(&faults->rules, node)) {
        struct rule *rule = KI_CONTAINER_OF(node, struct rule, node);
        if (rule->fault.times == 0 || rule->used < rule->fault.times)
            continue;
        ki_list_remove(node);
        ki_free(rule);
        faults->count--;
        return true;
    }
    return false;
}

int ki_as_faults_add(struct ki_as_faults *faults, const ki_fault *fault, ki_error *err)
{
    int rc = check(fault, err);
    if (rc < 0)
        return rc;
    size_t path_bytes = fault->path == NULL ? 0 : strlen(fault->path) + 1;
    struct rule *rule = ki_calloc(1, sizeof(*rule) + path_bytes);
    if (rule == NULL)
        return ki_fail_no_memory(err);
    rule->fault = *fault;
    if (fault->path != NULL)
        rule->fault.path = memcpy(rule->path, fault->path, path_bytes);
    if (rule->fault.on == 0)
        rule->fault.on = KI_FAULT_ANY;
    ki_mutex_lock(&faults->mu);
    bool is_full = !make_room_locked(faults);
    if (!is_full) {
        ki_list_push_back(&faults->rules, &rule->node);
        faults->count++;
    }
    ki_mutex_unlock(&faults->mu);
    if (!is_full)
        return 0;
    ki_free(rule);
    return ki_fail(err, KI_ERR_TOO_LARGE, "fault: there are %d rules already", RULES_MAX);
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

static bool contains(ki_str text, const char *part)
{
    size_t len = strlen(part);
    for (size_t at = 0; at + len <= text.len; at++)
        if (len == 0 || memcmp(text.ptr + at, part, len) == 0)
            return true;
    return len == 0;
}

static bool matches_locked(struct ki_as_faults *faults, const struct rule *rule, ki_fault_on on, ki_str path)
    KI_REQUIRES(faults->mu);

static bool matches_locked(struct ki_as_faults *faults, const struct rule *rule, ki_fault_on on, ki_str path)
{
    const ki_fault *fault = &rule->fault;
    if ((fault->on & (uint32_t)on) == 0 || (fault->times > 0 && rule->used >= fault->times))
        return false;
    if (fault->path != NULL && !contains(path, fault->path))
        return false;
    return fault->percent == 0 || ki_random_below(&faults->random, 100) < fault->percent;
}

bool ki_as_faults_draw(struct ki_as_faults *faults, ki_fault_on on, ki_str path, ki_fault *out)
{
    bool is_drawn = false;
    ki_mutex_lock(&faults->mu);
    for (ki_list_node *node = ki_list_first(&faults->rules); node != NULL && !is_drawn;
         node = ki_list_next(&faults->rules, node)) {
        struct rule *rule = KI_CONTAINER_OF(node, struct rule, node);
        if (!matches_locked(faults, rule, on, path))
            continue;
        rule->used++;
        *out = rule->fault;
        out->path = NULL; /* the rule may be gone before the request is */
        is_drawn = true;
    }
    ki_mutex_unlock(&faults->mu);
    return is_drawn;
}

/* ---- as JSON ------------------------------------------------------------------------------------------- */

static const char *const action_names[] = {
    [KI_FAULT_CLOSE] = "close",
    [KI_FAULT_RESET] = "reset",
    [KI_FAULT_STALL] = "stall",
    [KI_FAULT_DELAY] = "delay",
    [KI_FAULT_ONE_BYTE] = "one-byte",
    [KI_FAULT_GARBAGE] = "garbage",
    [KI_FAULT_TRUNCATE] = "truncate",
    [KI_FAULT_STATUS] = "status",
    [KI_FAULT_EXPIRED] = "expired",
    [KI_FAULT_STALE] = "stale",
    [KI_FAULT_ENDLESS_PAGES] = "endless-pages",
    [KI_FAULT_NO_WATCH_LIST] = "no-watch-list",
    [KI_FAULT_NO_END_MARKER] = "no-end-marker",
    [KI_FAULT_NO_BOOKMARKS] = "no-bookmarks",
};

static const char *const on_names[] = {"list", "watch", "get", "write", "discovery"};

uint32_t ki_as_fault_action_of(ki_str name)
{
    for (uint32_t i = KI_FAULT_CLOSE; i <= KI_FAULT_NO_BOOKMARKS; i++)
        if (ki_str_equal(name, ki_str_of(action_names[i])))
            return i;
    return 0;
}

uint32_t ki_as_fault_on_of(ki_str name)
{
    for (uint32_t i = 0; i < sizeof(on_names) / sizeof(on_names[0]); i++)
        if (ki_str_equal(name, ki_str_of(on_names[i])))
            return 1U << i;
    return ki_str_equal(name, KI_STR("any")) ? KI_FAULT_ANY : 0;
}

static int read_on(const json_t *tree, uint32_t *out, struct ki_as_failure *failure)
{
    const json_t *one;
    size_t i;
    if (json_is_string(tree)) {
        *out |= ki_as_fault_on_of((ki_str){json_string_value(tree), json_string_length(tree)});
        return *out != 0 ? 0
                         : ki_as_fail_bad_request(failure, "on: \"%s\" is no kind of request",
                                                  json_string_value(tree));
    }
    if (tree != NULL && !json_is_array(tree))
        return ki_as_fail_bad_request(failure, "on: must be a word or a list of words");
    json_array_foreach(tree, i, one)
    {
        uint32_t found = 0;
        if (!json_is_string(one) || read_on(one, &found, failure) < 0)
            return json_is_string(one) ? -1 : ki_as_fail_bad_request(failure, "on: must be words");
        *out |= found;
    }
    return 0;
}

static int read_number(const json_t *tree, const char *name, uint64_t max, uint64_t *out)
{
    const json_t *value = json_object_get(tree, name);
    if (value == NULL)
        return 0;
    if (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > max)
        return -1;
    *out = (uint64_t)json_integer_value(value);
    return 0;
}

static int read_numbers(const json_t *tree, ki_fault *fault, struct ki_as_failure *failure)
{
    uint64_t times = 0;
    uint64_t percent = 0;
    uint64_t events = 0;
    uint64_t code = 0;
    uint64_t retry_after = 0;
    uint64_t delay = 0;
    if (read_number(tree, "times", UINT32_MAX, &times) < 0 ||
        read_number(tree, "percent", 100, &percent) < 0 ||
        read_number(tree, "afterBytes", INT64_MAX, &fault->after_bytes) < 0 ||
        read_number(tree, "afterEvents", UINT32_MAX, &events) < 0 ||
        read_number(tree, "code", 599, &code) < 0 ||
        read_number(tree, "retryAfterSeconds", 1000000, &retry_after) < 0 ||
        read_number(tree, "delayMs", UINT32_MAX, &delay) < 0 ||
        read_number(tree, "behind", INT64_MAX, &fault->behind) < 0)
        return ki_as_fail_bad_request(failure,
                                      "times, percent, afterBytes, afterEvents, code, "
                                      "retryAfterSeconds, delayMs, behind: must be numbers in range");
    fault->times = (uint32_t)times;
    fault->percent = (uint32_t)percent;
    fault->after_events = (uint32_t)events;
    fault->code = (uint32_t)code;
    fault->retry_after_seconds = (uint32_t)retry_after;
    fault->delay_ms = (uint32_t)delay;
    return 0;
}

int ki_as_faults_add_json(struct ki_as_faults *faults, const json_t *tree, struct ki_as_failure *failure)
{
    ki_error err = {0};
    ki_fault fault = {.path = json_string_value(json_object_get(tree, "path"))};
    const char *action = json_string_value(json_object_get(tree, "action"));
    if (action == NULL)
        return ki_as_fail_bad_request(failure, "action: which? As in {\"action\": \"reset\"}");
    fault.action = ki_as_fault_action_of(ki_str_of(action));
    if (fault.action == 0)
        return ki_as_fail_bad_request(failure, "action: there is no \"%s\"", action);
    if (read_on(json_object_get(tree, "on"), &fault.on, failure) < 0 ||
        read_numbers(tree, &fault, failure) < 0)
        return -1;
    int rc = ki_as_faults_add(faults, &fault, &err);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_as_fail_no_memory(failure);
    return rc < 0 ? ki_as_fail_bad_request(failure, "%s", err.message) : 0;
}

static json_t *on_json(uint32_t on)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < sizeof(on_names) / sizeof(on_names[0]); i++)
        if ((on & 1U << i) != 0)
            (void)json_array_append_new(names, json_string(on_names[i]));
    return names;
}

static json_t *rule_json(const struct rule *rule)
{
    const ki_fault *fault = &rule->fault;
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s*}", "action",
                     action_names[fault->action], "on", on_json(fault->on), "times", (json_int_t)fault->times,
                     "percent", (json_int_t)fault->percent, "afterBytes", (json_int_t)fault->after_bytes,
                     "afterEvents", (json_int_t)fault->after_events, "code", (json_int_t)fault->code,
                     "retryAfterSeconds", (json_int_t)fault->retry_after_seconds, "delayMs",
                     (json_int_t)fault->delay_ms, "behind", (json_int_t)fault->behind, "used",
                     (json_int_t)rule->used, "path", fault->path);
}

json_t *ki_as_faults_json(struct ki_as_faults *faults)
{
    json_t *rules = json_array();
    ki_mutex_lock(&faults->mu);
    for (ki_list_node *node = ki_list_first(&faults->rules); node != NULL;
         node = ki_list_next(&faults->rules, node))
        (void)json_array_append_new(rules, rule_json(KI_CONTAINER_OF(node, struct rule, node)));
    ki_mutex_unlock(&faults->mu);
    return json_pack("{s:o}", "faults", rules);
}
