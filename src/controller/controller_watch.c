/* SPDX-License-Identifier: Apache-2.0 */
/* From an event of an informer to the keys that it concerns. */
#include <assert.h>
#include <kinformer/key.h>
#include <kinformer/store.h>
#include <stdio.h>
#include <string.h>

#include "controller/controller.h"
#include "informer/informer.h"
#include "informer/registration.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/refcount.h"
#include "util/units.h"

enum { MEMORY_AGAIN_MS = 100 };

typedef enum source_kind { OBJECTS, OWNED, MAPPED } source_kind;

/* The objects whose keys an event adds. */
typedef struct event_objects {
    const ki_object *now;
    const ki_object *old; /* NULL: there is none, or its key is that of `now` */
    ki_priority priority;
} event_objects;

/* A handler of an informer. The registration owns it as well, and may outlive the controller. A closed source
 * ignores all events. */
typedef struct source {
    ki_refcount refs;
    ki_list_node node; /* guarded by the controller's mu, like has_synced */
    bool has_synced;
    source_kind kind; /* constant, as all up to mu */
    ki_resource *owner;
    ki_map_cb map;
    void *user;
    const ki_predicate *predicate;
    ki_mutex mu;
    ki_controller *controller; /* guarded by mu, as all below; NULL: closed */
    ki_informer *informer;     /* NULL: the registration has ended */
    ki_registration *registration;
    size_t inside;      /* how many handlers are using the controller */
    event_objects held; /* an event whose keys could not be added yet for lack of memory */
} source;

struct ki_key_emit {
    const source *source;
    ki_controller *controller;
    ki_priority priority;
    bool is_short; /* out of memory for at least one key */
};

static void drop_objects(const event_objects *objects)
{
    ki_object_unref((ki_object *)objects->now);
    ki_object_unref((ki_object *)objects->old);
}

static void source_unref(source *s)
{
    if (!ki_refcount_unref(&s->refs))
        return;
    drop_objects(&s->held);
    ki_resource_free(s->owner);
    ki_mutex_fini(&s->mu);
    ki_free(s);
}

/* ---- keys -------------------------------------------------------------------------------------------- */

static void add_key(ki_key_emit *emit, ki_str key)
{
    if (ki_workqueue_add(emit->controller->queue, key, emit->priority) == KI_ERR_NO_MEMORY)
        emit->is_short = true;
    else
        ki_controller_wake(emit->controller);
}

/* Ignores a key that no store accepts, since no object can have it. */
void ki_key_emit_key(ki_key_emit *emit, ki_str ns, ki_str name)
{
    char key[KI_KEY_BYTES + 1];
    int n = ki_key_join(ns, name, key, sizeof(key));
    if (emit != NULL && n > 0 && (size_t)n < sizeof(key))
        add_key(emit, (ki_str){key, (size_t)n});
}

static ki_str group_of(ki_str api_version)
{
    const char *slash = api_version.len == 0 ? NULL : memchr(api_version.ptr, '/', api_version.len);
    return slash == NULL ? (ki_str){0} : (ki_str){api_version.ptr, (size_t)(slash - api_version.ptr)};
}

static void emit_owner(const ki_object *object, ki_key_emit *emit)
{
    const source *s = emit->source;
    ki_owner owner;
    if (ki_object_controller(object, &owner) < 0 || !ki_str_equal(owner.kind, ki_str_of(s->owner->kind)) ||
        !ki_str_equal(group_of(owner.api_version), ki_str_of(s->owner->group)))
        return;
    bool has_namespace = s->owner->scope == KI_SCOPE_NAMESPACED;
    ki_key_emit_key(emit, has_namespace ? ki_object_namespace(object) : (ki_str){0}, owner.name);
}

static void emit_object(const ki_object *object, ki_key_emit *emit)
{
    const source *s = emit->source;
    if (s->kind == OBJECTS)
        add_key(emit, ki_object_key_str(object));
    else if (s->kind == OWNED)
        emit_owner(object, emit);
    else
        s->map(object, emit, s->user);
}

