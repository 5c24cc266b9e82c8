/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/apply_model.h"
#include "support/queue/fifo_push.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"

void apply_model_init(apply_model *model, uint64_t seed)
{
    memset(model, 0, offsetof(apply_model, run));
    model->queue.count = model->batch.count = model->batch.next = 0;
    memset(&model->batch_version, 0, sizeof(*model) - offsetof(apply_model, batch_version));
    model->seed = seed;
    apply_run_init(&model->run);
}

void apply_model_fini(apply_model *model)
{
    apply_run_fini(&model->run);
}

/* ---- texts -------------------------------------------------------------------------------------------- */

typedef struct version_text {
    char text[16];
} version_text;

static version_text text_of(const apply_model *model, unsigned version)
{
    version_text out = {""};
    if (version > 0)
        (void)snprintf(out.text, sizeof(out.text), model->is_text ? "v%u" : "%u", version);
    return out;
}

static ki_object *object_of_state(const apply_model *model, unsigned key, model_state state)
{
    char name[2] = {(char)('a' + key), 0};
    char uid[16];
    char value[16];
    (void)snprintf(uid, sizeof(uid), "%u", state.uid);
    (void)snprintf(value, sizeof(value), "%u", state.value);
    return apply_object(name, text_of(model, state.version).text, uid, model->is_projected ? value : NULL);
}

/* ---- the queue ---------------------------------------------------------------------------------------- */

static void advance(const apply_model *model, unsigned *version, unsigned other)
{
    if (other != 0 && (model->is_text || other > *version))
        *version = other;
}

static model_entry *enqueue(apply_model *model, ki_change_type marker)
{
    MODEL_CHECK(model, model->queue.count < MODEL_QUEUE_MAX);
    model_entry *entry = &model->queue.entries[model->queue.count++];
    entry->marker = marker;
    entry->count = 0;
    entry->list = 0;
    entry->version = 0;
    entry->version_before = model->received;
    return entry;
}

static model_entry *entry_of(apply_model *model, unsigned key)
{
    for (size_t i = 0; i < model->queue.count; i++)
        if (model->queue.entries[i].marker == 0 && model->queue.entries[i].key == key)
            return &model->queue.entries[i];
    model_entry *entry = enqueue(model, 0);
    entry->key = key;
    return entry;
}

static void push_real(apply_model *model, unsigned key, const model_delta *delta)
{
    ki_delta_fifo *fifo = &model->run.fifo;
    if (delta->type == KI_CHANGE_SEEN) {
        char name[] = "default/a";
        name[8] = (char)('a' + key);
        MODEL_CHECK(model, ki_delta_fifo_push_seen(fifo, (ki_str){name, 9}, delta->list) >= 0);
        return;
    }
    version_text version = text_of(model, delta->list != 0 ? 0 : delta->state.version);
    ki_delta real = {.change_type = delta->type,
                     .list = delta->list,
                     .is_doubtful = delta->is_doubtful != 0,
                     .final_state_unknown = delta->is_unseen != 0,
                     .object = object_of_state(model, key, delta->state)};
    MODEL_CHECK(model, fifo_push_new(fifo, real, (ki_str){version.text, strlen(version.text)}) >= 0);
}

void apply_model_push(apply_model *model, unsigned key, model_delta delta)
{
    push_real(model, key, &delta);
    model_entry *entry = entry_of(model, key);
    model_delta *last = entry->count == 0 ? NULL : &entry->deltas[entry->count - 1];
    delta.after_list = model->ended_list;
    if (last == NULL || last->type != KI_CHANGE_DELETED || delta.type != KI_CHANGE_DELETED ||
        last->list != delta.list) {
        MODEL_CHECK(model, entry->count < MODEL_DELTAS_MAX);
        entry->deltas[entry->count++] = delta;
    } else if (last->is_unseen ||
               !(delta.is_unseen || (!model->is_text && delta.state.version < last->state.version))) {
        *last = delta;
    }
    if (delta.list == 0 && delta.type != KI_CHANGE_SEEN)
        advance(model, &model->received, delta.state.version);
}

