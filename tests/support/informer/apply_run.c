/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/apply_run.h"
#include "support/queue/deliver.h"
#include "support/queue/fifo_push.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/store/store_check.h"
#include "support/unit.h"

/* ---- handlers that record their calls ----------------------------------------------------------------- */

static void say(apply_handler *h, const char *text, size_t len)
{
    assert_true(h->len + len < APPLY_RUN_TEXT_MAX);
    memcpy(h->text + h->len, text, len);
    h->len += len;
    h->text[h->len] = 0;
}

static void say_str(apply_handler *h, ki_str text)
{
    if (text.len > 0)
        say(h, text.ptr, text.len);
}

static void say_object(apply_handler *h, const char *sign, const ki_object *object)
{
    say(h, sign, 1);
    say_str(h, ki_object_name(object));
    if (ki_object_name(object).len > 1)
        say(h, ".", 1);
}

static void say_flags(apply_handler *h, uint32_t flags)
{
    static const char letters[] = "isruc"; /* in the order of the flags */
    for (unsigned i = 0; i < 5; i++)
        if ((flags >> i & 1) != 0)
            say(h, &letters[i], 1);
    say(h, " ", 1);
}

static void on_add(const ki_event *event, void *user)
{
    say_object(user, "+", event->object);
    say_str(user, ki_object_resource_version(event->object));
    say_flags(user, event->flags);
}

static void on_update(const ki_event *event, void *user)
{
    say_object(user, "~", event->object);
    if (event->old != NULL)
        say_str(user, ki_object_resource_version(event->old));
    say(user, ">", 1);
    say_str(user, ki_object_resource_version(event->object));
    say_flags(user, event->flags);
}

static void on_delete(const ki_event *event, void *user)
{
    say_object(user, "-", event->object);
    say_str(user, ki_object_resource_version(event->object));
    say_flags(user, event->flags);
}

static void on_synced(void *user)
{
    say(user, "synced ", 7);
}

void apply_run_join(apply_run *run, size_t number, const ki_handler *handler)
{
    apply_handler *h = &run->handlers[number];
    ki_handler mine = handler == NULL ? (ki_handler){0} : *handler;
    assert_false(h->has_joined);
    mine.on_add = on_add;
    mine.on_update = on_update;
    mine.on_delete = on_delete;
    mine.on_synced = on_synced;
    mine.user = h;
    *h = (apply_handler){.text = h->text};
    if (h->text == NULL)
        h->text = malloc(APPLY_RUN_TEXT_MAX);
    assert_non_null(h->text);
    h->text[0] = 0;
    assert_int_equal(ki_listener_init(&h->subscriber.listener, &mine, ki_clock_real(), 1), 0);
    int rc = 0;
    while ((rc = ki_fanout_join(&run->fanout, &h->subscriber, run->store, run->apply.is_synced)) < 0) {
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
        run->retries++;
    }
    h->has_joined = 1;
}

void apply_run_deliver(apply_run *run, size_t number)
{
    while (deliver_some(&run->handlers[number].subscriber.listener, 64) == 64)
        ;
}

const char *apply_run_heard(apply_run *run, size_t number)
{
    apply_handler *h = &run->handlers[number];
    apply_run_settle(run);
    h->text[h->len == 0 ? 0 : h->len - 1] = 0; /* without the last space */
    h->len = 0;
    return h->text;
}

/* ---- the run ------------------------------------------------------------------------------------------ */

/* Nothing is woken: the tests check themselves whether something waits. */
static void push(ki_subscriber *subscriber, ki_list *entries)
{
    assert_true(ki_list_node_is_linked(&subscriber->node));
    ki_listener_push_all(&subscriber->listener, entries);
}

void apply_run_init(apply_run *run)
{
    *run = (apply_run){0};
    run->store = ki_store_new(NULL, NULL);
    assert_non_null(run->store);
    assert_int_equal(
        ki_delta_fifo_init(&run->fifo, &(ki_delta_fifo_options){.hash_key = ki_store_hash_key(run->store)}),
        0);
    ki_fanout_init(&run->fanout, push);
    ki_apply_init(&run->apply,
                  &(ki_apply_options){.store = run->store, .fifo = &run->fifo, .fanout = &run->fanout});
    apply_run_join(run, 0, NULL);
}