/* Adds the keys of an event. Returns false when out of memory. */
static bool emit_keys(ki_controller *c, const source *s, const event_objects *objects)
{
    ki_key_emit emit = {.source = s, .controller = c, .priority = objects->priority};
    emit_object(objects->now, &emit);
    if (objects->old != NULL)
        emit_object(objects->old, &emit);
    return !emit.is_short;
}

/* ---- handlers ---------------------------------------------------------------------------------------- */

/* Returns NULL if the source is closed; otherwise the caller must call leave(). */
static ki_controller *enter(source *s)
{
    ki_mutex_lock(&s->mu);
    ki_controller *c = s->controller;
    if (c != NULL)
        s->inside++;
    ki_mutex_unlock(&s->mu);
    return c;
}

static void leave(source *s, ki_controller *c)
{
    ki_mutex_lock(&s->mu);
    s->inside--;
    if (s->controller == NULL)
        ki_job_wake(&c->job); /* under mu: close_sources() needs mu to see inside == 0, so `c` is not freed
                               * before the unlock */
    ki_mutex_unlock(&s->mu);
}

static void try_later(ki_controller *c)
{
    ki_mutex_lock(&c->mu);
    c->retry_events_ns = ki_controller_now_ns(c) + ki_ns_of_ms(MEMORY_AGAIN_MS);
    ki_job_wake(&c->job);
    ki_mutex_unlock(&c->mu);
}

/* An informer delivers an event only once, so none may be lost. An event whose keys could not be added for
 * lack of memory is kept, which needs no memory. The source gets no further event until all its keys have
 * been added. */
static void keep_event(ki_controller *c, source *s, const event_objects *objects)
{
    ki_mutex_lock(&s->mu);
    assert(s->held.now == NULL);
    s->held = (event_objects){ki_object_ref(objects->now),
                              objects->old == NULL ? NULL : ki_object_ref(objects->old), objects->priority};
    /* add_source() may not have stored it yet: the first event can precede the return of
     * ki_informer_add_handler(). */
    s->registration = ki_registration_pause();
    ki_mutex_unlock(&s->mu);
    try_later(c);
}

static void take_event(const ki_event *event, void *user)
{
    source *s = user;
    ki_controller *c = enter(s);
    if (c == NULL)
        return;
    bool is_low = (event->flags & (KI_EVENT_INITIAL | KI_EVENT_RESYNC)) != 0;
    ki_priority priority = is_low ? KI_PRIORITY_LOW : KI_PRIORITY_HIGH;
    event_objects objects = {event->object, s->kind == OBJECTS ? NULL : event->old, priority};
    if (ki_predicate_passes(s->predicate, event) && !emit_keys(c, s, &objects))
        keep_event(c, s, &objects);
    leave(s, c);
}

/* If this was the last source to sync, all workers may begin. */
static void note_synced(source *s, ki_controller *c)
{
    ki_mutex_lock(&c->mu);
    if (!s->has_synced)
        c->unsynced--;
    s->has_synced = true;
    ki_cond_broadcast(&c->work);
    ki_job_wake(&c->job);
    ki_mutex_unlock(&c->mu);
}

static void take_synced(void *user)
{
    source *s = user;
    ki_controller *c = enter(s);
    if (c == NULL)
        return;
    note_synced(s, c);
    leave(s, c);
}

static ki_informer *end_registration(source *s)
{
    ki_mutex_lock(&s->mu);
    ki_informer *informer = s->informer;
    s->informer = NULL;
    s->registration = NULL;
    ki_mutex_unlock(&s->mu);
    return informer;
}

/* The controller does not wait for a freed informer, neither for its sync nor for expected writes. */
static void take_release(void *user)
{
    source *s = user;
    ki_controller *c = enter(s);
    const ki_informer *informer = end_registration(s);
    if (c != NULL) {
        ki_mutex_lock(&c->mu);
        ki_expectations_forget(&c->expectations, informer);
        ki_mutex_unlock(&c->mu);
        note_synced(s, c);
        leave(s, c);
    }
    source_unref(s);
}

/* ---- set-up ------------------------------------------------------------------------------------------ */