void apply_model_push_marker(apply_model *model, ki_change_type marker, uint32_t list, unsigned version)
{
    version_text text = text_of(model, version);
    MODEL_CHECK(model, ki_delta_fifo_push_marker(&model->run.fifo, marker, list,
                                                 (ki_str){text.text, strlen(text.text)}) >= 0);
    model_entry *entry = enqueue(model, marker);
    entry->list = list;
    entry->version = version;
    advance(model, &model->received, version);
    if (marker == KI_CHANGE_LIST_END)
        model->ended_list = list;
    if (marker == KI_CHANGE_SYNC && !model->is_due) {
        model->run.handlers[0].subscriber.resync = (ki_resync_turn){.period_ms = 1};
        MODEL_CHECK(model, ki_fanout_begin_resync(&model->run.fanout, ++model->now_ms) == 1);
        model->is_due = 1;
    }
}

void apply_model_begin_history(apply_model *model, uint32_t list)
{
    MODEL_CHECK(model, ki_delta_fifo_begin_history(&model->run.fifo, list) == 0);
    size_t resyncs = 0;
    for (size_t i = 0; i < model->queue.count; i++)
        resyncs += model->queue.entries[i].marker == KI_CHANGE_SYNC;
    model->queue.count = 0;
    model->received = 0;
    model->ended_list = 0;
    model->resets++;
    enqueue(model, KI_CHANGE_RESET)->list = list;
    for (size_t i = 0; i < resyncs; i++)
        (void)enqueue(model, KI_CHANGE_SYNC);
}

/* ---- applying ----------------------------------------------------------------------------------------- */

static void hear(apply_model *model, unsigned key, char sign, const char *rest)
{
    char *words = model->words[key];
    size_t len = model->words_len[key];
    len += (size_t)snprintf(words + len, MODEL_WORDS_MAX - len, "%c%c%s ", sign, 'a' + (int)key, rest);
    MODEL_CHECK(model, len < MODEL_WORDS_MAX);
    model->words_len[key] = len;
}

static void hear_update(apply_model *model, unsigned key, unsigned version, const char *flags)
{
    char rest[64];
    (void)snprintf(rest, sizeof(rest), "%s>%s%s", text_of(model, model->objects[key].state.version).text,
                   text_of(model, version).text, flags);
    hear(model, key, '~', rest);
}

static void hear_version(apply_model *model, unsigned key, char sign, unsigned version, const char *flags)
{
    char rest[64];
    (void)snprintf(rest, sizeof(rest), "%s%s", text_of(model, version).text, flags);
    hear(model, key, sign, rest);
}

static int is_of_other_history(const apply_model *model, const model_object *object)
{
    return object->met < model->first_list || object->is_other;
}

static int is_equal(const apply_model *model, const model_state *a, const model_state *b)
{
    return a->uid == b->uid && (model->is_projected ? a->value == b->value : a->version == b->version);
}

/* Whether the stored object has a version of this history. */
static int is_comparable(const apply_model *model, const model_object *object)
{
    return object->is_there && !is_of_other_history(model, object);
}

static int is_news(const apply_model *model, unsigned version, unsigned complete)
{
    return complete == 0 || model->is_text || version > complete;
}

static int is_known(const apply_model *model, const model_object *object, const model_delta *delta)
{
    return object->is_there && object->state.version == delta->state.version &&
           is_equal(model, &delta->state, &object->state);
}

/* Rule 3, and rule 8 for text versions. */
static int is_put(const apply_model *model, const model_object *object, const model_delta *delta,
                  unsigned complete)
{
    unsigned version = delta->state.version;
    if (!is_comparable(model, object))
        return (delta->list != 0 && !delta->is_doubtful) || is_news(model, version, complete);
    if (model->is_text)
        return version != object->state.version || !is_equal(model, &delta->state, &object->state);
    return version > object->state.version;
}

static int is_removed(const apply_model *model, const model_object *object, const model_delta *delta,
                      unsigned complete)
{
    unsigned version = delta->state.version;
    if (!object->is_there || !is_comparable(model, object))
        return object->is_there && is_news(model, version, complete);
    return model->is_text || version >= object->state.version;
}

static void put(apply_model *model, unsigned key, const model_delta *delta)
{
    model_object *object = &model->objects[key];
    if (!object->is_there)
        hear_version(model, key, '+', delta->state.version, model->is_synced ? "" : "i");
    else if (object->state.uid != delta->state.uid)
        hear_update(model, key, delta->state.version, "r");
    else if (!is_equal(model, &object->state, &delta->state))
        hear_update(model, key, delta->state.version, "");
    if (!object->is_there)
        *object = (model_object){.is_there = 1};
    object->is_other = 0;
    object->state = delta->state;
}

