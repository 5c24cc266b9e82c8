/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue_plain.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *chain; /* next in the hash set */
    struct node *next;  /* next in the list of waiting keys */
    uint64_t hash;
    bool is_dirty;
    bool is_processing;
    char key[];
};

struct plain_queue {
    pthread_mutex_t mu;
    pthread_cond_t ready;
    struct node **buckets;
    size_t bucket_count;
    size_t count;
    struct node *first;
    struct node **last;
    bool is_stopping;
};

struct plain_queue *plain_queue_new(void)
{
    struct plain_queue *queue = calloc(1, sizeof(*queue));
    pthread_mutex_init(&queue->mu, NULL);
    pthread_cond_init(&queue->ready, NULL);
    queue->bucket_count = 16;
    queue->buckets = calloc(queue->bucket_count, sizeof(struct node *));
    queue->last = &queue->first;
    return queue;
}

void plain_queue_free(struct plain_queue *queue)
{
    pthread_cond_destroy(&queue->ready);
    pthread_mutex_destroy(&queue->mu);
    free(queue->buckets);
    free(queue);
}

/* FNV-1a. */
static uint64_t hash_of(const char *key)
{
    uint64_t hash = 14695981039346656037u;
    for (; *key != '\0'; key++) {
        hash = (hash ^ (unsigned char)*key) * 1099511628211u;
    }
    return hash;
}

static struct node **find(struct plain_queue *queue, const char *key, uint64_t hash)
{
    struct node **at = &queue->buckets[hash & (queue->bucket_count - 1)];
    while (*at != NULL && ((*at)->hash != hash || strcmp((*at)->key, key) != 0)) {
        at = &(*at)->chain;
    }
    return at;
}

static void grow(struct plain_queue *queue)
{
    size_t bucket_count = queue->bucket_count * 2;
    struct node **buckets = calloc(bucket_count, sizeof(struct node *));
    for (size_t i = 0; i < queue->bucket_count; i++) {
        for (struct node *node = queue->buckets[i], *next = NULL; node != NULL; node = next) {
            next = node->chain;
            node->chain = buckets[node->hash & (bucket_count - 1)];
            buckets[node->hash & (bucket_count - 1)] = node;
        }
    }
    free(queue->buckets);
    queue->buckets = buckets;
    queue->bucket_count = bucket_count;
}

static void append(struct plain_queue *queue, struct node *node)
{
    node->next = NULL;
    *queue->last = node;
    queue->last = &node->next;
    pthread_cond_signal(&queue->ready);
}

static struct node *insert(struct plain_queue *queue, const char *key, uint64_t hash)
{
    struct node *node = calloc(1, sizeof(*node) + strlen(key) + 1);
    strcpy(node->key, key);
    node->hash = hash;
    if (queue->count++ == queue->bucket_count) {
        grow(queue);
    }
    struct node **bucket = &queue->buckets[hash & (queue->bucket_count - 1)];
    node->chain = *bucket;
    *bucket = node;
    return node;
}

void plain_queue_add(struct plain_queue *queue, const char *key)
{
    uint64_t hash = hash_of(key);
    pthread_mutex_lock(&queue->mu);
    struct node *node = *find(queue, key, hash);
    if (node == NULL) {
        node = insert(queue, key, hash);
    }
    if (!node->is_dirty) {
        node->is_dirty = true;
        if (!node->is_processing) {
            append(queue, node);
        }
    }
    pthread_mutex_unlock(&queue->mu);
}

const char *plain_queue_get(struct plain_queue *queue)
{
    pthread_mutex_lock(&queue->mu);
    while (queue->first == NULL && !queue->is_stopping) {
        pthread_cond_wait(&queue->ready, &queue->mu);
    }
    struct node *node = queue->first;
    if (node != NULL) {
        queue->first = node->next;
        if (queue->first == NULL) {
            queue->last = &queue->first;
        }
        node->is_dirty = false;
        node->is_processing = true;
    }
    pthread_mutex_unlock(&queue->mu);
    return node == NULL ? NULL : node->key;
}

void plain_queue_done(struct plain_queue *queue, const char *key)
{
    uint64_t hash = hash_of(key);
    pthread_mutex_lock(&queue->mu);
    struct node **at = find(queue, key, hash);
    struct node *node = *at;
    node->is_processing = false;
    if (node->is_dirty) {
        append(queue, node);
    } else {
        *at = node->chain;
        queue->count--;
        free(node);
    }
    pthread_mutex_unlock(&queue->mu);
}

void plain_queue_shut_down(struct plain_queue *queue)
{
    pthread_mutex_lock(&queue->mu);
    queue->is_stopping = true;
    pthread_cond_broadcast(&queue->ready);
    pthread_mutex_unlock(&queue->mu);
}
