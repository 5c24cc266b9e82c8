/* SPDX-License-Identifier: Apache-2.0 */
#include "proto_encode.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/kind/proto_write.h"
#include "reference.h"

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "bench: protobuf: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* The items of a list have no kind and apiVersion, which the encoder needs in each. */
static void put_list(ki_buf *out, const json_t *list)
{
    const json_t *items = json_object_get(list, "items");
    size_t at = 0;
    require(json_is_array(items), "a list");
    require(ki_as_proto_list_begin(out, list, &at) == 0, "the beginning of a list");
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *item = json_array_get(items, i);
        require(json_object_set_new(item, "kind", json_string("Pod")) == 0 &&
                    json_object_set_new(item, "apiVersion", json_string("v1")) == 0 &&
                    ki_as_proto_list_item(out, item) == 0,
                "a pod");
    }
    require(ki_as_proto_list_end(out, at) == 0, "the end of a list");
}

void proto_encode_lists(struct documents *out, const struct documents *json)
{
    *out = (struct documents){.count = json->count, .objects = json->objects};
    out->items = calloc(json->count, sizeof(*out->items));
    require(out->items != NULL, "out of memory");
    ki_buf list;
    ki_buf_init(&list, SIZE_MAX);
    for (size_t i = 0; i < json->count; i++) {
        json_t *tree = json_loadb(json->items[i].data, json->items[i].length, 0, NULL);
        require(tree != NULL, "a document");
        list.len = 0;
        put_list(&list, tree);
        text_append(&out->items[i], list.data, list.len);
        text_reserve(&out->items[i], REFERENCE_PADDING);
        out->bytes += list.len;
        json_decref(tree);
    }
    ki_buf_fini(&list);
}