static void meet(const apply_model *model, model_object *object, const model_delta *delta)
{
    uint32_t list = delta->list;
    if (list == 0) {
        list = model->last_list > model->first_list ? model->last_list : model->first_list;
        if (model->is_text && delta->after_list > list)
            list = delta->after_list;
    }
    if (list > object->met)
        object->met = list;
}

/* ---- held changes ------------------------------------------------------------------------------------- */

static void drop_held(apply_model *model, size_t number)
{
    model->held_count--;
    memmove(&model->held[number], &model->held[number + 1],
            (model->held_count - number) * sizeof(model->held[0]));
}

static void drop_held_before(apply_model *model, uint32_t list)
{
    for (size_t i = model->held_count; i > 0; i--)
        if (model->held[i - 1].delta.list < list)
            drop_held(model, i - 1);
}

static void hold(apply_model *model, unsigned key, const model_delta *delta)
{
    MODEL_CHECK(model, model->held_count < MODEL_HELD_MAX);
    model->held[model->held_count++] = (model_held){key, *delta, 0};
}

/* Returns whether the change repeats the state before a held change (an echo). */
static int meets_held(apply_model *model, unsigned key, const model_delta *delta)
{
    int is_echo = 0;
    for (size_t i = model->held_count; i > 0 && delta->type != KI_CHANGE_SEEN; i--) {
        const model_held *held = &model->held[i - 1];
        unsigned version = held->delta.state.version;
        if (held->key != key || (delta->list != 0 && delta->list != held->delta.list))
            continue;
        if (!model->is_text && (delta->state.version < version ||
                                (delta->state.version == version && held->delta.type == KI_CHANGE_DELETED)))
            is_echo = delta->list != 0;
        else
            drop_held(model, i - 1);
    }
    return is_echo;
}

static void see_held(apply_model *model, unsigned key, uint32_t list)
{
    for (size_t i = 0; i < model->held_count; i++) {
        model_held *held = &model->held[i];
        if (held->key == key && held->delta.list < list && held->seen < list)
            held->seen = list;
    }
}

/* ---- one change --------------------------------------------------------------------------------------- */

static void apply_delta(apply_model *model, unsigned key, const model_delta *delta, unsigned complete)
{
    model_object *object = &model->objects[key];
    if (delta->type == KI_CHANGE_DELETED) {
        if (!is_removed(model, object, delta, complete))
            return;
        hear_version(model, key, '-', delta->is_unseen ? object->state.version : delta->state.version,
                     delta->is_unseen ? "u" : "");
        *object = (model_object){0};
        return;
    }
    int was_other = object->is_there && is_of_other_history(model, object);
    int is_known_now = delta->type == KI_CHANGE_SEEN || is_known(model, object, delta);
    int is_put_now = !is_known_now && is_put(model, object, delta, complete);
    if (was_other && !is_known_now && !is_put_now)
        return; /* an echo */
    if (is_put_now)
        put(model, key, delta);
    if (!object->is_there)
        see_held(model, key, delta->list);
    if (object->is_there && (is_put_now || delta->list != 0 || was_other))
        meet(model, object, delta);
    object->is_other = was_other && delta->type == KI_CHANGE_SEEN;
}

static int is_held(const apply_model *model, const model_entry *entry, const model_delta *delta,
                   unsigned complete)
{
    if (delta->list == 0 || delta->type == KI_CHANGE_SEEN)
        return 0;
    const model_object *object = &model->objects[entry->key];
    return delta->type == KI_CHANGE_DELETED ||
           (!is_comparable(model, object) && !is_known(model, object, delta) &&
            !is_put(model, object, delta, complete));
}

