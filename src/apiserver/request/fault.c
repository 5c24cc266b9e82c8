/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request/fault.h"

#include <assert.h>
#include <string.h>

#include "apiserver/request/fault_reach.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/list.h"
#include "util/random.h"
#include "util/thread.h"

/* A rule that is used up stays listed in /debug/faults, but matches nothing. */
struct rule {
    ki_list_node node;
    ki_fault fault; /* `on` contains only requests that the rule can change */
    uint64_t used;
    char texts[]; /* the texts of `fault` */
};

struct ki_as_faults {
    ki_mutex mu;
    ki_list rules; /* guarded by mu, like everything below */
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

/* Returns true if another rule can be added. If the list is full,
 * it removes the oldest rule that is used up. */
static bool make_space_locked(struct ki_as_faults *faults) KI_REQUIRES(faults->mu);

static bool make_space_locked(struct ki_as_faults *faults)
{
    KI_ASSERT_HELD(faults->mu);
    assert(faults->count <= RULES_MAX);
    if (faults->count < RULES_MAX)
        return true;
    for (ki_list_node *node = ki_list_first(&faults->rules); node != NULL;
         node = ki_list_next(&faults->rules, node)) {
        struct rule *rule = KI_CONTAINER_OF(node, struct rule, node);
        if (rule->fault.times == 0 || rule->used < rule->fault.times)
            continue;
        ki_list_remove(node);
        ki_free(rule);
        assert(faults->count > 0);
        faults->count--;
        return true;
    }
    return false;
}

/* A copy followed by copies of its texts. NULL if out of memory. */
static struct rule *copy(const ki_fault *fault)
{
    struct rule *rule = NULL;
    const char *texts[] = {fault->path, fault->user_agent, fault->remote, fault->subresource};
    enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };
    size_t bytes = 0;
    for (size_t i = 0; i < TEXTS; i++)
        bytes += texts[i] == NULL ? 0 : strlen(texts[i]) + 1;
    rule = ki_calloc(1, sizeof(*rule) + bytes);
    if (rule == NULL)
        return NULL;
    rule->fault = *fault;
    const char **places[] = {&rule->fault.path, &rule->fault.user_agent, &rule->fault.remote,
                             &rule->fault.subresource};
    char *at = rule->texts;
    for (size_t i = 0; i < TEXTS; i++) {
        size_t len = texts[i] == NULL ? 0 : strlen(texts[i]) + 1;
        if (texts[i] != NULL)
            *places[i] = memcpy(at, texts[i], len);
        at += len;
    }
    assert(at == rule->texts + bytes);
    return rule;
}

int ki_as_faults_add(struct ki_as_faults *faults, const ki_fault *fault, ki_error *err)
{
    assert(faults != NULL);
    int rc = ki_apiserver_fault_check(fault, err);
    if (rc < 0)
        return rc;
    struct rule *rule = copy(fault);
    if (rule == NULL)
        return ki_fail_no_memory(err);
    if (fault->on == 0 || fault->on == KI_FAULT_ANY)
        rule->fault.on = ki_as_fault_reach(fault);
    ki_mutex_lock(&faults->mu);
    bool is_full = !make_space_locked(faults);
    if (!is_full) {
        ki_list_push_back(&faults->rules, &rule->node);
        faults->count++;
    }
    ki_mutex_unlock(&faults->mu);
    if (!is_full)
        return 0;
    ki_free(rule);
    return ki_fail(err, KI_ERR_TOO_LARGE, "the limit of %d rules is reached", RULES_MAX);
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

/* "127.0.0.1:40123" matches "127.0.0.1" and itself. */
static bool is_from(ki_str remote, const char *wanted)
{
    size_t len = strlen(wanted);
    return remote.len >= len && memcmp(remote.ptr, wanted, len) == 0 &&
           (remote.len == len || remote.ptr[len] == ':');
}

static bool matches_locked(struct ki_as_faults *faults, const struct rule *rule,
                           const struct ki_as_question *asked) KI_REQUIRES(faults->mu);

static bool matches_locked(struct ki_as_faults *faults, const struct rule *rule,
                           const struct ki_as_question *asked)
{
    KI_ASSERT_HELD(faults->mu);
    assert(rule->fault.times == 0 || rule->used <= rule->fault.times);
    const ki_fault *fault = &rule->fault;
    if ((fault->on & (uint32_t)asked->on) == 0 || (fault->times > 0 && rule->used >= fault->times))
        return false;
    if (fault->path != NULL && !contains(asked->request->path, fault->path))
        return false;
    if (fault->user_agent != NULL && !contains(asked->user_agent, fault->user_agent))
        return false;
    if (fault->remote != NULL && !is_from(asked->remote, fault->remote))
        return false;
    if (!ki_as_fault_is_for(fault, asked->request) ||
        !ki_as_fault_can_change(fault, asked->on, asked->request))
        return false;
    return fault->percent == 0 || ki_random_below(&faults->random, 100) < fault->percent;
}

bool ki_as_faults_draw(struct ki_as_faults *faults, const struct ki_as_question *asked, ki_fault *out)
{
    assert(asked->request != NULL && asked->on != 0 && out != NULL);
    bool is_drawn = false;
    ki_mutex_lock(&faults->mu);
    for (ki_list_node *node = ki_list_first(&faults->rules); node != NULL && !is_drawn;
         node = ki_list_next(&faults->rules, node)) {
        struct rule *rule = KI_CONTAINER_OF(node, struct rule, node);
        if (!matches_locked(faults, rule, asked))
            continue;
        rule->used++;
        *out = rule->fault;
        /* The texts belong to the rule, which may be removed before the request ends. */
        out->path = out->user_agent = out->remote = out->subresource = NULL;
        is_drawn = true;
    }
    ki_mutex_unlock(&faults->mu);
    return is_drawn;
}

json_t *ki_as_faults_json(struct ki_as_faults *faults)
{
    json_t *rules = json_array();
    ki_mutex_lock(&faults->mu);
    for (ki_list_node *node = ki_list_first(&faults->rules); node != NULL;
         node = ki_list_next(&faults->rules, node)) {
        const struct rule *rule = KI_CONTAINER_OF(node, struct rule, node);
        (void)json_array_append_new(rules, ki_as_fault_json(&rule->fault, rule->used));
    }
    ki_mutex_unlock(&faults->mu);
    return json_pack("{s:o}", "faults", rules);
}