static source *make_source(const source *like, const ki_resource *owner, ki_error *err)
{
    source *s = ki_malloc(sizeof(*s));
    if (s == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    *s = *like;
    ki_refcount_init(&s->refs);
    ki_mutex_init(&s->mu);
    if (owner != NULL && (s->owner = ki_resource_new(owner, err)) == NULL) {
        source_unref(s);
        return NULL;
    }
    return s;
}

/* Only the backlog of the controller's own objects may coalesce events. For the other kinds it is not
 * limited: an old object that it dropped could have had another owner. */
static ki_registration *add_handler(ki_controller *c, source *s, ki_error *err)
{
    ki_handler handler = {.on_add = take_event,
                          .on_update = take_event,
                          .on_delete = take_event,
                          .on_synced = take_synced,
                          .on_release = take_release,
                          .user = s,
                          .name = c->name,
                          .resync_ms = c->options.resync_ms,
                          .overflow = s->kind == OBJECTS ? KI_OVERFLOW_COALESCE : KI_OVERFLOW_UNBOUNDED};
    ki_refcount_ref(&s->refs); /* the registration's */
    ki_registration *registration = ki_informer_add_handler(s->informer, &handler, err);
    if (registration == NULL)
        source_unref(s);
    return registration;
}

/* The source is in the list before its first event, which may arrive before ki_informer_add_handler()
 * returns. If that call fails, the source stays in the list without an informer, since other threads may be
 * walking it. */
static int add_source(ki_controller *c, source *s, ki_error *err)
{
    ki_mutex_lock(&c->mu);
    ki_list_push_back(&c->sources, &s->node);
    c->unsynced++;
    ki_mutex_unlock(&c->mu);
    ki_registration *registration = add_handler(c, s, err);
    ki_mutex_lock(&s->mu);
    if (registration == NULL)
        s->informer = NULL;
    if (s->informer != NULL)
        s->registration = registration;
    ki_mutex_unlock(&s->mu);
    if (registration != NULL)
        return 0;
    note_synced(s, c);
    return err->code;
}

/* Returns NULL when the source is valid. Without a kind, no owner reference would match. */
static const char *fault_of(const source *s, const ki_resource *owner)
{
    if (s->kind == OWNED && owner == NULL)
        return "no owner";
    if (s->kind == OWNED && (owner->kind == NULL || owner->kind[0] == 0))
        return "the owner has no kind";
    return s->kind == MAPPED && s->map == NULL ? "no map function" : NULL;
}

static int watch(ki_controller *c, ki_informer *informer, source like, const ki_resource *owner)
{
    ki_error err = {0};
    if (c == NULL)
        return KI_ERR_INVALID;
    int rc = ki_client_check_process(c->client, &err);
    if (rc < 0)
        return rc;
    if (informer == NULL)
        rc = ki_fail(&err, KI_ERR_INVALID, "controller %s: no informer to watch", c->name);
    else if (fault_of(&like, owner) != NULL)
        rc = ki_fail(&err, KI_ERR_INVALID, "controller %s: watching %s: %s", c->name, informer->life.name,
                     fault_of(&like, owner));
    like.controller = c;
    like.informer = informer;
    source *s = rc < 0 ? NULL : make_source(&like, owner, &err);
    rc = s == NULL ? err.code : add_source(c, s, &err);
    if (rc < 0) {
        ki_mutex_lock(&c->mu);
        if (c->setup_error.code == 0)
            c->setup_error = err;
        ki_mutex_unlock(&c->mu);
    }
    return rc;
}

int ki_controller_watch(ki_controller *controller, ki_informer *informer, const ki_predicate *predicate)
{
    return watch(controller, informer, (source){.kind = OBJECTS, .predicate = predicate}, NULL);
}

int ki_controller_watch_owned(ki_controller *controller, ki_informer *informer, const ki_resource *owner,
                              const ki_predicate *predicate)
{
    return watch(controller, informer, (source){.kind = OWNED, .predicate = predicate}, owner);
}

int ki_controller_watch_mapped(ki_controller *controller, ki_informer *informer,
                               const ki_predicate *predicate, ki_map_cb map, void *user)
{
    source like = {.kind = MAPPED, .map = map, .user = user, .predicate = predicate};
    return watch(controller, informer, like, NULL);
}

/* ---- all of them ------------------------------------------------------------------------------------- */

bool ki_controller_close_sources(ki_controller *c)
{
    bool is_quiet = true;
    for (ki_list_node *node = ki_list_first(&c->sources); node != NULL;
         node = ki_list_next(&c->sources, node)) {
        source *s = KI_CONTAINER_OF(node, source, node);
        ki_mutex_lock(&s->mu);
        s->controller = NULL;
        is_quiet &= s->inside == 0;
        ki_mutex_unlock(&s->mu);
    }
    return is_quiet;
}

/* The release of a registration takes the source's mutex, so the registration stays valid while it is
 * held. */
void ki_controller_drop_sources(ki_controller *c)
{
    for (ki_list_node *node = ki_list_pop_front(&c->sources); node != NULL;
         node = ki_list_pop_front(&c->sources)) {
        source *s = KI_CONTAINER_OF(node, source, node);
        ki_mutex_lock(&s->mu);
        ki_registration_remove(s->registration);
        s->registration = NULL;
        ki_mutex_unlock(&s->mu);
        source_unref(s);
    }
}

/* Sources are never removed from the list, so the caller may use the source without the lock. */
static source *next_source(const ki_controller *c, source *s, bool is_unsynced)
{
    ki_mutex_lock(&c->mu);
    ki_list_node *node = s == NULL ? ki_list_first(&c->sources) : ki_list_next(&c->sources, &s->node);
    while (is_unsynced && node != NULL && KI_CONTAINER_OF(node, source, node)->has_synced)
        node = ki_list_next(&c->sources, node);
    ki_mutex_unlock(&c->mu);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, source, node);
}