/* The state of a key before its delete may be sent again after it. */
static void apply_deltas(apply_model *model, const model_entry *entry)
{
    unsigned complete = entry->version_before;
    for (size_t i = 0; i < entry->count; i++) {
        const model_delta *delta = &entry->deltas[i];
        const model_delta echo = {.type = KI_CHANGE_SEEN, .list = delta->list};
        if (meets_held(model, entry->key, delta))
            delta = &echo;
        if (is_held(model, entry, delta, complete)) {
            if (delta->type != KI_CHANGE_DELETED && model->objects[entry->key].is_there)
                apply_delta(model, entry->key, &echo, complete);
            hold(model, entry->key, delta);
        } else
            apply_delta(model, entry->key, delta, complete);
        if (delta->type == KI_CHANGE_DELETED && delta->list == 0 && !model->is_text &&
            delta->state.version > complete)
            complete = delta->state.version;
    }
}

/* ---- markers ------------------------------------------------------------------------------------------ */

static int is_covered(const apply_model *model, const model_object *object, unsigned version)
{
    return model->is_text || object->state.version <= version;
}

static void apply_held(apply_model *model, uint32_t list)
{
    for (size_t i = 0; i < model->held_count;) {
        model_held held = model->held[i];
        if (held.delta.list != list) {
            i++;
            continue;
        }
        held.delta.is_doubtful = 0;
        apply_delta(model, held.key, &held.delta, 0);
        if (held.seen != 0)
            apply_delta(model, held.key, &(model_delta){.type = KI_CHANGE_SEEN, .list = held.seen}, 0);
        drop_held(model, i);
    }
}

/* Rule 4. */
static void end_list(apply_model *model, const model_entry *entry)
{
    unsigned complete = model->complete;
    advance(model, &complete, entry->version_before);
    int is_stale = !model->is_text && complete > entry->version;
    drop_held_before(model, is_stale ? entry->list + 1 : entry->list);
    if (is_stale)
        return;
    apply_held(model, entry->list);
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        model_object *object = &model->objects[key];
        if (!object->is_there || object->met >= entry->list ||
            !(is_of_other_history(model, object) || is_covered(model, object, entry->version)))
            continue;
        hear_version(model, key, '-', object->state.version, "u");
        *object = (model_object){0};
    }
    model->is_synced = 1;
    model->last_list = entry->list;
    advance(model, &model->complete, entry->version);
}

static void apply_marker(apply_model *model, const model_entry *entry)
{
    if (entry->marker == KI_CHANGE_LIST_END)
        end_list(model, entry);
    if (entry->marker == KI_CHANGE_RESET) {
        drop_held_before(model, entry->list);
        model->first_list = entry->list;
        model->complete = 0;
    }
    if (entry->marker != KI_CHANGE_SYNC || !model->is_due)
        return;
    for (unsigned key = 0; key < MODEL_KEYS; key++)
        if (model->objects[key].is_there)
            hear_update(model, key, model->objects[key].state.version, "s");
    model->is_due = 0;
}

/* Like ki_apply_step(), but a marker needs only one step, because there are few objects. */
static int step(apply_model *model)
{
    model_queue *batch = &model->batch;
    if (batch->next == batch->count) {
        if (model->queue.count == 0)
            return 0;
        memcpy(batch->entries, model->queue.entries, model->queue.count * sizeof(model->queue.entries[0]));
        batch->count = model->queue.count;
        batch->next = 0;
        model->queue.count = 0;
        model->batch_version = model->received;
    }
    if (batch->entries[batch->next].marker != 0)
        apply_marker(model, &batch->entries[batch->next++]);
    else
        for (; batch->next < batch->count && batch->entries[batch->next].marker == 0; batch->next++)
            apply_deltas(model, &batch->entries[batch->next]);
    if (batch->next == batch->count)
        advance(model, &model->complete, model->batch_version);
    return 1;
}

/* ---- comparing ---------------------------------------------------------------------------------------- */

static int has_text(ki_str text, const char *expected)
{
    return text.len == strlen(expected) && (text.len == 0 || memcmp(text.ptr, expected, text.len) == 0);
}

static void compare_object(const apply_model *model, const ki_object *real, const model_state *state)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%u", state->uid);
    MODEL_CHECK(model, has_text(ki_object_uid(real), text));
    MODEL_CHECK(model, has_text(ki_object_resource_version(real), text_of(model, state->version).text));
    (void)snprintf(text, sizeof(text), "{\"data\":\"%u\"}", state->value);
    MODEL_CHECK(model, !model->is_projected || has_text(ki_object_json(real), text));
}

