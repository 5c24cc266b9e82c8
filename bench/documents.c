/* SPDX-License-Identifier: Apache-2.0 */
#include "documents.h"

#include <stdio.h>
#include <stdlib.h>

#include "reference.h"

typedef void (*append_document_cb)(struct text *out, const struct pod_collection *pods, uint64_t first,
                                   uint64_t count);

static void append_events(struct text *out, const struct pod_collection *pods, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        pods_append_event(out, pods, first + i);
    }
}

static void append_padding(struct text *document)
{
    static const char padding[REFERENCE_PADDING] = {0};
    text_append(document, padding, sizeof(padding));
    document->length -= sizeof(padding);
}

static void init(struct documents *documents, const struct pod_collection *pods, append_document_cb append)
{
    size_t count = (size_t)((pods->pod_count + DOCUMENTS_OBJECTS_EACH - 1) / DOCUMENTS_OBJECTS_EACH);
    *documents = (struct documents){
        .items = calloc(count, sizeof(struct text)), .count = count, .objects = pods->pod_count};
    if (documents->items == NULL) {
        fprintf(stderr, "out of memory: %zu documents\n", count);
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t first = (uint64_t)i * DOCUMENTS_OBJECTS_EACH;
        uint64_t rest = pods->pod_count - first;
        struct text *document = &documents->items[i];
        append(document, pods, first, rest < DOCUMENTS_OBJECTS_EACH ? rest : DOCUMENTS_OBJECTS_EACH);
        append_padding(document);
        documents->bytes += document->length;
    }
}

void documents_init_list(struct documents *documents, const struct pod_collection *pods)
{
    init(documents, pods, pods_append_list);
}

void documents_init_watch(struct documents *documents, const struct pod_collection *pods)
{
    init(documents, pods, append_events);
}

struct documents documents_head(const struct documents *whole, size_t count)
{
    if (count >= whole->count) {
        return *whole;
    }
    struct documents head = {.items = whole->items, .count = count};
    head.objects = (uint64_t)count * DOCUMENTS_OBJECTS_EACH;
    for (size_t i = 0; i < count; i++) {
        head.bytes += whole->items[i].length;
    }
    return head;
}

void documents_fini(struct documents *documents)
{
    for (size_t i = 0; documents != NULL && i < documents->count; i++) {
        text_fini(&documents->items[i]);
    }
    if (documents != NULL) {
        free(documents->items);
        *documents = (struct documents){0};
    }
}
