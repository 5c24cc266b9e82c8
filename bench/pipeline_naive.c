/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_naive.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 16384 };

/* ---- a queue ---------------------------------------------------------------------------------------- */

struct message {
    struct message *next;
    ki_object *object;
    ki_object *old;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct message *first;
    struct message **end;
    bool is_closed;
};

static void *make(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static void queue_init(struct queue *queue)
{
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    queue->end = &queue->first;
}

static void queue_fini(struct queue *queue)
{
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

/* Takes the references. */
static void queue_push(struct queue *queue, ki_object *object, ki_object *old)
{
    struct message *message = make(sizeof(*message));
    message->object = object;
    message->old = old;
    pthread_mutex_lock(&queue->lock);
    *queue->end = message;
    queue->end = &message->next;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* Returns NULL if the queue is closed and empty. */
static struct message *queue_pop(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->first == NULL && !queue->is_closed) {
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    struct message *message = queue->first;
    if (message != NULL) {
        queue->first = message->next;
        queue->end = queue->first == NULL ? &queue->first : queue->end;
    }
    pthread_mutex_unlock(&queue->lock);
    return message;
}

/* ---- a store ---------------------------------------------------------------------------------------- */

struct entry {
    struct entry *next; /* in its bucket */
    struct entry *index_next;
    struct entry **index_at; /* the pointer that refers to it in the list of its namespace */
    char *key;
    ki_object *object;
};

struct space {
    struct space *next;
    char *name;
    struct entry *first;
};

struct store {
    pthread_mutex_t lock;
    struct entry *entries[BUCKETS];
    struct space *spaces[BUCKETS];
};

static size_t bucket_of(const char *text)
{
    uint64_t hash = 14695981039346656037U;
    for (; *text != 0; text++) {
        hash = (hash ^ (unsigned char)*text) * 1099511628211U;
    }
    return (size_t)(hash ^ hash >> 32) % BUCKETS;
}

static char *copy(const char *text, size_t length)
{
    char *memory = make(length + 1);
    memcpy(memory, text, length);
    return memory;
}

static struct space *space_of(struct store *store, const ki_object *object)
{
    ki_str value = ki_object_namespace(object);
    char *name = copy(value.ptr, value.len);
    struct space **at = &store->spaces[bucket_of(name)];
    while (*at != NULL && strcmp((*at)->name, name) != 0) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        *at = make(sizeof(**at));
        (*at)->name = name;
    } else {
        free(name);
    }
    return *at;
}

static void index_add(struct store *store, struct entry *entry)
{
    struct space *space = space_of(store, entry->object);
    entry->index_next = space->first;
    entry->index_at = &space->first;
    if (space->first != NULL) {
        space->first->index_at = &entry->index_next;
    }
    space->first = entry;
}

static void index_remove(struct entry *entry)
{
    *entry->index_at = entry->index_next;
    if (entry->index_next != NULL) {
        entry->index_next->index_at = entry->index_at;
    }
}

/* Takes the reference; returns that of the object it replaces. */
static ki_object *store_put(struct store *store, ki_object *object)
{
    const char *key = ki_object_key(object);
    pthread_mutex_lock(&store->lock);
    struct entry **at = &store->entries[bucket_of(key)];
    while (*at != NULL && strcmp((*at)->key, key) != 0) {
        at = &(*at)->next;
    }
    struct entry *entry = *at;
    if (entry == NULL) {
        entry = *at = make(sizeof(*entry));
        entry->key = copy(key, strlen(key));
    } else {
        index_remove(entry);
    }
    ki_object *old = entry->object;
    entry->object = object;
    index_add(store, entry);
    pthread_mutex_unlock(&store->lock);
    return old;
}

static void store_fini(struct store *store)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct entry *entry = store->entries[i], *next = NULL; entry != NULL; entry = next) {
            next = entry->next;
            (void)ki_object_unref(entry->object);
            free(entry->key);
            free(entry);
        }
        for (struct space *space = store->spaces[i], *next = NULL; space != NULL; space = next) {
            next = space->next;
            free(space->name);
            free(space);
        }
    }
    pthread_mutex_destroy(&store->lock);
}

/* ---- threads ---------------------------------------------------------------------------------------- */

struct pipeline_naive {
    struct queue changes;
    struct queue events;
    struct store store;
    pthread_t dispatch;
    pthread_t caller;
    ki_event_cb handler;
    void *user;
};

static void *run_dispatch(void *user)
{
    struct pipeline_naive *naive = user;
    for (struct message *m = queue_pop(&naive->changes); m != NULL; m = queue_pop(&naive->changes)) {
        ki_object *old = store_put(&naive->store, ki_object_ref(m->object));
        queue_push(&naive->events, m->object, old);
        free(m);
    }
    queue_close(&naive->events);
    return NULL;
}

static void *run_handler(void *user)
{
    struct pipeline_naive *naive = user;
    for (struct message *m = queue_pop(&naive->events); m != NULL; m = queue_pop(&naive->events)) {
        ki_event event = {.change_type = m->old == NULL ? KI_CHANGE_ADDED : KI_CHANGE_UPDATED,
                          .object = m->object,
                          .old = m->old};
        naive->handler(&event, naive->user);
        (void)ki_object_unref(m->object);
        (void)ki_object_unref(m->old);
        free(m);
    }
    return NULL;
}

struct pipeline_naive *pipeline_naive_new(ki_event_cb handler, void *user)
{
    struct pipeline_naive *naive = make(sizeof(*naive));
    naive->handler = handler;
    naive->user = user;
    queue_init(&naive->changes);
    queue_init(&naive->events);
    pthread_mutex_init(&naive->store.lock, NULL);
    if (pthread_create(&naive->dispatch, NULL, run_dispatch, naive) != 0 ||
        pthread_create(&naive->caller, NULL, run_handler, naive) != 0) {
        abort();
    }
    return naive;
}

void pipeline_naive_push(struct pipeline_naive *naive, const ki_object *object)
{
    queue_push(&naive->changes, ki_object_ref(object), NULL);
}

void pipeline_naive_free(struct pipeline_naive *naive)
{
    queue_close(&naive->changes);
    pthread_join(naive->dispatch, NULL);
    pthread_join(naive->caller, NULL);
    store_fini(&naive->store);
    queue_fini(&naive->events);
    queue_fini(&naive->changes);
    free(naive);
}