/* Holds no lock while it adds keys, since that may call a map function of the program. Returns whether all
 * keys were added. */
static bool retry(ki_controller *c, source *s)
{
    ki_mutex_lock(&s->mu);
    event_objects held = s->held;
    s->held = (event_objects){0};
    ki_mutex_unlock(&s->mu);
    if (held.now == NULL)
        return true;
    bool is_over = emit_keys(c, s, &held);
    ki_mutex_lock(&s->mu);
    if (!is_over)
        s->held = held;
    else if (s->registration != NULL)
        ki_registration_resume(s->registration);
    ki_mutex_unlock(&s->mu);
    if (is_over)
        drop_objects(&held);
    return is_over;
}

void ki_controller_retry_held(ki_controller *c)
{
    ki_mutex_lock(&c->mu);
    bool is_due = c->retry_events_ns <= ki_controller_now_ns(c);
    if (is_due)
        c->retry_events_ns = UINT64_MAX; /* before the walk, which may miss an event that is held meanwhile */
    ki_mutex_unlock(&c->mu);
    bool is_over = true;
    for (source *s = is_due ? next_source(c, NULL, false) : NULL; s != NULL; s = next_source(c, s, false))
        is_over &= retry(c, s);
    if (!is_over)
        try_later(c);
}

static void describe(ki_informer *informer, char *buffer, size_t buffer_bytes)
{
    ki_informer_status status = {0};
    ki_informer_read_status(informer, &status);
    const char *reason = status.reason == KI_REASON_NONE ? "" : ki_reason_name(status.reason);
    if (status.phase == KI_PHASE_STOPPED) {
        (void)snprintf(buffer, buffer_bytes, "%s: the informer was not started, or has been stopped",
                       informer->life.name);
        return;
    }
    (void)snprintf(buffer, buffer_bytes, "%s: %s%s%s%s%s", informer->life.name, ki_phase_name(status.phase),
                   reason[0] == 0 ? "" : ", ", reason, status.message[0] == 0 ? "" : ": ", status.message);
}

void ki_controller_describe_unsynced(const ki_controller *c, char *buffer, size_t buffer_bytes)
{
    buffer[0] = 0;
    for (source *s = next_source(c, NULL, true); s != NULL && buffer[0] == 0; s = next_source(c, s, true)) {
        ki_mutex_lock(&s->mu);
        if (s->informer != NULL)
            describe(s->informer, buffer, buffer_bytes);
        ki_mutex_unlock(&s->mu);
    }
}