void apply_run_fini(apply_run *run)
{
    ki_error err = {0};
    if (store_check(run->store, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < APPLY_RUN_HANDLERS; i++) {
        apply_handler *h = &run->handlers[i];
        if (h->has_joined) {
            ki_fanout_leave(&h->subscriber);
            ki_listener_fini(&h->subscriber.listener);
        }
        free(h->text);
    }
    ki_apply_fini(&run->apply);
    ki_delta_fifo_fini(&run->fifo);
    ki_store_free(run->store);
}

int apply_run_step(apply_run *run)
{
    int rc = 0;
    while ((rc = ki_apply_step(&run->apply)) < 0) {
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
        run->retries++;
    }
    return rc;
}

void apply_run_settle(apply_run *run)
{
    while (apply_run_step(run) == 1)
        ;
    for (size_t i = 0; i < APPLY_RUN_HANDLERS; i++)
        if (run->handlers[i].has_joined)
            apply_run_deliver(run, i);
}

void apply_run_drop(apply_run *run)
{
    (void)ki_apply_drop(&run->apply);
    ki_fanout_end_resync(&run->fanout);
    ki_delta_fifo_reset(&run->fifo, &run->apply.version);
}

const char *apply_run_version(const apply_run *run)
{
    static char text[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    ki_str version = ki_resource_version_str(&run->apply.version);
    (void)snprintf(text, sizeof(text), "%.*s", (int)version.len, version.ptr);
    return text;
}

typedef struct shelf {
    char words[64][32];
    size_t count;
} shelf;

static int shelve(const ki_object *object, void *user)
{
    shelf *s = user;
    ki_str name = ki_object_name(object);
    ki_str version = ki_object_resource_version(object);
    assert_true(s->count < 64);
    (void)snprintf(s->words[s->count++], sizeof(s->words[0]), "%.*s%.*s", (int)name.len, name.ptr,
                   (int)version.len, version.len == 0 ? "" : version.ptr);
    return 0;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(a, b);
}

const char *apply_run_store(apply_run *run)
{
    static char text[64 * 33];
    shelf s = {.count = 0};
    size_t len = 0;
    assert_int_equal(ki_store_walk(run->store, shelve, &s), 0);
    qsort(s.words, s.count, sizeof(s.words[0]), compare_words);
    text[0] = 0;
    for (size_t i = 0; i < s.count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i == 0 ? "" : " ", s.words[i]);
    return text;
}

/* ---- scripts ------------------------------------------------------------------------------------------ */

ki_object *apply_object(const char *name, const char *version, const char *uid, const char *text)
{
    static const char *const keep[] = {"/data", NULL};
    char json[512];
    int n = snprintf(json, sizeof(json),
                     "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%s\""
                     ",\"resourceVersion\":\"%s\"},\"data\":\"%s\"}",
                     name, uid, version, text == NULL ? "" : text);
    assert_true(n > 0 && (size_t)n < sizeof(json));
    ki_object_options options = {.keep = text == NULL ? NULL : keep};
    ki_object *object = ki_object_new(&KI_CORE_V1_CONFIGMAPS, (ki_str){json, (size_t)n}, &options, NULL);
    assert_non_null(object);
    return object;
}

/* Splits "a12:uid=text" in place. */
static ki_object *object_of_word(char *word)
{
    char name[2] = {word[0], 0};
    char *text = strchr(word, '=');
    if (text != NULL)
        *text++ = 0;
    char *uid = strchr(word, ':');
    if (uid != NULL)
        *uid++ = 0;
    return apply_object(name, word + 1, uid == NULL ? name : uid, text);
}

static void push_object(apply_run *run, ki_delta delta)
{
    ki_str version = delta.list != 0 ? (ki_str){0} : ki_object_resource_version(delta.object);
    assert_true(fifo_push_new(&run->fifo, delta, version) >= 0);
}

static void push_event(apply_run *run, char *word)
{
    char *unseen = strchr(word, '?');
    if (unseen != NULL)
        *unseen = 0;
    push_object(run, (ki_delta){.change_type = word[0] == '+'   ? KI_CHANGE_ADDED
                                               : word[0] == '~' ? KI_CHANGE_UPDATED
                                                                : KI_CHANGE_DELETED,
                                .final_state_unknown = unseen != NULL,
                                .object = object_of_word(word + 1)});
}

static void push_marker(apply_run *run, ki_change_type marker, uint32_t list, const char *version)
{
    assert_true(ki_delta_fifo_push_marker(&run->fifo, marker, list, (ki_str){version, strlen(version)}) >= 0);
}

static void push_seen(apply_run *run, const char *name)
{
    char key[64];
    int n = snprintf(key, sizeof(key), "default/%s", name);
    assert_true(ki_delta_fifo_push_seen(&run->fifo, (ki_str){key, (size_t)n}, run->list) >= 0);
}

static void play_word(apply_run *run, char *word)
{
    switch (word[0]) {
    case '(':
        run->list = (uint32_t)strtoul(word + 1, NULL, 10);
        run->is_doubtful = strchr(word, '?') != NULL;
        break;
    case '/':
        push_object(run, (ki_delta){.change_type = KI_CHANGE_DELETED,
                                    .list = run->list,
                                    .object = object_of_word(word + 1)});
        break;
    case ')':
        push_marker(run, KI_CHANGE_LIST_END, run->list, word + 1);
        break;
    case '+':
    case '~':
    case '-':
        push_event(run, word);
        break;
    case '?':
        push_seen(run, word + 1);
        break;
    case '^':
        push_marker(run, KI_CHANGE_BOOKMARK, 0, word + 1);
        break;
    case '@':
        push_marker(run, KI_CHANGE_SYNC, 0, "");
        break;
    case '!':
        assert_int_equal(ki_delta_fifo_begin_history(&run->fifo, (uint32_t)strtoul(word + 1, NULL, 10)), 0);
        break;
    case '|':
        apply_run_settle(run);
        break;
    default:
        push_object(run, (ki_delta){.change_type = KI_CHANGE_REPLACED,
                                    .list = run->list,
                                    .is_doubtful = run->is_doubtful,
                                    .object = object_of_word(word)});
    }
}

void apply_run_play(apply_run *run, const char *script)
{
    char copy[1024];
    char *rest = NULL;
    assert_true(strlen(script) < sizeof(copy));
    memcpy(copy, script, strlen(script) + 1);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        play_word(run, word);
}

void apply_run_push_many(apply_run *run, uint32_t list, size_t count, const char *version)
{
    for (size_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "n%04zu", i);
        push_object(run, (ki_delta){.change_type = KI_CHANGE_REPLACED,
                                    .list = list,
                                    .is_doubtful = run->is_doubtful,
                                    .object = apply_object(name, version, name, NULL)});
    }
}

void apply_run_expect(const char *script, const char *heard, const char *store)
{
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, script);
    assert_string_equal(apply_run_heard(&run, 0), heard);
    assert_string_equal(apply_run_store(&run), store);
    apply_run_fini(&run);
}