static void compare_store(apply_model *model)
{
    size_t count = 0;
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        char name[2] = {(char)('a' + key), 0};
        const model_object *object = &model->objects[key];
        ki_object *real = ki_store_get(model->run.store, KI_STR("default"), ki_str_of(name));
        MODEL_CHECK(model, (real != NULL) == object->is_there);
        count += real != NULL;
        if (real != NULL)
            compare_object(model, real, &object->state);
        (void)ki_object_unref(real);
    }
    MODEL_CHECK(model, ki_store_count(model->run.store) == count);
    MODEL_CHECK(model, strcmp(apply_run_version(&model->run), text_of(model, model->complete).text) == 0);
    MODEL_CHECK(model, model->run.apply.is_synced == (model->is_synced != 0));
}

static unsigned number_in(const char **at)
{
    unsigned number = 0;
    *at += **at == 'v';
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (unsigned)(**at - '0');
    return number;
}

/* Checks a call of the handler: add, updates, delete, each from the state after the last one; versions
 * increase, except from one history to another. */
static void believe(apply_model *model, const char *word)
{
    unsigned key = (unsigned)(word[1] - 'a');
    const char *at = word + 2;
    unsigned old = word[0] == '~' ? number_in(&at) : 0;
    at += word[0] == '~';
    unsigned version = number_in(&at);
    int is_resync = *at == 's';
    int is_in_one_history =
        model->is_coherent ? model->beliefs[key].resets == model->resets : model->resets == 0;
    int may_fall = model->is_text || !is_in_one_history;
    MODEL_CHECK(model, model->beliefs[key].is_there == (word[0] != '+'));
    /* An update of only dropped fields changes the version without a call. */
    MODEL_CHECK(model, word[0] != '~' || model->is_projected || old == model->beliefs[key].version);
    MODEL_CHECK(model, word[0] != '~' || is_resync || may_fall || version > model->beliefs[key].version);
    MODEL_CHECK(model, word[0] != '-' || may_fall || version >= model->beliefs[key].version);
    model->beliefs[key].is_there = word[0] != '-';
    model->beliefs[key].version = version;
    if (version < old)
        model->beliefs[key].resets = model->resets;
}

static void compare_heard(apply_model *model)
{
    static char heard[MODEL_KEYS][MODEL_WORDS_MAX];
    size_t len[MODEL_KEYS] = {0};
    static char copy[APPLY_RUN_TEXT_MAX];
    char *rest = NULL;
    (void)snprintf(copy, sizeof(copy), "%s", apply_run_heard(&model->run, 0));
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "synced") == 0)
            continue;
        unsigned key = (unsigned)(word[1] - 'a');
        believe(model, word);
        len[key] += (size_t)snprintf(heard[key] + len[key], MODEL_WORDS_MAX - len[key], "%s ", word);
    }
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        heard[key][len[key]] = 0;
        model->words[key][model->words_len[key]] = 0;
        if (strcmp(heard[key], model->words[key]) != 0)
            fail_msg("KI_SEED=%llu: \"%s\", not \"%s\"", (unsigned long long)model->seed, heard[key],
                     model->words[key]);
        MODEL_CHECK(model, model->beliefs[key].is_there == model->objects[key].is_there);
        model->words_len[key] = 0;
    }
}

void apply_model_settle(apply_model *model)
{
    while (step(model))
        ;
    apply_run_settle(&model->run);
    compare_store(model);
    compare_heard(model);
    MODEL_CHECK(model,
                ki_listener_has_synced(&model->run.handlers[0].subscriber.listener) == model->is_synced);
}

/* Drops the entries, except for resets of the history. */
static void forget(apply_model *model, model_queue *queue)
{
    for (; queue->next < queue->count; queue->next++)
        if (queue->entries[queue->next].marker == KI_CHANGE_RESET)
            apply_marker(model, &queue->entries[queue->next]);
}

void apply_model_drop(apply_model *model, unsigned steps)
{
    for (; steps > 0; steps--) {
        int rc = apply_run_step(&model->run);
        MODEL_CHECK(model, rc == step(model));
    }
    apply_run_drop(&model->run);
    forget(model, &model->batch);
    forget(model, &model->queue);
    model->queue.count = model->queue.next = 0;
    model->held_count = 0;
    model->received = model->complete;
    model->ended_list = 0;
    model->is_due = 0;
    compare_store(model);
    compare_heard(model);
}
